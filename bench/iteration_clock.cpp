// SPDX-License-Identifier: Apache-2.0
#include "bench/iteration_clock.hpp"

#include <omp.h>

#include <numeric>
#include <utility>

namespace halocline::bench {

IterationClock::IterationClock(const comm::Communicator& group, Work companion, int companion_repeats, int stride)
    : group_(&group), companion_(std::move(companion)), companion_repeats_(companion_repeats), stride_(stride) {}

void IterationClock::start() {
  running_ = true;
  begin_ = now();
  cpu_begin_ = cpu_now();
}

void IterationClock::tick() {
  if (running_) samples_.push_back({now() - begin_, (cpu_now() - cpu_begin_) / omp_get_max_threads()});
  if (ticks_++ % stride_ == 0) {
    companion_samples_.push_back(time_block(*group_, companion_, companion_repeats_));
    group_->barrier();
  }
  start();
}

std::vector<Sample> IterationClock::slowest() const {
  std::vector<double> values;
  for (const Sample& sample : samples_) values.insert(values.end(), {sample.wall, sample.cpu});
  group_->max(values);
  std::vector<Sample> found;
  for (std::size_t i = 0; i < values.size(); i += 2) found.push_back({values[i], values[i + 1]});
  return found;
}

Spread IterationClock::iterations() const { return spread(slowest()); }

double IterationClock::total() const {
  const auto found = slowest();
  return std::accumulate(found.begin(), found.end(), 0.0, [](double sum, const Sample& s) { return sum + s.wall; });
}

}  // namespace halocline::bench
