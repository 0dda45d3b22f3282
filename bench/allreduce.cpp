// SPDX-License-Identifier: Apache-2.0
#include "bench/allreduce.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <ctime>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

constexpr int most_elements = 32;
constexpr std::array methods{"shared_memory", "messages", "mpi", "mpi-split", "auto"};

/// Replaces the values by their sums.
template <class T>
using Sum = std::function<void(std::span<T>)>;

/// The sum by MPI_Allreduce; empty for a group without MPI.
template <class T>
Sum<T> mpi_sum([[maybe_unused]] const comm::Communicator& group) {
#if HALOCLINE_HAVE_MPI
  const MPI_Comm mpi = comm::mpi_comm(group);
  if (mpi == MPI_COMM_NULL) return {};
  return [mpi, rank = group.rank()](std::span<T> values) {
    const MPI_Datatype type = std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
    comm::check_mpi(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), type, MPI_SUM, mpi),
                    "MPI_Allreduce", rank);
  };
#else
  return {};
#endif
}

std::shared_ptr<comm::Reduction> reduction_of(const comm::Communicator& group, const AllreduceCase& c) {
  comm::ReductionOptions options{.longest = most_elements};
  options.shared_memory = c.method != "messages";
  if (c.method != "shared_memory" && c.method != "messages") options.way = comm::sum_way_named(c.method);
  return std::make_shared<comm::Reduction>(group, options);
}

template <class T>
Sum<T> sum_by(std::shared_ptr<comm::Reduction> reduction) {
  return [reduction = std::move(reduction)](std::span<T> values) {
    if (values.empty()) return;
    if constexpr (std::is_same_v<T, double>) {
      reduction->sum(values);
    } else {
      std::array<double, most_elements> wide{};
      std::ranges::copy(values, wide.begin());
      reduction->sum(std::span<double>(wide).first(values.size()));
      std::ranges::transform(std::span(wide).first(values.size()), values.begin(),
                             [](double sum) { return static_cast<T>(sum); });
    }
  };
}

/// The value of a rank, chosen so that sums depend on the order of the additions.
template <class T>
T term(int rank, int element) {
  return static_cast<T>((rank % 2 == 0 ? 1.0 : -0.9) / (3.0 + rank + element));
}

/// Measures one way to sum.
template <class T>
class Timed {
public:
  Timed(const comm::Communicator& group, Sum<T> sum, const AllreduceCase& c)
      : group_(group), sum_(std::move(sum)), barrier_(c.barrier) {
    for (int i = 0; i < c.elements; ++i) terms_.push_back(term<T>(group.rank(), i));
    values_ = terms_;
  }

  /// Times a block of sums. @return its wall time on the slowest process
  double block(int times) {
    group_.barrier();
    timespec cpu{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
    const double cpu_begin = seconds(cpu), begin = now();
    double inside = 0;
    for (int i = 0; i < times; ++i) {
      std::copy(terms_.begin(), terms_.end(), values_.begin());
      if (barrier_) group_.barrier();
      const double sum_begin = barrier_ ? now() : 0;
      sum_(values_);
      if (barrier_) inside += now() - sum_begin;
    }
    const double wall = barrier_ ? inside : now() - begin;
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

  /// Whether the last values are the sums in rank order, rounded to T at the end, on every process. Collective.
  bool exact() const {
    bool right = true;
    for (int i = 0; i < static_cast<int>(values_.size()); ++i) {
      double expected = term<T>(0, i);
      for (int rank = 1; rank < group_.size(); ++rank) expected += term<T>(rank, i);
      right = right && values_[static_cast<std::size_t>(i)] == static_cast<T>(expected);
    }
    return group_.all(right);
  }

  int repeats = 1;

private:
  static double seconds(const timespec& time) {
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  comm::Communicator group_;
  Sum<T> sum_;
  bool barrier_;
  std::vector<T> terms_, values_;
  std::vector<double> mine_;    ///< of this process, for each block
  std::vector<Sample> blocks_;  ///< of the slowest process, for each block
};

void check(const comm::Communicator& group, const AllreduceCase& c) {
  if (c.elements < 0 || c.elements > most_elements) {
    throw core::InvalidArgument(
        fmt::format("a sum of {} elements was asked for; give 0 to {}", c.elements, most_elements));
  }
  if (std::ranges::find(methods, c.method) == methods.end())
    throw core::InvalidArgument(
        fmt::format("the method is \"{}\"; give shared_memory, messages, mpi, mpi-split or auto", c.method));
  if (c.precision != "float" && c.precision != "double")
    throw core::InvalidArgument(fmt::format("the precision is \"{}\"; give float or double", c.precision));
  if (c.method.starts_with("mpi") && !mpi_sum<double>(group)) {
    throw core::InvalidArgument(fmt::format(
        "the method is \"{}\", but this group does not stand on MPI; give shared_memory or messages", c.method));
  }
}

template <class T>
Result measure(const comm::Communicator& group, const AllreduceCase& c, const Effort& effort) {
  const std::shared_ptr<comm::Reduction> reduction = reduction_of(group, c);
  std::vector<Timed<T>> timed;
  timed.emplace_back(group, sum_by<T>(reduction), c);
  if (const Sum<T> mpi = mpi_sum<T>(group)) timed.emplace_back(group, mpi, c);
  for (Timed<T>& one : timed) one.choose_repeats(effort.block_seconds);
  double total = 0;
  // The time of a block is that of the slowest process and equal on all, so all processes stop together.
  for (int run = 0; run < effort.minimum_runs || (total < effort.seconds && run < effort.maximum_runs); ++run) {
    for (Timed<T>& one : timed) total += one.block(one.repeats);
  }

  Result result;
  result.bench = "allreduce";
  result.parameters = {{"elements", std::int64_t(c.elements)},
                       {"precision", c.precision},
                       {"method", c.method},
                       {"barrier", c.barrier},
                       {"processes", std::int64_t(group.size())}};
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
  const auto elements = static_cast<std::size_t>(c.elements);
  result.outcome = {{"by", std::string(name(reduction->way(elements)))},
                    {"bytes", static_cast<std::int64_t>(elements * sizeof(T))},
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

}  // namespace

Result allreduce(const comm::Communicator& group, const AllreduceCase& c, const Effort& effort) {
  effort.validate();
  check(group, c);
  return c.precision == "float" ? measure<float>(group, c, effort) : measure<double>(group, c, effort);
}

}  // namespace halocline::bench
