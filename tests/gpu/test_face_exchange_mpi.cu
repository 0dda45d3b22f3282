// SPDX-License-Identifier: Apache-2.0
//
// Halo exchange between devices among processes: every policy delivers every message of every step, and nobody hangs.

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gpu/face_traffic.cuh"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/recorded_work.hpp"

using namespace halocline;
using traffic::Traffic;

namespace {

std::vector<int> dims_of(int ranks) { return ranks == 8 ? std::vector{1, 2, 2, 2} : std::vector{1, 1, 1, ranks}; }

const std::vector<std::size_t> uneven{16 * 5, 16 * 33, 16, 16 * 64};

/// Every device of this machine with every policy that can be had on it. Collective.
std::vector<std::pair<gpu::Device, std::string>> ways(const comm::ProcessGrid& grid) {
  std::vector<std::pair<gpu::Device, std::string>> all;
  for (const gpu::Device& device : traffic::devices(grid.rank()))
    for (const std::string& policy : traffic::policies(device, grid)) all.emplace_back(device, policy);
  return all;
}

}  // namespace

TEST_CASE("face exchange: every policy delivers every message, steps out of pace") {
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  for (const auto& way : ways(grid)) {
    const gpu::Device& device = way.first;
    const std::string& policy = way.second;
    CAPTURE(device.describe());
    for (const unsigned emulated : {0u, 1u}) {
      CAPTURE(policy);
      if (emulated == 0u && device.describe().find("deferred") != std::string::npos) continue;
      CAPTURE(emulated);
      gpu::Stream stream(device);
      Traffic traffic(device, grid, uneven, policy, {.emulated = emulated, .time_limit = 60.0});
      CHECK(traffic.exchange().policy() == policy);
      CHECK(traffic.exchange().active({0, 1}) == (emulated == 1u));
      for (int step = 0; step < 60; ++step) {
        traffic::stumble(world.rank(), traffic.steps());
        traffic.send(stream);
        traffic::stumble(world.rank() + 64, traffic.steps());
        traffic.receive(stream);
      }
      CHECK(traffic.wrong(stream) == 0);
    }
  }
}

TEST_CASE("face exchange: ranks that replay recorded steps and ranks that do not serve each other") {
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  for (const gpu::Device& device : traffic::devices(grid.rank()))
    for (const std::string policy : {"remote-write", "one-kernel"}) {
      CAPTURE(device.describe());
      CAPTURE(policy);
      gpu::Stream stream(device);
      Traffic traffic(device, grid, uneven, policy, {.emulated = 1u, .time_limit = 60.0});
      gpu::FaceExchange& exchange = traffic.exchange();
      const bool replays = world.rank() % 2 == 0;
      const auto two_steps = [&] {
        traffic.repeat_words(2);
        for (int i = 0; i < 2; ++i) {
          traffic.send(stream);
          traffic.receive(stream);
        }
      };
      std::optional<gpu::RecordedWork> recorded;
      if (replays) recorded.emplace(stream, &exchange, two_steps);
      for (int round = 0; round < 40; ++round) {
        traffic::stumble(world.rank(), static_cast<std::uint64_t>(round));
        if (!recorded || round % 5 == 4)
          two_steps();
        else
          REQUIRE(recorded->launch(stream, &exchange));
      }
      CHECK(traffic.wrong(stream) == 0);
    }
}

TEST_CASE("face exchange: copies within a machine and messages between machines serve one exchange") {
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  for (const gpu::Device& device : traffic::devices(world.rank()))
    for (const int ranks_per_node : {1, 2, 3, 64}) {
      CAPTURE(device.describe());
      CAPTURE(ranks_per_node);
      gpu::Stream stream(device);
      const gpu::FaceExchangeOptions options{.emulated = 1u, .time_limit = 60.0, .ranks_per_node = ranks_per_node};
      Traffic a(device, grid, uneven, "mixed", options, 1);
      Traffic b(device, grid, std::vector<std::size_t>{0, 0, 16 * 3, 16 * 7}, "mixed",
                {.time_limit = 60.0, .ranks_per_node = ranks_per_node}, 2);
      CHECK(a.exchange().policy() == "mixed");
      CHECK(!a.exchange().packs_remotely());
      CHECK(!a.exchange().waits_in_kernel());
      for (int step = 0; step < 40; ++step) {
        traffic::stumble(world.rank(), a.steps());
        a.send(stream);
        b.send(stream);
        traffic::stumble(world.rank() + 64, a.steps());
        b.receive(stream);
        a.receive(stream);
      }
      CHECK(a.wrong(stream) == 0);
      CHECK(b.wrong(stream) == 0);
    }
  // On one machine it is offered only by that option.
  const std::string refused =
      traffic::sentence([&] { gpu::FaceExchange(gpu::Device::host_executor(), grid, uneven, "mixed"); });
  CHECK(refused.find("where copy-engine does the same") != std::string::npos);
  if (world.size() == 1) return;
  const std::string apart = traffic::sentence([&] {
    gpu::FaceExchange(gpu::Device::host_executor(), grid, uneven, "mixed", {.ranks_per_node = 1 + world.rank() % 2});
  });
  CHECK(apart.find("give all ranks the same") != std::string::npos);
}

