// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/simulation/simulation.hpp"
#include "halocline/comm/sums/exact_sum.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

using namespace halocline;
using comm::Communicator;
using comm::Reduction;
using comm::ReductionOptions;

namespace {

double awkward(int rank, std::size_t i, int k) {
  return std::ldexp(1.0 / (3.0 + rank + static_cast<double>(i) + k), (rank * 37 + static_cast<int>(i) * 11) % 60) *
         (rank % 2 == 0 ? 1.0 : -1.0);
}

/// The ranks of each node in rank order, then the nodes in order.
double sum_by_nodes(int ranks, int ranks_per_node, std::size_t i, int k) {
  double sum = 0;
  for (int first = 0; first < ranks; first += ranks_per_node) {
    double of_node = awkward(first, i, k);
    for (int r = first + 1; r < std::min(first + ranks_per_node, ranks); ++r) of_node += awkward(r, i, k);
    sum = first == 0 ? of_node : sum + of_node;
  }
  return sum;
}

double exact(int ranks, std::size_t i, int k) {
  comm::ExactSum sum;
  for (int r = 0; r < ranks; ++r) sum.add(awkward(r, i, k));
  return sum.value();
}

/// Values of sum k: short sums, and one that is as long as can be.
std::size_t length(int k, const ReductionOptions& options) {
  return k == 4 ? options.longest : 1 + static_cast<std::size_t>(k * 5) % 8;
}

/// The bits of all sums of a run, as each rank had them: shape (ranks, sums).
std::vector<std::vector<std::uint64_t>> run(int ranks, int ranks_per_node, std::uint64_t seed,
                                            const ReductionOptions& options) {
  std::vector<std::vector<std::uint64_t>> bits(static_cast<std::size_t>(ranks));
  comm::SimulationOptions machine;
  machine.seed = seed;
  machine.ranks_per_node = ranks_per_node;
  machine.pause_probability = 0.05;
  comm::simulate(ranks, machine, [&](const Communicator& group) {
    Reduction reduction(group, options);
    auto& mine = bits[static_cast<std::size_t>(group.rank())];
    for (int k = 0; k < 6; ++k) {
      const std::size_t n = length(k, options);
      std::vector<double> values(n);
      for (std::size_t i = 0; i < n; ++i) values[i] = awkward(group.rank(), i, k);
      if (k % 2 == 0) {
        reduction.sum(std::span(values));
      } else {
        reduction.begin(std::span(values));
        static_cast<void>(reduction.test());
        reduction.wait();
      }
      for (std::size_t i = 0; i < n; ++i) mine.push_back(std::bit_cast<std::uint64_t>(values[i]));
    }
  });
  return bits;
}

std::string sentence_of(Reduction& reduction) {
  try {
    static_cast<void>(reduction.sum(1.0));
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("reduction: one order of adding on any number of nodes, the same bits on all ranks and for all timings") {
  const ReductionOptions options{.longest = 33};
  for (const int per_node : {1, 2, 3, 40}) {
    for (const int ranks : {1, 2, 3, 5, 8, 9, 12, 17, 26, 40}) {
      CAPTURE(per_node);
      CAPTURE(ranks);
      const auto bits = run(ranks, per_node, 1, options);
      int unequal = 0, wrong = 0;
      for (const auto& of_rank : bits) unequal += of_rank != bits[0];
      CHECK(unequal == 0);
      CHECK(run(ranks, per_node, 2, options) == bits);  // another interleaving
      const int nodes = (ranks + per_node - 1) / per_node;
      std::size_t at = 0;
      for (int k = 0; k < 6; ++k) {
        for (std::size_t i = 0; i < length(k, options); ++i, ++at) {
          const double sum = std::bit_cast<double>(bits[0][at]);
          double size = 0;
          for (int r = 0; r < ranks; ++r) size += std::abs(awkward(r, i, k));
          // Beyond 8 nodes the order is a tree's: any order is within ranks - 1 roundings of the exact sum.
          if (nodes <= 8) wrong += sum != sum_by_nodes(ranks, per_node, i, k);
          wrong += !(std::abs(sum - exact(ranks, i, k)) <= ranks * 0x1p-53 * size);
        }
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("reduction: on one node, memory and messages give the same bits") {
  for (const int ranks : {2, 7, 16, 17, 24}) {
    const auto bits = run(ranks, 0, 3, {.longest = 20});
    CHECK(run(ranks, 0, 4, {.gather_above = 3, .longest = 20}) == bits);
    CHECK(run(ranks, 0, 5, {.shared_memory = false, .longest = 20}) == bits);
    CHECK(run(ranks, 4, 6, {.shared_memory = false, .longest = 20}) == bits);  // which does not look at nodes
  }
}

TEST_CASE("reduction: a dead or stalled rank ends the wait of every other, and is named") {
  struct Case {
    int ranks, per_node, lost;
    bool shared_memory;
  };
  for (const Case& c :
       {Case{3, 0, 2, true}, Case{6, 2, 3, true}, Case{6, 2, 4, true}, Case{20, 1, 13, true}, Case{24, 2, 5, true},
        Case{30, 0, 7, true}, Case{30, 0, 0, true}, Case{5, 0, 1, false}, Case{12, 0, 5, false}}) {
    for (const bool dies : {true, false}) {
      CAPTURE(c.ranks);
      CAPTURE(c.lost);
      CAPTURE(dies);
      int failed = 0, named = 0, refused = 0;
      comm::SimulationOptions machine;
      machine.ranks_per_node = c.per_node;
      (dies ? machine.dead_rank : machine.stalled_rank) = c.lost;
      (dies ? machine.dead_after : machine.stalled_after) = 0.05;
      comm::simulate(c.ranks, machine, [&](const Communicator& group) {
        Reduction reduction(group, {.shared_memory = c.shared_memory, .time_limit = 2.0});
        std::string sentence;
        for (int k = 0; sentence.empty() && k < 100'000'000; ++k) sentence = sentence_of(reduction);
        ++failed;
        const std::string head = "rank " + std::to_string(group.rank()) + ": sum ";
        named += sentence.starts_with(head) && sentence.find("rank", head.size()) != std::string::npos;
        refused += sentence_of(reduction).find("cannot be used further") != std::string::npos;
      });
      CHECK(failed == c.ranks - 1);
      CHECK(named == c.ranks - 1);
      CHECK(refused == c.ranks - 1);
    }
  }
}

TEST_CASE("reduction: on one node every rank names the one that is missing") {
  for (const int gather_above : {1, 16}) {
    int right = 0;
    comm::simulate(6, {}, [&](const Communicator& group) {
      Reduction reduction(group, {.gather_above = gather_above, .time_limit = 1.0});
      CHECK(reduction.sum(1.0) == 6.0);
      if (group.rank() == 4) return;
      right += sentence_of(reduction).find("rank 4") != std::string::npos;
    });
    CHECK(right == 5);
  }
}
