// SPDX-License-Identifier: Apache-2.0
/// @file
/// The halo exchange against the simulated network: hundreds of histories with every byte verified, ranks that die or
/// stall, and messages that are damaged.

#include "halocline/comm/transports/simulated/simulated.hpp"

#include "halo_laws.hpp"
#include "halocline/comm/exchange/detail/link.hpp"
#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/simulation/simulation.hpp"

#include <string>
#include <vector>

using namespace halocline;
using comm::Buffering;
using comm::Communicator;
using comm::FaceMask;
using comm::HaloExchange;
using comm::ProcessGrid;
using comm::simulate;
using comm::SimulationOptions;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// What all ranks do in one history, drawn from its seed.
struct Plan {
  explicit Plan(std::uint64_t seed) : random(static_cast<unsigned>(seed)) {
    const std::vector<std::vector<int>> grids{{2}, {3}, {1, 2}, {2, 2}, {4}, {1, 1}, {3, 2}, {2, 1, 2}, {5}};
    dims = grids[random() % grids.size()];
    for (std::size_t axis = 0; axis < dims.size(); ++axis) {
      periodic.push_back(random() % 4 != 0);
      bytes.push_back(random() % 8 == 0 ? 0 : 1 + random() % 700);
      ranks *= dims[axis];
    }
  }

  std::mt19937 random;
  std::vector<int> dims;
  std::vector<bool> periodic;
  std::vector<std::size_t> bytes;
  int ranks = 1;
};

/// The faces of a wish that may be posted now: by symmetry every rank's counts are those of a ring of one.
class Permitted {
public:
  explicit Permitted(int faces) : links_(static_cast<std::size_t>(faces)) {}

  FaceMask post(FaceMask wish) {
    FaceMask mask = 0;
    std::vector<std::uint64_t> flags(links_.size());
    for (std::size_t f = 0; f < links_.size(); ++f) {
      if ((wish >> f & 1u) == 0 || !comm::detail::may_fill(links_[f], 2)) continue;
      mask |= FaceMask{1} << f;
      comm::detail::free_arrived(links_[f]);
      flags[f] = comm::detail::post(links_[f]);
    }
    for (std::size_t f = 0; f < links_.size(); ++f) {
      if ((mask >> f & 1u) != 0) comm::detail::arrive(links_[f ^ 1], flags[f]);
    }
    return mask;
  }

private:
  std::vector<comm::detail::Link> links_;
};

struct Tally {
  std::uint64_t wrong = 0, verified = 0, one_way = 0;
};

/// Random masks, one-way steps, odd counts and reductions in between, every byte verified.
void live(const Plan& plan, const Communicator& group, halo_laws::Way way, int steps, Tally& tally) {
  const ProcessGrid grid(group, plan.dims, plan.periodic);
  way.pause = [&group] { group.backend().idle(); };
  halo_laws::Driver driver(grid, plan.bytes, way, true);
  comm::Reduction reduction(group);
  std::mt19937 common(plan.random);  // a copy: the same on every rank
  const FaceMask faces = (FaceMask{1} << 2 * grid.ndim()) - 1;
  Permitted permitted(2 * grid.ndim());
  for (int k = 0; k < steps; ++k) {
    const FaceMask mask = permitted.post(common() % 4 == 0 ? faces : common() & faces);
    driver.step(mask);
    if (mask != faces && group.rank() == 0) ++tally.one_way;
    if (common() % 7 == 0) {
      double one = 1.0;
      reduction.sum(std::span(&one, 1));
      if (one != group.size()) ++tally.wrong;
    }
    if (common() % 5 == 0) driver.exchange.wait_sent();
  }
  tally.wrong += driver.wrong;
  tally.verified += driver.verified;
}

/// Steps until something fails. @return the sentence, empty when nothing did
std::string step_until_failure(const Communicator& group, const std::vector<int>& dims,
                               const comm::HaloOptions& options, int steps, std::uint64_t& wrong) {
  const ProcessGrid grid(group, dims);
  halo_laws::Way way = halo_laws::named_way("simulated");
  way.options = options;
  halo_laws::Driver driver(grid, std::vector<std::size_t>(dims.size(), 200), way);
  std::string sentence;
  try {
    for (int k = 0; k < steps; ++k) driver.step();
  } catch (const core::Error& error) {
    sentence = error.what();
  }
  wrong += driver.wrong;
  return sentence;
}

}  // namespace

TEST_CASE("simulated: every byte in hundreds of histories, with two buffers and with one") {
  Tally tally;
  std::uint64_t messages = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    const Plan plan(seed);
    const SimulationOptions options{.seed = seed,
                                    .jitter = seed % 3 == 0 ? 1e-4 : 5e-6,
                                    .piece_bytes = 1 + seed % 5 * 64,
                                    .pause_probability = seed % 2 == 0 ? 0.05 : 0.0};
    const auto way = halo_laws::named_way("simulated", seed % 4 == 0 ? Buffering::one : Buffering::two, seed % 5 == 0);
    messages +=
        simulate(plan.ranks, options, [&](const Communicator& group) { live(plan, group, way, 25, tally); }).messages;
  }
  CHECK(tally.wrong == 0);
  CHECK(tally.verified > 1000000);
  CHECK(tally.one_way > 1000);
  CHECK(messages > 10000);
}

