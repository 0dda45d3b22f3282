// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/detail/tune_measure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::gpu::detail {

namespace {

constexpr double least_sample = 1e-3;  // [seconds]; events resolve about half a microsecond
constexpr int most_repeats = 1000;
constexpr std::size_t samples = 5;
constexpr int rounds = 3;
constexpr double near = 1.25;  // a candidate within this factor of the best is measured in the next round
constexpr double never = std::numeric_limits<double>::infinity();

}  // namespace

Measurement::Measurement(Stream& stream, std::span<const TuneParameters> candidates, const Run& run,
                         const Tuner::Clock& clock, const comm::Communicator* group)
    : stream_(stream),
      candidates_(candidates),
      run_(run),
      clock_(clock),
      group_(group),
      state_(candidates.size(), Candidate{.runs = true, .repeats = 1, .seconds = never}) {
  if (clock_) return;
  begin_.emplace(stream.device(), true);
  end_.emplace(stream.device(), true);
}

/// Runs `action` and returns its seconds; with a group, those of the slowest process. If it throws on any process, the
/// candidate is excluded and the answer is infinite.
template <class Action>
double Measurement::agreed(std::size_t i, Action&& action) {
  double seconds = never;
  try {
    seconds = action();
    if (!(seconds >= 0)) seconds = 0;  // a clock that runs backwards, or returns NaN
  } catch (const std::exception& error) {
    error_ = std::current_exception();
    failure_ = error.what();
  } catch (...) {
    error_ = std::current_exception();
    failure_ = "an exception of unknown type";
  }
  if (group_ != nullptr) group_->max({&seconds, 1});
  if (seconds == never) {
    state_[i].runs = false;
    if (failure_.empty()) failure_ = "it failed on another process";
  }
  return seconds;
}

double Measurement::sample(std::size_t i) {
  const auto once = [&] { run_(candidates_[i]); };
  if (clock_) return clock_(stream_, once);
  stream_.record(*begin_);
  for (int n = 0; n < state_[i].repeats; ++n) once();
  stream_.record(*end_);
  end_->wait();
  return Event::elapsed(*begin_, *end_) / state_[i].repeats;
}

/// Warms up, and determines how many runs make a sample.
void Measurement::prepare(std::size_t i) {
  agreed(i, [&] {
    run_(candidates_[i]);
    stream_.synchronize();
    return 0.0;
  });
  Candidate& candidate = state_[i];
  while (candidate.runs && !clock_ && candidate.repeats < most_repeats) {
    const double seconds = agreed(i, [&] { return sample(i); });
    if (seconds * candidate.repeats >= least_sample) break;
    const double wanted = seconds > 0 ? 1.1 * least_sample / seconds : most_repeats;
    candidate.repeats =
        static_cast<int>(std::min(std::max(std::ceil(wanted), 2.0 * candidate.repeats), 1.0 * most_repeats));
  }
}

void Measurement::round(std::size_t i) {
  const double median = agreed(i, [&] {
    std::array<double, samples> all{};
    for (double& one : all) one = sample(i);
    std::nth_element(all.begin(), all.begin() + samples / 2, all.end());
    return all[samples / 2];
  });
  state_[i].seconds = state_[i].runs ? std::min(state_[i].seconds, median) : never;
}

TuneEntry Measurement::measure(const TuneProblem& problem) {
  for (std::size_t i = 0; i < state_.size(); ++i) prepare(i);
  const auto slower = [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; };
  for (int n = 0; n < rounds; ++n) {
    const double limit = n == 0 ? never : near * std::min_element(state_.begin(), state_.end(), slower)->seconds;
    for (std::size_t i = 0; i < state_.size(); ++i)
      if (state_[i].runs && (n == 0 || state_[i].seconds <= limit)) round(i);
  }
  const auto best = std::min_element(state_.begin(), state_.end(), slower);
  TuneEntry entry;
  entry.parameters = candidates_[static_cast<std::size_t>(best - state_.begin())];
  entry.seconds = best->runs ? best->seconds : 0;
  entry.bytes = problem.bytes;
  entry.flops = problem.flops;
  entry.first_seconds = state_[0].runs ? state_[0].seconds : 0;
  entry.candidates = static_cast<int>(state_.size());
  entry.failed =
      static_cast<int>(std::count_if(state_.begin(), state_.end(), [](const Candidate& c) { return !c.runs; }));
  entry.failure = entry.failed > 0 ? failure_ : "";
  return entry;
}

bool Measurement::nothing_runs() const {
  return std::none_of(state_.begin(), state_.end(), [](const Candidate& c) { return c.runs; });
}

}  // namespace halocline::gpu::detail
