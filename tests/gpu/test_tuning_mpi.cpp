// SPDX-License-Identifier: Apache-2.0
//
// Tuning on all processes alike: the same choice everywhere, by the slowest, whatever each knew before.

#include <doctest/doctest.h>

#include "gpu/tune_laws.hpp"
#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

using namespace halocline;
using namespace halocline::gpu;
using namespace halocline::gpu::test;
using Mode = TuneCache::Mode;

namespace {

std::vector<TuneParameters> policies() {
  std::vector<TuneParameters> out(3);
  out[0].policy = "staged";
  out[1].policy = "copy-engine";
  out[2].policy = "remote-write";
  return out;
}

const TuneProblem problem{.kernel = "halo", .problem = "8x8x8x8"};

/// One process of the group: its stream, its clock, its runs.
struct Process {
  comm::Communicator group = comm::world();
  Device device = Device::host_executor();
  Stream stream{device};
  double now = 0;
  int runs = 0;
  std::map<std::string, double> seconds{{"staged", 3.0}, {"copy-engine", 2.0}, {"remote-write", 1.0}};

  /// Collective, as a halo exchange is: a process that ran another number of times would hang the others.
  std::function<void(const TuneParameters&)> run() {
    return [this](const TuneParameters& p) {
      ++runs;
      now += seconds.at(p.policy);
      double sum[1] = {1.0};
      group.sum(sum);
    };
  }
  Tuner tuner(Mode mode = Mode::read_write) {
    return {device, std::make_shared<TuneCache>("", mode), [this](Stream&, const std::function<void()>& once) {
              const double before = now;
              once();
              return now - before;
            }};
  }
  std::string together() const {
    return problem.problem + ", " + std::to_string(group.size()) + (group.size() == 1 ? " process" : " processes");
  }
  bool all_took(const TuneParameters& mine, const std::string& expected) const {
    return group.all(mine.policy == expected);
  }
};

}  // namespace

TEST_CASE("tuner on all: the slowest process decides") {
  Process process;
  // Quick everywhere but on the last process, where it is the slowest of all.
  if (process.group.rank() == process.group.size() - 1) process.seconds["remote-write"] = 9.0;
  Tuner tuner = process.tuner();
  const TuneParameters mine = tuner.best_for_all(process.stream, problem, policies(), process.run(), process.group);
  CHECK(process.all_took(mine, "copy-engine"));
  CHECK(process.runs > 0);
  const int runs = process.runs;
  CHECK(process.all_took(tuner.best_for_all(process.stream, problem, policies(), process.run(), process.group),
                         "copy-engine"));
  CHECK(process.runs == runs);  // remembered
  const auto entries = tuner.cache().entries();
  REQUIRE(entries.size() == (process.group.rank() == 0 ? 1 : 0));
  if (entries.empty()) return;
  CHECK(entries[0].first.problem == process.together());
  CHECK(entries[0].second.seconds == 2.0);
  CHECK(entries[0].second.first_seconds == 3.0);
}

TEST_CASE("tuner on all: what the first process knows holds for all, and what others know does not") {
  for (const bool first_knows : {true, false}) {
    Process process;
    Tuner tuner = process.tuner();
    TuneProblem known = problem;
    known.problem = process.together();
    TuneEntry entry;
    entry.parameters.policy = process.group.rank() == 0 ? "staged" : "remote-write";
    if ((process.group.rank() == 0) == first_knows) tuner.cache().keep(tuner.key(known), entry);
    const TuneParameters mine = tuner.best_for_all(process.stream, problem, policies(), process.run(), process.group);
    CHECK(process.all_took(mine, first_knows ? "staged" : "remote-write"));
    CHECK((process.runs == 0) == first_knows);
  }
}

TEST_CASE("tuner on all: the first process's mode is everybody's") {
  for (const Mode first : {Mode::off, Mode::read_only}) {
    Process process;
    Tuner tuner = process.tuner(process.group.rank() == 0 ? first : first == Mode::off ? Mode::read_write : Mode::off);
    const TuneParameters mine = tuner.best_for_all(process.stream, problem, policies(), process.run(), process.group);
    CHECK(process.all_took(mine, first == Mode::off ? "staged" : "remote-write"));
  }
}

TEST_CASE("tuner on all: one process that captures, or cannot measure, keeps all from it") {
  Process process;
  const bool last = process.group.rank() == process.group.size() - 1;
  Tuner tuner = process.tuner();
  if (last) process.stream.begin_capture();
  TuneParameters mine = tuner.best_for_all(process.stream, problem, policies(), process.run(), process.group);
  if (last) static_cast<void>(process.stream.end_capture());
  CHECK(process.all_took(mine, "staged"));
  Tuner without_clock(process.device, std::make_shared<TuneCache>("", Mode::read_write));
  mine = (last ? without_clock : tuner).best_for_all(process.stream, problem, policies(), process.run(), process.group);
  CHECK(process.all_took(mine, "staged"));
  CHECK(process.runs == 0);
}

TEST_CASE("tuner on all: a candidate that fails on one process is out for all") {
  Process process;
  const auto run = [&](const TuneParameters& p) {
    if (p.policy == "remote-write" && process.group.rank() == process.group.size() - 1)
      throw core::Error("no peer access");
    ++process.runs;
    process.now += process.seconds.at(p.policy);
  };
  Tuner tuner = process.tuner();
  CHECK(process.all_took(tuner.best_for_all(process.stream, problem, policies(), run, process.group), "copy-engine"));
}

TEST_CASE("tuner on all: where everything fails on some process, every process hears which") {
  Process process;
  const int size = process.group.size();
  // Candidate i fails on process i mod size only: together they leave none.
  const auto run = [&](const TuneParameters& p) {
    const int i = p.policy == "staged" ? 0 : p.policy == "copy-engine" ? 1 : 2;
    if (process.group.rank() == i % size) throw core::Error("refused");
  };
  Tuner tuner = process.tuner();
  CHECK_THROWS_WITH_AS(tuner.best_for_all(process.stream, problem, policies(), run, process.group),
                       doctest::Contains("refused"), core::Error);
  CHECK(tuner.cache().entries().empty());
  process.group.barrier();
}

TEST_CASE("tuner on all: other candidates on one process are refused on all") {
  Process process;
  Tuner tuner = process.tuner();
  auto mine = policies();
  if (process.group.rank() == process.group.size() - 1) std::swap(mine[0], mine[1]);
  if (process.group.size() > 1)
    CHECK_THROWS_AS(tuner.best_for_all(process.stream, problem, mine, process.run(), process.group),
                    core::InvalidArgument);
  CHECK_THROWS_AS(tuner.best_for_all(process.stream, problem, {}, process.run(), process.group), core::InvalidArgument);
  CHECK(process.runs == 0);
}