TEST_CASE("face exchange: under mixed a rank that stops is an error of its neighbours, near and far") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  const gpu::Device device = gpu::Device::host_executor();
  for (const int ranks_per_node : {1, 2}) {
    CAPTURE(ranks_per_node);
    gpu::Stream stream(device);
    Traffic traffic(device, grid, uneven, "mixed", {.time_limit = 0.2, .ranks_per_node = ranks_per_node});
    std::string said;
    for (int step = 0; step < (world.rank() == 0 ? 2 : 6) && said.empty(); ++step)
      said = traffic::sentence([&] {
        traffic.send(stream);
        traffic.receive(stream);
        stream.synchronize();
        traffic.exchange().check();
      });
    if (world.rank() > 0) {
      CHECK(said.find("rank " + std::to_string(world.rank()) + ", halo policy mixed: face ") == 0);
      CHECK(said.find("no message within 0.2") != std::string::npos);
    }
    world.barrier();  // nobody hangs
  }
}

TEST_CASE("face exchange: two exchanges take turns") {
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  for (const auto& way : ways(grid)) {
    const gpu::Device& device = way.first;
    const std::string& policy = way.second;
    CAPTURE(device.describe());
    CAPTURE(policy);
    gpu::Stream stream(device);
    Traffic a(device, grid, uneven, policy, {.emulated = 1u}, 1);
    Traffic b(device, grid, std::vector<std::size_t>{48, 0, 16 * 9, 16 * 17}, "staged", {}, 2);
    Traffic c(device, grid, std::vector<std::size_t>{0, 0, 0, 16}, policy, {}, 3);
    for (int step = 0; step < 20; ++step) {
      traffic::stumble(world.rank(), a.steps());
      a.send(stream);
      c.send(stream);
      b.send(stream);
      a.receive(stream);
      b.receive(stream);
      c.receive(stream);
      if (step % 3 != 0) continue;
      c.send(stream);
      c.receive(stream);
    }
    CHECK(a.wrong(stream) == 0);
    CHECK(b.wrong(stream) == 0);
    CHECK(c.wrong(stream) == 0);
  }
}

TEST_CASE("face exchange: nothing goes over the ends of an open axis") {
  const comm::Communicator world = comm::world();
  const comm::ProcessGrid grid(world, dims_of(world.size()), {true, true, true, false});
  for (const auto& way : ways(grid)) {
    const gpu::Device& device = way.first;
    const std::string& policy = way.second;
    CAPTURE(device.describe());
    CAPTURE(policy);
    gpu::Stream stream(device);
    Traffic traffic(device, grid, {0, 16 * 3, 0, 16 * 40}, policy);
    CHECK(traffic.exchange().active({3, -1}) == (grid.coords()[3] > 0));
    CHECK(traffic.exchange().active({3, 1}) == (grid.coords()[3] + 1 < grid.dims()[3]));
    for (int step = 0; step < 10; ++step) {
      traffic.send(stream);
      traffic.receive(stream);
    }
    CHECK(traffic.wrong(stream) == 0);
  }
}

TEST_CASE("face exchange: a rank that stops is an error with rank, face, step and policy") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  for (const auto& way : ways(grid)) {
    const gpu::Device& device = way.first;
    const std::string& policy = way.second;
    if (policy == "staged" || device.describe().find("deferred") != std::string::npos) continue;
    CAPTURE(device.describe());
    CAPTURE(policy);
    gpu::Stream stream(device);
    Traffic traffic(device, grid, uneven, policy, {.time_limit = 0.2});
    std::string said;
    if (world.rank() == 0) {
      static_cast<void>(traffic::sentence([&] {  // on a busy machine it may find the others gone already
        for (int step = 0; step < 2; ++step) {
          traffic.send(stream);
          traffic.receive(stream);
          stream.synchronize();
        }
      }));
    } else {
      for (int step = 0; step < 6 && said.empty(); ++step)
        said = traffic::sentence([&] {
          traffic.send(stream);
          traffic.receive(stream);
          stream.synchronize();
          traffic.exchange().check();
        });
      // Who waits for rank 0 stops, and its neighbours in one of the next steps.
      CHECK(said.find("rank " + std::to_string(world.rank()) + ", halo policy " + policy + ": face ") == 0);
      CHECK(said.find(", step " + std::to_string(traffic.steps())) != std::string::npos);
      CHECK(said.find("no message within 0.2") != std::string::npos);
      CHECK(traffic::sentence([&] { traffic.send(stream); }).find("has failed before") != std::string::npos);
    }
    world.barrier();  // nobody hangs
  }
}

TEST_CASE("face exchange: ranks that ask for different things are told, all of them") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;
  const gpu::Device device = gpu::Device::host_executor();
  const comm::ProcessGrid grid(world, dims_of(world.size()));
  const auto made = [&](std::size_t bytes, const char* policy) {
    return traffic::sentence(
        [&] { gpu::FaceExchange exchange(device, grid, std::vector<std::size_t>{0, 0, 0, bytes}, policy); });
  };
  CHECK(made(world.rank() == 0 ? 32 : 16, "staged").find("neighbours must agree") != std::string::npos);
  CHECK(made(16, world.rank() == 0 ? "staged" : "one-kernel").find("give all ranks the same") != std::string::npos);
  CHECK(traffic::sentence([&] {
          gpu::FaceExchange exchange(device, grid, uneven, "", {.emulated = 8u});
        }).find("emulate axes of one process") != std::string::npos);
}
