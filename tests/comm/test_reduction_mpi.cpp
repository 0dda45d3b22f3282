// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/exact_sum.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace halocline;
using comm::Communicator;
using comm::Reduction;
using comm::ReductionOptions;
using comm::SumWay;

namespace {

/// A value whose sum over ranks depends on the order of adding in its last bits.
double awkward(int rank, std::size_t i, int k = 0) {
  return std::ldexp(1.0 / (3.0 + rank + static_cast<double>(i) + k), (rank * 37 + static_cast<int>(i) * 11) % 60) *
         (rank % 2 == 0 ? 1.0 : -1.0);
}

double sum_in_rank_order(int ranks, std::size_t i, int k = 0) {
  double sum = awkward(0, i, k);
  for (int r = 1; r < ranks; ++r) sum += awkward(r, i, k);
  return sum;
}

bool same_bits(double a, double b) { return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b); }

void random_pause(std::mt19937& random) {
  if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
}

/// Everybody reads everybody; one gathers for the node; messages.
const std::vector<ReductionOptions> ways{{}, {.gather_above = 1}, {.shared_memory = false}};

/// The sentence of the core::Error that `action` throws; "nothing" when it throws none.
template <class Action>
std::string sentence_of(Action&& action) {
  try {
    action();
  } catch (const core::InvalidArgument& error) {
    return std::string("InvalidArgument: ") + error.what();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "nothing";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("reduction: one to eight sums in rank order on every rank, by every way, blocking or not") {
  const Communicator world = comm::world();
  for (const ReductionOptions& options : ways) {
    Reduction reduction(world, options);
    CHECK(reduction.shared_memory() == (options.shared_memory && world.size() > 1));
    std::mt19937 random(static_cast<unsigned>(world.rank() + 100));
    int wrong = 0;
    for (int k = 0; k < 40; ++k) {
      for (std::size_t n = 1; n <= 8; ++n) {
        double values[8];
        for (std::size_t i = 0; i < n; ++i) values[i] = awkward(world.rank(), i + n, k);
        if (k < 10) random_pause(random);
        const std::span<double> part(values, n);
        if (k % 2 == 0) {
          reduction.sum(part);
        } else {
          reduction.begin(part);
          std::fill(part.begin(), part.end(), -1.0);  // the values were taken
          if (k % 4 == 1) {
            while (!reduction.test()) std::this_thread::yield();
          }
          reduction.wait();
        }
        for (std::size_t i = 0; i < n; ++i) wrong += !same_bits(values[i], sum_in_rank_order(world.size(), i + n, k));
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("reduction: hundreds of sums at once have the bits of many short ones, and take turns with them") {
  const Communicator world = comm::world();
  for (ReductionOptions options : ways) {
    options.longest = 300;
    Reduction reduction(world, options);
    CHECK(reduction.longest() == 300);
    int wrong = 0;
    for (int k = 0; k < 60; ++k) {
      const std::size_t n = std::array<std::size_t, 5>{9, 3, 300, 8, 61}[static_cast<std::size_t>(k % 5)];
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = awkward(world.rank(), i, k);
      if (k % 3 == 0) {
        reduction.begin(values);
        reduction.wait();
      } else {
        reduction.sum(values);
      }
      for (std::size_t i = 0; i < n; ++i) wrong += !same_bits(values[i], sum_in_rank_order(world.size(), i, k));
    }
    CHECK(wrong == 0);
    std::vector<double> more(301);
    CHECK_THROWS_AS(reduction.sum(more), core::InvalidArgument);
  }
}

TEST_CASE("reduction: sums of a number known to the compiler are those of the span") {
  const Communicator world = comm::world();
  const int me = world.rank(), ranks = world.size();
  Reduction reduction(world);
  CHECK(same_bits(reduction.sum(awkward(me, 0)), sum_in_rank_order(ranks, 0)));
  const auto [a, b] = reduction.sums(awkward(me, 1), awkward(me, 2));
  CHECK(same_bits(a, sum_in_rank_order(ranks, 1)));
  CHECK(same_bits(b, sum_in_rank_order(ranks, 2)));
  const std::array<double, 3> three = reduction.sum(std::array{awkward(me, 3), awkward(me, 4), awkward(me, 5)});
  for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(three[i], sum_in_rank_order(ranks, 3 + i)));
}

TEST_CASE("reduction: twenty thousand sums with random pauses, several objects, all three ways in turns") {
  const Communicator world = comm::world();
  std::vector<Reduction> reductions;
  for (const ReductionOptions& options : ways) reductions.emplace_back(world, options);
  std::mt19937 common(5), own(static_cast<unsigned>(world.rank()));  // `common` draws the same on all ranks
  int wrong = 0;
  for (int k = 0; k < 20000; ++k) {
    if (own() % 4096 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own() % 300));
    const std::size_t n = 1 + common() % 8;
    const bool blocking = common() % 4 != 0;
    // Messages take turns with the sums in memory, more seldom because they are slow where ranks share cores.
    Reduction& reduction = reductions[common() % 16 == 0 ? 2 : common() % 2];
    double values[8];
    for (std::size_t i = 0; i < n; ++i) values[i] = awkward(world.rank(), i, k);
    if (blocking) {
      reduction.sum(std::span(values, n));
    } else {
      reduction.begin(std::span(values, n));
      const double other = reductions[&reduction == &reductions[0] ? 1 : 0].sum(1.0);  // one of another in between
      wrong += other != world.size();
      reduction.wait();
    }
    for (std::size_t i = 0; i < n; ++i) wrong += !same_bits(values[i], sum_in_rank_order(world.size(), i, k));
  }
  CHECK(wrong == 0);
}

TEST_CASE("reduction: misuse is refused, and does not end the reduction") {
  const Communicator world = comm::world();
  for (const ReductionOptions& options : ways) {
    Reduction reduction(world, options);
    double nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    CHECK_THROWS_AS(reduction.sum(nine), core::InvalidArgument);
    CHECK_THROWS_AS(reduction.sum(std::span<double>()), core::InvalidArgument);
    CHECK_THROWS_AS(reduction.begin(nine), core::InvalidArgument);
    CHECK_THROWS_AS(reduction.wait(), core::InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(reduction.test()), core::InvalidArgument);
    const std::span<double> two = std::span(nine).first(2);
    reduction.begin(two);
    CHECK_THROWS_AS(reduction.begin(two), core::InvalidArgument);
    CHECK_THROWS_AS(reduction.sum(two), core::InvalidArgument);
    CHECK_THROWS_AS(static_cast<void>(reduction.sum(1.0)), core::InvalidArgument);
    while (!reduction.test()) std::this_thread::yield();
    CHECK_THROWS_AS(reduction.sum(two), core::InvalidArgument);  // complete, but not waited for
    reduction.wait();
    CHECK(nine[0] == world.size());
    CHECK(nine[1] == world.size());
    CHECK_THROWS_AS(reduction.wait(), core::InvalidArgument);
    CHECK_THROWS_AS(reduction.set_time_limit(0.0), core::InvalidArgument);
    CHECK_THROWS_AS(reduction.set_time_limit(std::numeric_limits<double>::quiet_NaN()), core::InvalidArgument);
    CHECK(reduction.sum(2.0) == 2.0 * world.size());
  }
}

TEST_CASE("reduction: options out of range, or not the same everywhere, are refused on every rank") {
  const Communicator world = comm::world();
  CHECK_THROWS_AS(Reduction(world, {.gather_above = 0}), core::InvalidArgument);
  CHECK_THROWS_AS(Reduction(world, {.time_limit = -1.0}), core::InvalidArgument);
  CHECK_THROWS_AS(Reduction(world, {.longest = 7}), core::InvalidArgument);
  if (world.size() > 1) {
    CHECK_THROWS_AS(Reduction(world, {.time_limit = 1.0 + world.rank()}), core::InvalidArgument);
    CHECK_THROWS_AS(Reduction(world, {.shared_memory = world.rank() == 0}), core::InvalidArgument);
    CHECK_THROWS_AS(Reduction(world, {.longest = world.rank() == 0 ? 9UL : 8UL}), core::InvalidArgument);
    CHECK_THROWS_AS(Reduction(world, {.time_limit = world.rank() == 0 ? -1.0 : 5.0}), core::InvalidArgument);
  }
}

TEST_CASE("reduction: a rank that stays away is named on every rank that waits, and further use refused") {
  const Communicator world = comm::world();
  if (world.size() == 1) return;  // nobody can stay away
  const int absent = world.size() - 1;
  for (const ReductionOptions& options : ways) {
    Reduction reduction(world, options);
    CHECK(reduction.sum(1.0) == world.size());
    CHECK(reduction.sum(1.0) == world.size());
    reduction.set_time_limit(0.2);
    CHECK(reduction.time_limit() == 0.2);
    if (world.rank() != absent) {
      const std::string sentence = sentence_of([&] { static_cast<void>(reduction.sum(1.0)); });
      CAPTURE(sentence);
      CHECK(sentence.starts_with("rank " + std::to_string(world.rank()) + ": sum 3 of this reduction: "));
      // With messages only, or beyond the ranks that add for others, it may be one's turn to time out first.
      CHECK(contains(sentence, "rank " + std::to_string(absent)));
      for (int again = 0; again < 2; ++again) {
        const std::string refusal = sentence_of([&] { static_cast<void>(reduction.sum(1.0)); });
        CHECK(contains(refusal, "failed at sum 3 and cannot be used further"));
      }
      CHECK(contains(sentence_of([&] { reduction.wait(); }), "cannot be used further"));
    }
    world.barrier();
  }
}

TEST_CASE("reduction: different numbers of values in one sum are told, not added") {
  const Communicator world = comm::world();
  if (world.size() == 1) return;
  for (ReductionOptions options : ways)
    // Short sums; long ones; and in memory both, which as messages have other lengths.
    for (const auto& [at_first, elsewhere] : {std::pair<std::size_t, std::size_t>{3, 2}, {20, 19}, {20, 2}}) {
      if (!options.shared_memory && at_first + elsewhere == 22) continue;
      options.longest = 20;
      Reduction reduction(world, options);
      reduction.set_time_limit(5.0);
      std::vector<double> values(world.rank() == 0 ? at_first : elsewhere, 1.0);
      const std::string sentence = sentence_of([&] { reduction.sum(values); });
      CAPTURE(sentence);
      // Ranks that agree with the rank that adds for their node learn from it that it gave up.
      CHECK((contains(sentence, "values") || contains(sentence, "gave up")));
      CHECK(sentence.starts_with("rank " + std::to_string(world.rank()) + ": sum 1 "));
      world.barrier();
    }
}

TEST_CASE("reduction: one can be moved, and given up while a sum is under way") {
  const Communicator world = comm::world();
  for (const ReductionOptions& options : ways) {
    Reduction first(world, options);
    double values[2] = {1.0, 2.0};
    first.begin(values);
    Reduction second(std::move(first));
    second.wait();
    CHECK(values[1] == 2.0 * world.size());
    second = Reduction(world, options);
    second.begin(values);
    world.barrier();
  }
  CHECK(Reduction(world).sum(1.0) == world.size());
}

TEST_CASE("exact sum: over the ranks, the bits of one process for every way to deal out the terms") {
  const Communicator world = comm::world();
  std::mt19937_64 random(7);  // the same on all ranks
  std::vector<double> terms(5000);
  for (double& x : terms)
    x = std::ldexp(std::uniform_real_distribution<double>(-1, 1)(random), static_cast<int>(random() % 300) - 150);
  comm::ExactSum whole;
  whole.add(terms);
  for (int repeat = 0; repeat < 5; ++repeat) {
    std::vector<comm::ExactSum> sums(2);
    for (const double x : terms) {
      const bool ours = random() % static_cast<unsigned>(world.size()) == static_cast<unsigned>(world.rank());
      if (ours) sums[0].add(x);
      if (ours) sums[1].add_product(x, -2.0);
    }
    comm::sum_over(world, sums);
    CHECK(sums[0] == whole);
    CHECK(same_bits(sums[0].value(), whole.value()));
    CHECK(same_bits(sums[1].value(), -2.0 * whole.value()));
  }
  std::vector<comm::ExactSum> one(1);
  one[0].add(world.rank() == 0 ? std::numeric_limits<double>::infinity() : 1.0);
  comm::sum_over(world, one);
  CHECK(one[0].value() == std::numeric_limits<double>::infinity());
  std::vector<comm::ExactSum> big(1);
  big[0].add(world.rank() % 2 == 0 ? 0x1p1023 : -0x1p1023);
  comm::sum_over(world, big);
  CHECK(big[0].value() == (world.size() % 2 == 0 ? 0.0 : 0x1p1023));
}

TEST_CASE("reduction: the ways of MPI add the same values, whole or in pieces, blocking or in steps, with equal bits "
          "everywhere") {
  const Communicator world = comm::world();
  for (const SumWay way : {SumWay::mpi, SumWay::mpi_split, SumWay::automatic}) {
    CAPTURE(comm::name(way));
    Reduction reduction(world, {.longest = 40, .way = way});
    CHECK(reduction.way(1) != SumWay::automatic);
    CHECK(reduction.way(40) != SumWay::automatic);
    if (world.size() == 1) CHECK(reduction.way(40) == SumWay::ordered);
    if (world.size() > 1 && way == SumWay::mpi_split) {
      CHECK(reduction.way(3) == SumWay::mpi);  // a single piece
      CHECK(reduction.way(4) == SumWay::mpi_split);
    }
    int wrong = 0, differ = 0;
    for (int k = 0; k < 30; ++k) {
      const std::size_t n = std::array<std::size_t, 6>{1, 3, 4, 8, 15, 40}[static_cast<std::size_t>(k % 6)];
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = awkward(world.rank(), i, k);
      if (k % 4 == 3) {
        reduction.begin(values);
        std::fill(values.begin(), values.end(), -1.0);  // the values were taken
        while (k % 8 == 3 && !reduction.test()) std::this_thread::yield();
        reduction.wait();
      } else {
        reduction.sum(values);
      }
      for (std::size_t i = 0; i < n; ++i) {
        // The sum of magnitudes bounds the rounding of any order: an eps for each addition.
        double magnitude = 0;
        for (int r = 0; r < world.size(); ++r) magnitude += std::abs(awkward(r, i, k));
        const double bound = world.size() * std::numeric_limits<double>::epsilon() * magnitude;
        wrong += !(std::abs(values[i] - sum_in_rank_order(world.size(), i, k)) <= bound);
        std::array<double, 1> low{values[i]}, high{values[i]};
        world.min(low);
        world.max(high);
        differ += !same_bits(low[0], high[0]);
      }
    }
    CHECK(wrong == 0);
    CHECK(differ == 0);
    const auto [a, b] = reduction.sums(1.0, 2.0);
    CHECK(a == world.size());
    CHECK(b == 2 * world.size());
  }
}

TEST_CASE("reduction: pieces of one value are right, and none are refused") {
  const Communicator world = comm::world();
  Reduction reduction(world, {.way = SumWay::mpi_split, .piece = 1});
  std::array<double, 5> values{1, 2, 3, 4, 5};
  reduction.sum(std::span<double>(values));
  for (std::size_t i = 0; i < values.size(); ++i) CHECK(values[i] == (1.0 + static_cast<double>(i)) * world.size());
  CHECK(contains(sentence_of([&] { Reduction(world, {.way = SumWay::mpi, .piece = 0}); }), "pieces of 0 values"));
  if (world.size() > 1)
    CHECK(contains(sentence_of([&] { Reduction(world, {.way = world.rank() == 0 ? SumWay::mpi : SumWay::ordered}); }),
                   "different options"));
  CHECK(contains(sentence_of([] { static_cast<void>(comm::sum_way_named("fast")); }), "\"fast\""));
  CHECK(comm::sum_way_named("mpi-split") == SumWay::mpi_split);
}

TEST_CASE("reduction: a sum by MPI that is given up while it is under way leaves the group usable") {
  const Communicator world = comm::world();
  for (int k = 0; k < 3; ++k) {
    std::array<double, 2> values{1.0, 2.0};
    Reduction reduction(world, {.way = SumWay::mpi});
    reduction.begin(values);
    if (world.rank() % 2 == 0) reduction.wait();
    // The others destroy theirs with the sum under way.
  }
  std::array<double, 1> one{1.0};
  world.sum(std::span<double>(one));
  CHECK(one[0] == world.size());
  CHECK(Reduction(world, {.way = SumWay::mpi}).sum(1.0) == world.size());
}

TEST_CASE("reduction: a sum in steps by MPI has a time limit, and the reduction refuses further use") {
  const Communicator world = comm::world();
  if (world.size() == 1) return;
  const Communicator pair = world.split(world.rank() < 2 ? 0 : 1, world.rank());
  if (world.rank() >= 2) return;
  Reduction reduction(pair, {.time_limit = 0.2, .way = SumWay::mpi});
  double value = 1;
  if (pair.rank() == 0) {
    reduction.begin({&value, 1});
    CHECK(contains(sentence_of([&] { reduction.wait(); }), "within 0.2 s"));
    CHECK(contains(sentence_of([&] { reduction.begin({&value, 1}); }), "cannot be used further"));
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(600));
  }
}
