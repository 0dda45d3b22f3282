// SPDX-License-Identifier: Apache-2.0
//
// Halo exchange between devices by one process: messages to itself, what is refused, and the signals themselves.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "gpu/face_traffic.cuh"
#include "halocline/core/error.hpp"
#include "halocline/gpu/recorded_work.hpp"

using namespace halocline;
using traffic::Traffic;

namespace {

comm::ProcessGrid alone(int axes = 4) {
  return {comm::Communicator::self(), std::vector<int>(static_cast<std::size_t>(axes), 1)};
}

}  // namespace

TEST_CASE("face exchange: an emulated partition sends to itself, whatever the axes") {
  for (const gpu::Device& device : traffic::devices())
    for (const std::string& policy : traffic::policies(device, alone())) {
      for (unsigned emulated = 0; emulated < 16; ++emulated) {
        CAPTURE(device.describe());
        CAPTURE(policy);
        CAPTURE(emulated);
        gpu::Stream stream(device);
        Traffic traffic(device, alone(), {16 * 40, 16, 0, 16 * 3}, policy, {.emulated = emulated});
        for (int axis = 0; axis < 4; ++axis)
          CHECK(traffic.exchange().active({axis, 1}) == ((emulated >> axis & 1u) != 0 && axis != 2));
        for (int step = 0; step < 5; ++step) {
          traffic.send(stream);
          traffic.receive(stream);
        }
        CHECK(traffic.wrong(stream) == 0);
      }
    }
}

TEST_CASE("face exchange: buffers of two steps are apart where a neighbour may be a step ahead") {
  const gpu::Device device = gpu::Device::host_executor();
  for (const std::string policy : {"copy-engine", "remote-write", "merged-pack", "one-kernel"}) {
    gpu::Stream stream(device);
    gpu::FaceExchange exchange(device, alone(1), std::vector<std::size_t>{64}, policy, {.emulated = 1u});
    std::vector<const std::byte*> inboxes;
    for (int step = 0; step < 4; ++step) {
      exchange.begin(stream);
      inboxes.push_back(exchange.inbox({0, 1}));
      CHECK(reinterpret_cast<std::uintptr_t>(exchange.outbox({0, 1})) % 256 == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(inboxes.back()) % 256 == 0);
      if (exchange.packs_remotely())
        for (const int face : {0, 1}) gpu::raise(exchange.signals(), face);
      exchange.post(stream);
      exchange.wait(stream);
    }
    CHECK(inboxes[0] == inboxes[2]);
    CHECK(inboxes[1] == inboxes[3]);
    CHECK(inboxes[0] != inboxes[1]);
  }
}

TEST_CASE("face exchange: zero-copy takes no memory of the device") {
  const gpu::Device device = gpu::Device::host_executor();
  const auto taken = [&](const char* policy) {
    const std::int64_t before = device.memory().ours;
    const gpu::FaceExchange exchange(device, alone(), std::vector<std::size_t>{4096, 0, 0, 4096}, policy,
                                     {.emulated = 0b1001u});
    return device.memory().ours - before;
  };
  CHECK(taken("staged") >= 2 * 4 * 4096);
  CHECK(taken("zero-copy") == 0);
}

TEST_CASE("face exchange: what cannot be is refused with a sentence") {
  const gpu::Device device = gpu::Device::host_executor();
  const std::vector<std::size_t> bytes{16, 16, 16, 16};
  const auto made = [&](const comm::ProcessGrid& grid, const std::vector<std::size_t>& sizes, const char* policy,
                        const gpu::FaceExchangeOptions& options) {
    return traffic::sentence([&] { gpu::FaceExchange exchange(device, grid, sizes, policy, options); });
  };
  CHECK(made(alone(), bytes, "pigeons", {}).find("choose one of staged") != std::string::npos);
  CHECK(made(alone(), {16, 16}, "", {}).find("4 axes; give one for each axis") != std::string::npos);
  CHECK(made(alone(5), {16, 16, 16, 16, 16}, "", {}).find("give at most 4") != std::string::npos);
  CHECK(made(alone(), bytes, "", {.emulated = 16u}).find("the grid has no such axis") != std::string::npos);
  CHECK(made(alone(), bytes, "", {.time_limit = 0.0}).find("give a positive one") != std::string::npos);
  for (const gpu::PolicyInfo& p : gpu::halo_policies(device, alone())) {
    CHECK(p.available == p.reason.empty());
    if (!p.available) CHECK(made(alone(), bytes, p.name.c_str(), {}).find(p.reason) != std::string::npos);
  }
}

