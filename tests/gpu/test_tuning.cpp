// SPDX-License-Identifier: Apache-2.0
//
// The tuner chooses what is quickest by its clock, once, and only what was offered.

#include <doctest/doctest.h>

#include <stdexcept>
#include <thread>

#include "gpu/tune_laws.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/tune_measure.hpp"

using namespace halocline;
using namespace halocline::gpu;
using namespace halocline::gpu::test;

namespace {

std::shared_ptr<TuneCache> memory_cache(TuneCache::Mode mode = TuneCache::Mode::read_write) {
  return std::make_shared<TuneCache>("", mode);
}

const TuneProblem problem{.kernel = "hop", .problem = "8x8x8x8, half", .bytes = 4e6, .flops = 5e6};

}  // namespace

TEST_CASE("tuner: the host executor takes the first candidate and runs nothing") {
  const Device device = Device::host_executor();
  Stream stream(device);
  Tuner tuner(device, memory_cache());
  ToldTime time{{{64, 2.0}, {128, 1.0}}};
  CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(64));
  CHECK(time.runs.empty());
  CHECK(tuner.cache().entries().empty());
}

TEST_CASE("tuner: the quickest candidate is taken and remembered, with what was found about it") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 3e-6}, {128, 1e-6}, {256, 2e-6}}};
  Tuner tuner(device, memory_cache(), time.clock());
  const auto candidates = blocks({64, 128, 256});
  CHECK(tuner.best(stream, problem, candidates, time.run()) == block(128));
  const auto runs = time.runs;
  for (const int x : {64, 128, 256}) CHECK(runs.at(x) >= 6);  // warm-up and one round
  CHECK(runs.at(128) > runs.at(64));                          // the slow ones get no further round

  CHECK(tuner.best(stream, problem, candidates, time.run()) == block(128));
  CHECK(time.runs == runs);  // remembered

  const auto entry = tuner.cache().find(tuner.key(problem));
  REQUIRE(entry);
  CHECK(entry->seconds == doctest::Approx(1e-6));
  CHECK(entry->first_seconds == doctest::Approx(3e-6));
  CHECK(entry->bytes == 4e6);
  CHECK(entry->flops == 5e6);
  CHECK(entry->candidates == 3);
  CHECK(entry->failed == 0);
  CHECK(entry->when.size() == std::string("2026-01-02T03:04:05Z").size());
}

TEST_CASE("tuner: of equals the earliest, and one disturbed sample decides nothing") {
  const Device device = Device::host_executor();
  Stream stream(device);
  const double unit = 1.0 / 1048576;  // differences of the clock are exact
  ToldTime time{{{64, unit}, {128, unit}, {256, 1.125 * unit}}};
  int calls = 0;
  const auto run = [&](const TuneParameters& p) {
    time.run()(p);
    if (++calls % 7 == 0) time.now += 1.0;  // somebody else's work, now and then
    if (calls == 9) time.now -= 2.0;        // a clock that was set back
  };
  Tuner tuner(device, memory_cache(), time.clock());
  CHECK(tuner.best(stream, problem, blocks({64, 128, 256}), run) == block(64));
  CHECK(tuner.cache().find(tuner.key(problem))->seconds == unit);
}

TEST_CASE("tuner: a candidate that cannot be launched is passed over and noted") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 2.0}, {128, 3.0}, {1024, 1.0}}};
  const auto run = [&](const TuneParameters& p) {
    if (p.block_x == 1024) throw core::InvalidArgument("too many threads");
    time.run()(p);
  };
  Tuner tuner(device, memory_cache(), time.clock());
  CHECK(tuner.best(stream, problem, blocks({1024, 128, 64}), run) == block(64));
  const auto entry = tuner.cache().find(tuner.key(problem));
  REQUIRE(entry);
  CHECK(entry->failed == 1);
  CHECK(entry->failure == "too many threads");
  CHECK(entry->first_seconds == 0);
}

TEST_CASE("tuner: a candidate that fails later is out as well") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 2.0}, {128, 1.0}}};
  const auto run = [&](const TuneParameters& p) {
    if (p.block_x == 128 && time.runs[128] == 10) throw std::runtime_error("lost");
    time.run()(p);
  };
  Tuner tuner(device, memory_cache(), time.clock());
  CHECK(tuner.best(stream, problem, blocks({64, 128}), run) == block(64));
}

TEST_CASE("tuner: where every candidate fails the last error comes up, and nothing is kept") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time;
  const auto run = [](const TuneParameters& p) { throw core::Error("no " + std::to_string(p.block_x)); };
  Tuner tuner(device, memory_cache(), time.clock());
  CHECK_THROWS_WITH_AS(tuner.best(stream, problem, blocks({64, 128}), run), "no 128", core::Error);
  CHECK(tuner.cache().entries().empty());
  CHECK_THROWS_AS(tuner.best(stream, problem, {}, run), core::InvalidArgument);
}

