// SPDX-License-Identifier: Apache-2.0
//
// Which processes merge, and that every site travels to its place and back on simulated ranks.

#include <doctest/doctest.h>

#include <array>

#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/core/error.hpp"
#include "lattice/gathering_laws.hpp"

using namespace gathering_laws;

TEST_CASE(
    "gathering: processes merge by the smallest factors, along the shortest sides, until there are enough sites") {
  const auto merged = [](const std::vector<int>& dims, const Coordinates<4>& local, std::int64_t sites) {
    return Gathering::merged_processes(dims, local, sites);
  };
  CHECK(merged({6, 12, 6, 4}, {2, 2, 2, 2}, 16) == std::array{1, 1, 1, 1});  // enough already
  CHECK(merged({6, 12, 6, 4}, {1, 1, 1, 1}, 16) == std::array{2, 2, 2, 2});
  CHECK(merged({6, 12, 6, 4}, {2, 1, 1, 1}, 16) == std::array{1, 2, 2, 2});
  CHECK(merged({6, 12, 6, 4}, {2, 2, 2, 2}, 17) == std::array{1, 1, 1, 2});
  CHECK(merged({3, 3, 3, 2}, {1, 1, 1, 1}, 4) == std::array{1, 1, 3, 2});
  CHECK(merged({5, 1, 1, 1}, {1, 1, 1, 1}, 2) == std::array{5, 1, 1, 1});
  CHECK(merged({2, 3, 5, 1}, {1, 1, 1, 7}, 1000000) == std::array{2, 3, 5, 1});  // one process holds all
  CHECK(merged({1, 1, 1, 1}, {1, 1, 1, 1}, 16) == std::array{1, 1, 1, 1});
}

TEST_CASE("gathering: every site reaches its place and comes back, on odd extents and one site a process too") {
  struct Case {
    std::vector<int> dims;
    Coordinates<4> local;
    std::int64_t sites;
  };
  const std::vector<Case> cases{
      {{2, 2, 3, 1}, {1, 1, 1, 1}, 16}, {{2, 2, 3, 1}, {1, 1, 1, 1}, 3}, {{2, 3, 1, 2}, {3, 1, 2, 1}, 16},
      {{1, 1, 1, 5}, {1, 3, 1, 1}, 16}, {{4, 2, 2, 1}, {1, 1, 1, 1}, 4}, {{3, 3, 1, 1}, {1, 3, 2, 1}, 1},
      {{2, 2, 2, 2}, {2, 1, 1, 1}, 16},
  };
  for (const Case& c : cases)
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const int ranks = c.dims[0] * c.dims[1] * c.dims[2] * c.dims[3];
      std::vector<int> order;
      for (int i = 0; i < ranks; ++i) order.push_back(seed == 3 ? ranks - 1 - i : i);
      std::vector<std::string> broken(static_cast<std::size_t>(ranks));
      comm::simulate(ranks, {.seed = seed, .pause_probability = 0.1}, [&](const comm::Communicator& group) {
        const std::string law = broken_law(spread_over(group, c.dims, c.local, order), c.sites);
        broken[static_cast<std::size_t>(group.rank())] = law;
      });
      CAPTURE(seed);
      CAPTURE(ranks);
      for (const std::string& law : broken) CHECK(law == "");
    }
}

TEST_CASE("gathering: a process that is lost is an error for the process that awaits its sites") {
  std::string sentence;
  comm::simulate(4, {.seed = 1, .stalled_rank = 3, .stalled_after = 1e-3}, [&](const comm::Communicator& group) {
    Gathering gathering(spread_over(group, {4, 1, 1, 1}, {1, 1, 1, 1}), 4, 0.05);
    std::vector<double> here(1), there(gathering.keeps() ? 4 : 0);
    const auto bytes = [](std::vector<double>& v) { return std::as_writable_bytes(std::span(v)); };
    try {
      for (int round = 0; round < 1000; ++round) {  // each takes two microseconds at least, so the rank stops meanwhile
        gathering.gather(bytes(there), bytes(here), sizeof(double));
        gathering.scatter(bytes(here), bytes(there), sizeof(double));
      }
    } catch (const core::Error& error) {
      if (group.rank() == 0) sentence = error.what();
    }
  });
  CHECK(sentence.find("rank 3 has not sent its message within 0.05 s") != std::string::npos);
}

TEST_CASE("gathering: fields of another length and numbers of sites that cannot be are refused") {
  const auto spread = spread_over(comm::Communicator::self(), {1, 1, 1, 1}, {2, 1, 1, 3});
  Gathering gathering(spread);
  CHECK_FALSE(gathering.gathers());
  CHECK(gathering.keeps());
  CHECK(gathering.gathered() == spread);
  std::vector<std::byte> whole(6 * 8), part(5 * 8);
  CHECK_THROWS_AS(gathering.gather(whole, part, 8), core::InvalidArgument);
  CHECK_THROWS_AS(gathering.scatter(part, whole, 8), core::InvalidArgument);
  CHECK_THROWS_AS(gathering.gather(whole, whole, 0), core::InvalidArgument);
  CHECK_THROWS_AS(Gathering(spread, 0), core::InvalidArgument);
}