TEST_CASE("face exchange: calls out of turn and captures are refused") {
  const gpu::Device device = gpu::Device::host_executor();
  gpu::Stream stream(device);
  gpu::FaceExchange exchange(device, alone(), std::vector<std::size_t>{16, 0, 0, 0}, "staged", {.emulated = 1u});
  CHECK(traffic::sentence([&] { exchange.post(stream); }).find("out of turn") != std::string::npos);
  CHECK(traffic::sentence([&] { exchange.wait(stream); }).find("out of turn") != std::string::npos);
  stream.begin_capture();
  CHECK(traffic::sentence([&] { exchange.begin(stream); }).find("graph") != std::string::npos);
  static_cast<void>(stream.end_capture());
  exchange.begin(stream);
  CHECK(traffic::sentence([&] { exchange.begin(stream); }).find("out of turn") != std::string::npos);
}

TEST_CASE("face exchange: recorded steps run again and again, between others") {
  for (const gpu::Device& device : traffic::devices())
    for (const std::string policy : {"remote-write", "merged-pack", "one-kernel"}) {
      CAPTURE(device.describe());
      CAPTURE(policy);
      gpu::Stream stream(device);
      Traffic traffic(device, alone(), {16 * 40, 16, 0, 16 * 3}, policy, {.emulated = 0b1011u});
      gpu::FaceExchange& exchange = traffic.exchange();
      const auto step = [&] {
        traffic.send(stream);
        traffic.receive(stream);
      };
      step();
      // The words of recorded messages are those of the step in which they were recorded.
      const gpu::RecordedWork recorded(stream, &exchange, [&] {
        step();
        step();
      });
      for (int round = 0; round < 5; ++round) {
        for (int i = 0; i < 3; ++i) REQUIRE(recorded.launch(stream, &exchange));
        step();
        CHECK_FALSE(recorded.launch(stream, &exchange));  // the other buffers
        step();
      }
      CHECK(traffic.wrong(stream) == 0);
      exchange.begin(stream);
      CHECK(exchange.signals().step == 1 + 5 * (3 * 2 + 2) + 1);
    }
}

TEST_CASE("face exchange: a recorded wait is for the step that runs, not for the one that was recorded") {
  const gpu::Device device = gpu::Device::host_executor();
  gpu::Stream stream(device);
  gpu::FaceExchange exchange(device, alone(1), std::vector<std::size_t>{64}, "remote-write",
                             {.emulated = 1u, .time_limit = 0.05});
  bool raises = true;
  const auto step = [&] {
    exchange.begin(stream);
    if (raises)
      for (const int face : {0, 1}) gpu::raise(exchange.signals(), face);
    exchange.post(stream);
    exchange.wait(stream);
  };
  step();
  raises = false;
  const gpu::RecordedWork silent(stream, &exchange, step);
  raises = true;
  step();
  step();
  exchange.check();
  // The message of step 2, which was recorded, has come. That of step 4 never does.
  REQUIRE(silent.launch(stream, &exchange));
  stream.synchronize();
  CHECK(traffic::sentence([&] { exchange.check(); }).find("step 4") != std::string::npos);
}

TEST_CASE("face exchange: a policy that needs the host cannot be recorded") {
  const gpu::Device device = gpu::Device::host_executor();
  for (const std::string policy : {"staged", "zero-copy", "copy-engine"}) {
    gpu::FaceExchange exchange(device, alone(), std::vector<std::size_t>{16, 0, 0, 0}, policy, {.emulated = 1u});
    CHECK_FALSE(exchange.records());
    CHECK(traffic::sentence([&] { exchange.begin_recording(); }).find(policy) != std::string::npos);
  }
}

TEST_CASE("face signals: the last block of a face raises its flag, and the count is zero again") {
  std::uint64_t flag = 6;
  std::uint32_t count = 0;
  gpu::FaceSignals signals;
  signals.raise[3] = &flag;
  signals.packed[3] = &count;
  signals.step = 7;
  for (std::uint32_t block = 0; block < 5; ++block) {
    CHECK(flag == 6);
    gpu::count_packed(signals, 3, 5);
  }
  CHECK(flag == 7);
  CHECK(count == 0);
}

TEST_CASE("face signals: waiting takes this step and the next, and gives up after the limit") {
  std::uint64_t flag = 7, failed = 0;
  double message[2] = {1.0, 2.0};
  gpu::FaceSignals signals;
  signals.arriving[5] = reinterpret_cast<std::byte*>(message);
  signals.bytes[5] = sizeof message;
  signals.await[5] = &flag;
  signals.failed = &failed;
  signals.time_limit = 0.02;
  for (const std::uint64_t step : {6, 7}) {
    signals.step = step;
    CHECK(gpu::await_all(signals));
  }
  CHECK(failed == 0);
  CHECK(message[1] == 2.0);
  signals.step = 8;
  CHECK_FALSE(gpu::await_all(signals));
  CHECK(failed == 16 * 8 + 6);
  CHECK(std::isnan(message[0]));
  CHECK(std::isnan(message[1]));
  CHECK(flag == 8);
  flag = 7;
  signals.time_limit = 1e9;  // whoever comes after another face has been given up does not wait at all
  CHECK_FALSE(gpu::await_all(signals));
}