TEST_CASE("tuner: remembered parameters that are not offered are not taken") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 2.0}, {128, 1.0}}};
  Tuner tuner(device, memory_cache(), time.clock());
  tuner.cache().keep(tuner.key(problem), {.parameters = block(4096)});
  CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(128));
  CHECK(tuner.cache().find(tuner.key(problem))->parameters == block(128));
}

TEST_CASE("tuner: mode off measures and remembers nothing") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 2.0}, {128, 1.0}}};
  Tuner tuner(device, memory_cache(TuneCache::Mode::off), time.clock());
  CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(64));
  CHECK(time.runs.empty());
  CHECK(tuner.cache().entries().empty());
}

TEST_CASE("tuner: during a capture the first candidate, not measured and not kept") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 2.0}, {128, 1.0}}};
  Tuner tuner(device, memory_cache(), time.clock());
  stream.begin_capture();
  CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(64));
  static_cast<void>(stream.end_capture());
  CHECK(time.runs.empty());
  CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(128));
  stream.begin_capture();
  CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(128));  // what is known is used
  static_cast<void>(stream.end_capture());
}

TEST_CASE("tuner: what is measured may ask for parameters of its own") {
  const Device device = Device::host_executor();
  Stream stream(device);
  ToldTime time{{{64, 2.0}, {128, 1.0}}};
  Tuner tuner(device, memory_cache(), time.clock());
  const TuneProblem outer{.kernel = "halo", .problem = "8x8x8x8"};
  std::vector<TuneParameters> policies(2);
  policies[0].policy = "staged";
  policies[1].policy = "copy-engine";
  const auto run = [&](const TuneParameters& policy) {
    CHECK(tuner.best(stream, problem, blocks({64, 128}), time.run()) == block(128));
    time.now += policy.policy == "staged" ? 2.0 : 1.0;
  };
  CHECK(tuner.best(stream, outer, policies, run).policy == "copy-engine");
  CHECK(tuner.cache().entries().size() == 2);
}

TEST_CASE("tuner: threads that meet a problem at once measure it once") {
  const Device device = Device::host_executor();
  ToldTime time{{{64, 2.0}, {128, 1.0}}};  // shared without a lock: one thread at a time measures
  Tuner tuner(device, memory_cache(), time.clock());
  std::vector<std::thread> threads;
  std::array<TuneParameters, 4> got;
  for (TuneParameters& mine : got)
    threads.emplace_back([&] {
      Stream stream(device);
      mine = tuner.best(stream, problem, blocks({64, 128}), time.run());
    });
  for (std::thread& thread : threads) thread.join();
  for (const TuneParameters& one : got) CHECK(one == block(128));
  CHECK(time.runs[64] == 6);  // warm-up and one round, once
}

TEST_CASE("tuner: an entry belongs to device, driver, code, kernel and problem") {
  const Device device = Device::host_executor();
  const Tuner tuner(device, memory_cache());
  const TuneKey key = tuner.key(problem);
  CHECK(key.device == "host executor, 0.0");
  CHECK(key.driver == "0.0, toolkit 0.0");
  CHECK(key.kernel == "hop");
  CHECK(key.problem == "8x8x8x8, half");
  CHECK(key.kernel_hash == kernel_hash());
  CHECK(key.kernel_hash.size() == 16);
}

TEST_CASE("tuner: events that tell no time end after a bounded number of runs, with the first candidate") {
  const Device device = Device::host_executor();  // its events are always done, and 0 s apart
  Stream stream(device);
  const auto candidates = blocks({64, 128});
  std::map<int, int> runs;
  const std::function<void(const TuneParameters&)> run = [&](const TuneParameters& p) { ++runs[p.block_x]; };
  const Tuner::Clock none;
  detail::Measurement measurement(stream, candidates, run, none);
  CHECK(measurement.measure(problem).parameters == block(64));
  CHECK_FALSE(measurement.nothing_runs());
  for (const int x : {64, 128}) {
    CHECK(runs.at(x) > 1000);  // a sample grows while it takes no time
    CHECK(runs.at(x) < 20000);
  }
}

TEST_CASE("tuner: on a GPU, events find the shorter of two pieces of work") {
  if (const std::string why = unavailable_reason(); !why.empty()) {
    MESSAGE("skipped on this machine: the tuner by events, because " << why);
    return;
  }
  const Device device = Device::open("cuda");
  Stream stream(device);
  DeviceArray<std::byte> data(device, std::int64_t{1} << 28);
  const auto run = [&](const TuneParameters& p) {
    stream.set_zero(data.data(), p.block_x == 64 ? std::size_t{1} << 28 : std::size_t{1} << 12);
  };
  Tuner tuner(device, memory_cache());
  CHECK(tuner.best(stream, problem, blocks({64, 128}), run) == block(128));
  const auto entry = tuner.cache().find(tuner.key(problem));
  REQUIRE(entry);
  CHECK(entry->seconds > 0);
  CHECK(tuner.key(problem).device.starts_with(device.properties().name));
}
