// SPDX-License-Identifier: Apache-2.0
#include "bench/timing.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

constexpr double seconds_of_energy = 1.0;
constexpr double seconds_of_an_energy_block = 0.05;
EnergyCounter energy_counter;

/// Number of executions that last `seconds`, found by increasing it; also warms up.
int repeats_for(const comm::Communicator& group, const Work& work, double seconds) {
  time_block(group, work);
  int repeats = 1;
  for (;;) {
    // The better of two times, so that one interruption does not make every block too short.
    const double each = std::min(time_block(group, work, repeats).wall, time_block(group, work, repeats).wall);
    if (repeats * each >= seconds || repeats >= 1 << 20) return repeats;
    const double wanted = std::min(seconds / std::max(each, 1e-9), 4.0 * repeats);
    repeats = std::max(repeats + 1, static_cast<int>(wanted));
  }
}

/// The median of the numbers; sorts them.
double sort_to_median(std::vector<double>& numbers) {
  std::ranges::sort(numbers);
  return 0.5 * (numbers[(numbers.size() - 1) / 2] + numbers[numbers.size() / 2]);
}

/// As measure_in_turns(), without energy.
std::vector<Spread> in_turns(const comm::Communicator& group, std::span<const Work> works, const Effort& effort) {
  effort.validate();
  std::vector<int> repeats;
  std::vector<std::vector<Sample>> samples(works.size());
  double block_seconds = effort.block_seconds;
  for (const Work& work : works) {
    repeats.push_back(repeats_for(group, work, block_seconds));
    block_seconds = std::max(block_seconds, repeats.back() * time_block(group, work, repeats.back()).wall);
  }
  double total = 0;
  // Times are those of the slowest process and equal on all, so all processes stop together.
  for (int run = 0; run < effort.minimum_runs || (total < effort.seconds && run < effort.maximum_runs); ++run)
    for (std::size_t i = 0; i < works.size(); ++i) {
      samples[i].push_back(time_block(group, works[i], repeats[i]));
      total += repeats[i] * samples[i].back().wall;
    }
  std::vector<Spread> spreads;
  for (const auto& of_one : samples) spreads.push_back(spread(of_one));
  return spreads;
}

}  // namespace

void Effort::validate() const {
  if (!(seconds > 0) || !(block_seconds > 0))
    throw core::InvalidArgument(fmt::format(
        "a measurement of {} s in blocks of {} s was asked for; both must be positive", seconds, block_seconds));
  if (minimum_runs < 1 || maximum_runs < minimum_runs)
    throw core::InvalidArgument(
        fmt::format("from {} to {} runs were asked for; give at least 1, and no fewer at most than at least",
                    minimum_runs, maximum_runs));
}

double now() noexcept {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

Spread spread(std::span<const Sample> samples) {
  if (samples.empty()) throw core::InvalidArgument("the spread of no times was asked for; measure at least once");
  std::vector<double> wall, cpu;
  for (const Sample& sample : samples) {
    wall.push_back(sample.wall);
    cpu.push_back(sample.cpu);
  }
  const double median = sort_to_median(wall);
  return {.median = median,
          .minimum = wall.front(),
          .maximum = wall.back(),
          .runs = static_cast<int>(wall.size()),
          .cpu = sort_to_median(cpu)};
}

Sample time_block(const comm::Communicator& group, const Work& work, int repeats) {
  group.barrier();
  const double begin = now(), cpu_begin = cpu_now();
  for (int i = 0; i < repeats; ++i) work();
  std::array<double, 2> mine{now() - begin, (cpu_now() - cpu_begin) / omp_get_max_threads()};
  group.max(mine);
  return {mine[0] / repeats, mine[1] / repeats};
}

Spread measure(const comm::Communicator& group, const Work& work, const Effort& effort) {
  return in_turns(group, std::span(&work, 1), effort)[0];
}

std::vector<Spread> measure_in_turns(const comm::Communicator& group, std::span<const Work> works,
                                     const Effort& effort) {
  auto spreads = in_turns(group, works, effort);
  for (std::size_t i = 0; i < works.size(); ++i) count_energy(spreads[i], group, works[i]);
  return spreads;
}

Pair measure_together(const comm::Communicator& group, const Work& work, const Work& companion, const Effort& effort) {
  const std::array works{work, companion};
  auto spreads = in_turns(group, works, effort);
  count_energy(spreads[0], group, work);
  return {spreads[0], spreads[1]};
}

void set_energy_counter(EnergyCounter counter) { energy_counter = std::move(counter); }

void count_energy(Spread& measured, const comm::Communicator& group, const Work& work) {
  count_energy(measured, [&](int executions) { return time_block(group, work, executions).wall; });
}

void count_energy(Spread& measured, const std::function<double(int)>& block) {
  if (!energy_counter) return;
  const double before = energy_counter();
  if (std::isnan(before)) return;
  const int repeats = static_cast<int>(std::clamp(seconds_of_an_energy_block / measured.median, 1.0, 1e6));
  double seconds = 0;
  std::int64_t executions = 0;
  for (; seconds < seconds_of_energy; executions += repeats) seconds += repeats * block(repeats);
  const double used = energy_counter() - before;
  measured.joules = used / static_cast<double>(executions);
  measured.watts = used / seconds;
}

Threads::Threads(int count) : before_(omp_get_max_threads()) {
  if (count < 1 || count > 4096)
    throw core::InvalidArgument(fmt::format("{} threads were asked for; give a number from 1 to 4096", count));
  omp_set_num_threads(count);
}
Threads::~Threads() { omp_set_num_threads(before_); }

}  // namespace halocline::bench
