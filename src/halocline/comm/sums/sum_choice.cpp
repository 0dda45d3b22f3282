// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/sums/sum_choice.hpp"

#include "halocline/comm/group/backend.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace halocline::comm {
namespace {

constexpr int blocks = 5;
constexpr double worth_other_bits = 0.95;

/// Seconds of a sum, the same on every rank. Collective: yes.
double seconds_a_sum(Reduction& reduction, std::size_t values, double budget) {
  const Communicator& group = reduction.communicator();
  detail::Backend& clock = group.backend();
  std::vector<double> numbers(values, 1.0);
  const auto block = [&](int sums) {
    group.barrier();
    const double begin = clock.now();
    for (int k = 0; k < sums; ++k) {
      std::ranges::fill(numbers, 1.0);
      reduction.sum(numbers);
    }
    double seconds = (clock.now() - begin) / sums;
    group.max(std::span(&seconds, 1));
    return seconds;
  };
  block(4);  // warm-up: connections are made here
  const int sums = std::clamp(static_cast<int>(budget / blocks / std::max(block(4), 1e-9)), 4, 1000);
  std::array<double, blocks> times{};
  for (double& time : times) time = block(sums);
  std::ranges::nth_element(times, times.begin() + blocks / 2);
  return times[blocks / 2];
}

}  // namespace

std::pair<SumWay, SumWay> choose_sum_ways(const Communicator& group, const ReductionOptions& options, double seconds) {
  const bool by_mpi = group.size() > 1 && group.all(group.backend().library_sum(1) != nullptr);
  if (!by_mpi) return {SumWay::ordered, SumWay::ordered};
  const std::size_t longer = std::max(Reduction::most, std::min(options.longest, 5 * options.piece));
  std::array chosen{SumWay::ordered, SumWay::ordered};
  std::array<double, 2> best{};
  for (const SumWay way : {SumWay::ordered, SumWay::mpi, SumWay::mpi_split}) {
    ReductionOptions tried = options;
    tried.way = way;
    Reduction reduction(group, tried);
    for (std::size_t n = 0; n < 2; ++n) {
      const bool is_long = n == 1;
      if (way == SumWay::mpi_split && !is_long) continue;  // a single piece
      const double time =
          seconds_a_sum(reduction, is_long ? longer : std::min(options.piece, options.longest), seconds);
      const bool first = way == SumWay::ordered;
      if (!first && time >= best[n] * (chosen[n] == SumWay::ordered ? worth_other_bits : 1.0)) continue;
      best[n] = time;
      chosen[n] = way;
    }
  }
  return {chosen[0], chosen[1]};
}

}  // namespace halocline::comm