TEST_CASE("simulated: the same seed gives the same history of messages") {
  const Plan plan(5);
  const auto run = [&](std::uint64_t seed) {
    Tally tally;
    return simulate(plan.ranks, {.seed = seed}, [&](const Communicator& group) {
      live(plan, group, halo_laws::named_way("simulated"), 30, tally);
    });
  };
  const auto one = run(1), again = run(1), other = run(2);
  CHECK(one.seconds == again.seconds);
  CHECK(one.switches == again.switches);
  CHECK(one.messages == again.messages);
  CHECK(one.messages == other.messages);
  CHECK(one.seconds != other.seconds);
}

TEST_CASE("simulated: a dead or stalled rank is an error on every rank, that names what is needed") {
  for (const bool dies : {true, false}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      constexpr int ranks = 4;
      constexpr double limit = 0.25, stop = 2e-3;
      SimulationOptions options{.seed = seed};
      (dies ? options.dead_rank : options.stalled_rank) = 2;
      (dies ? options.dead_after : options.stalled_after) = stop;
      std::vector<std::string> sentences(ranks);
      std::vector<double> times(ranks, 0.0);
      std::uint64_t wrong = 0;
      simulate(ranks, options, [&](const Communicator& group) {
        const auto rank = static_cast<std::size_t>(group.rank());
        sentences[rank] = step_until_failure(group, {ranks}, {.time_limit = limit}, 1000000, wrong);
        times[rank] = group.backend().now();
      });
      CHECK(wrong == 0);
      CHECK(sentences[2].empty());
      for (const std::size_t rank : {0u, 1u, 3u}) {
        CAPTURE(sentences[rank]);
        CHECK(contains(sentences[rank], "rank " + std::to_string(rank) + ", face "));
        CHECK(contains(sentences[rank], ", step "));
        CHECK(contains(sentences[rank], "transport simulated"));
        CHECK(times[rank] > stop);
        CHECK(times[rank] < stop + (dies ? 0.1 : 2 * limit));  // the dead are known at once
      }
      const auto neighbour = [&](std::size_t rank) {
        return contains(sentences[rank], "from rank 2") && contains(sentences[rank], rank == 1 ? "face +x" : "face -x");
      };
      CHECK((neighbour(1) || neighbour(3)));
    }
  }
}

TEST_CASE("simulated: a damaged message is found by its checksum and never taken for a halo") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const auto buffering = seed % 2 == 0 ? Buffering::one : Buffering::two;
    std::uint64_t wrong = 0;
    int failed = 0, named = 0;
    simulate(3, {.seed = seed, .damage_probability = 0.02}, [&](const Communicator& group) {
      const std::string sentence =
          step_until_failure(group, {3}, {.buffering = buffering, .checksum = true, .time_limit = 0.1}, 200, wrong);
      failed += sentence.empty() ? 0 : 1;
      named += contains(sentence, "damaged") && contains(sentence, "checksum") ? 1 : 0;
    });
    CHECK(wrong == 0);
    CHECK(failed == 3);
    CHECK(named >= 1);
  }
  // The damage is there to be found: without a checksum it is not.
  std::uint64_t wrong = 0;
  simulate(3, {.seed = 1, .damage_probability = 0.02},
           [&](const Communicator& group) { CHECK(step_until_failure(group, {3}, {}, 200, wrong).empty()); });
  CHECK(wrong > 0);
  // And where nothing is damaged, nothing is found.
  wrong = 0;
  simulate(3, {.seed = 1}, [&](const Communicator& group) {
    CHECK(step_until_failure(group, {3}, {.checksum = true}, 200, wrong).empty());
  });
  CHECK(wrong == 0);
}

TEST_CASE("simulated: a transport that is used against its rules is told") {
  const auto misuse = [](const Communicator& group) {
    const ProcessGrid grid(group, {2});
    comm::SimulatedTransport transport;
    const std::vector<std::size_t> capacity{16, 16};
    transport.open(grid, capacity, 2);
    transport.put(0, 0, 16, 1);
    while (transport.arrived_flag(1, 0, 16) == 0) group.backend().idle();
    CHECK(transport.sent(0, 0));
    transport.put(0, 0, 16, 2);  // nobody has released the first
  };
  CHECK_THROWS_AS(simulate(2, {}, misuse), core::Error);
  const ProcessGrid alone(Communicator::self(), {1});
  CHECK(comm::simulated_unavailable_reason(nullptr).empty());
  CHECK_FALSE(comm::simulated_unavailable_reason(&alone).empty());
  comm::SimulatedTransport transport;
  const std::vector<std::size_t> capacity{16, 16};
  CHECK_THROWS_AS(transport.open(alone, capacity, 2), core::InvalidArgument);
}

TEST_CASE("simulated: what is under way when an exchange ends, or a rank, harms nobody") {
  std::uint64_t wrong = 0;
  simulate(3, {.seed = 6, .jitter = 1e-3}, [&](const Communicator& group) {
    const ProcessGrid grid(group, {3});
    for (int k = 0; k < 20; ++k) {
      {
        HaloExchange left(grid, std::vector<std::size_t>{500}, "simulated");
        left.post();  // and never waited for
      }
      halo_laws::Driver driver(grid, {500}, halo_laws::named_way("simulated"));
      driver.step();
      wrong += driver.wrong;
    }
  });
  CHECK(wrong == 0);
}
