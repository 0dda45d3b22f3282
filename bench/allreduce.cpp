// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

constexpr int most_elements = 32;
constexpr int reduced_at_once = static_cast<int>(comm::Reduction::most);

/// Replaces the values by their sums.
using Sum = std::function<void(std::span<double>)>;

/// The sum by MPI_Allreduce; empty for a group without MPI.
Sum mpi_sum([[maybe_unused]] const comm::Communicator& group) {
#if HALOCLINE_HAVE_MPI
  const MPI_Comm mpi = comm::mpi_comm(group);
  if (mpi == MPI_COMM_NULL) return {};
  return [mpi, rank = group.rank()](std::span<double> values) {
    comm::check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, mpi),
        "MPI_Allreduce", rank);
  };
#else
  return {};
#endif
}

Sum sum_of(const comm::Communicator& group, const AllreduceCase& c) {
  if (c.method == "mpi") return mpi_sum(group);
  if (c.elements > reduced_at_once) return [group](std::span<double> values) { group.sum(values); };
  const comm::ReductionOptions options{.shared_memory = c.method == "shared_memory"};
  const auto reduction = std::make_shared<comm::Reduction>(group, options);
  return [reduction](std::span<double> values) { reduction->sum(values); };
}

/// The value of a rank, chosen so that sums depend on the order of the additions.
double term(int rank, int element) { return (rank % 2 == 0 ? 1.0 : -0.9) / (3.0 + rank + element); }

/// Measures one way to sum.
class Timed {
public:
  Timed(const comm::Communicator& group, Sum sum, int elements) : group_(group), sum_(std::move(sum)) {
    for (int i = 0; i < elements; ++i) terms_.push_back(term(group.rank(), i));
    values_ = terms_;
  }

  /// Times a block of sums. @return its wall time on the slowest process
  double block(int times) {
    group_.barrier();
    timespec cpu{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const double cpu_begin = seconds(cpu), begin = now();
    for (int i = 0; i < times; ++i) {
      std::copy(terms_.begin(), terms_.end(), values_.begin());
      sum_(values_);
    }
    const double wall = now() - begin;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    mine_.push_back(wall / times);
    std::array<double, 2> slowest{wall, seconds(cpu) - cpu_begin};
    group_.max(slowest);
    blocks_.push_back({slowest[0] / times, slowest[1] / times});
    return slowest[0];
  }

  /// Doubles the number of sums until a block takes about `seconds`. This is also the warm-up; its times are discarded.
  void choose_repeats(double seconds) {
    for (repeats = 1; repeats < (1 << 20) && std::min(block(repeats), block(repeats)) < seconds;) repeats *= 2;
    mine_.clear();
    blocks_.clear();
  }

  Spread slowest() const { return spread(blocks_); }

  /// Minimum, mean and maximum over all processes and blocks. Collective.
  std::array<double, 3> min_average_max() const {
    double total = 0;
    for (const double one : mine_) total += one;
    std::array<double, 1> low{*std::ranges::min_element(mine_)}, high{*std::ranges::max_element(mine_)};
    std::array<double, 1> average{total / static_cast<double>(mine_.size())};
    group_.min(low);
    group_.max(high);
    group_.sum(average);
    return {low[0], average[0] / group_.size(), high[0]};
  }

  /// Whether the last values are the sums in rank order on every process. Collective.
  bool exact() const {
    bool right = true;
    for (int i = 0; i < static_cast<int>(values_.size()); ++i) {
      double expected = term(0, i);
      for (int rank = 1; rank < group_.size(); ++rank) expected += term(rank, i);
      right = right && std::bit_cast<std::uint64_t>(values_[static_cast<std::size_t>(i)]) ==
                           std::bit_cast<std::uint64_t>(expected);
    }
    return group_.all(right);
  }

  int repeats = 1;

private:
  static double seconds(const timespec& time) {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  comm::Communicator group_;
  Sum sum_;
  std::vector<double> terms_, values_;
  std::vector<double> mine_;    ///< of this process, for each block
  std::vector<Sample> blocks_;  ///< of the slowest process, for each block
};

void check(const comm::Communicator& group, const AllreduceCase& c) {
  if (c.elements < 1 || c.elements > most_elements) {
    throw core::InvalidArgument(
        fmt::format("a sum of {} elements was asked for; give 1 to {}", c.elements, most_elements));
  }
  if (c.method != "shared_memory" && c.method != "messages" && c.method != "mpi")
    throw core::InvalidArgument(fmt::format("the method is \"{}\"; give shared_memory, messages or mpi", c.method));
  if (c.method == "mpi" && !mpi_sum(group)) {
    throw core::InvalidArgument(
        "the method is \"mpi\", but this group does not stand on MPI; give shared_memory or messages");
  }
}

std::string summed_by(const AllreduceCase& c) {
  if (c.method == "mpi") return "MPI_Allreduce";
  return c.elements > reduced_at_once ? "Communicator::sum" : "Reduction";
}

}  // namespace

Result allreduce(const comm::Communicator& group, const AllreduceCase& c, const Effort& effort) {
  effort.validate();
  check(group, c);
  std::vector<Timed> timed;
  timed.emplace_back(group, sum_of(group, c), c.elements);
  if (const Sum mpi = mpi_sum(group)) timed.emplace_back(group, mpi, c.elements);
  for (Timed& one : timed) one.choose_repeats(effort.block_seconds);
  double total = 0;
  // The time of a block is that of the slowest process and equal on all, so all processes stop together.
  for (int run = 0; run < effort.minimum_runs || (total < effort.seconds && run < effort.maximum_runs); ++run) {
    for (Timed& one : timed) total += one.block(one.repeats);
  }

  Result result;
  result.bench = "allreduce";
  result.parameters = {
      {"elements", std::int64_t(c.elements)}, {"method", c.method}, {"processes", std::int64_t(group.size())}};
  result.seconds = timed[0].slowest();
  result.ceilings = no_ceilings();
  const auto [low, average, high] = timed[0].min_average_max();
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  std::array<double, 3> mpi{none, none, none};
  double mpi_median = none;
  if (timed.size() > 1) {
    mpi = timed[1].min_average_max();
    mpi_median = timed[1].slowest().median;
  }
  result.outcome = {{"by", summed_by(c)},
                    {"median", result.seconds.median},
                    {"min", low},
                    {"average", average},
                    {"max", high},
                    {"mpi_median", mpi_median},
                    {"mpi_min", mpi[0]},
                    {"mpi_average", mpi[1]},
                    {"mpi_max", mpi[2]},
                    {"speedup", mpi_median / result.seconds.median},
                    {"exact", timed[0].exact()}};
  return result;
}

}  // namespace halocline::bench
