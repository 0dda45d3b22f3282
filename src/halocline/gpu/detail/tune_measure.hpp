// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the candidates of one problem are measured.
///
/// A sample is a number of runs between two events, as many as take a millisecond. A round takes the median of five
/// samples of each candidate; of three rounds the least counts, so that neither a clock that rises nor another process
/// that comes and goes decides. Rounds go over all candidates, and from the second on only over those that are near the
/// best. A candidate that throws is passed over for good.
///
/// With a group, every process does the same number of runs at every step, and a time is the slowest process's: all
/// hold the same figures and decide alike.

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halocline/gpu/tuning.hpp"

namespace halocline::comm {
class Communicator;
}

namespace halocline::gpu::detail {

class Measurement {
public:
  using Run = std::function<void(const TuneParameters&)>;

  /// All of them must stay where they are. @param clock  empty: events  @param group  null: this process alone
  Measurement(Stream& stream, std::span<const TuneParameters> candidates, const Run& run, const Tuner::Clock& clock,
              const comm::Communicator* group = nullptr);

  /// The quickest candidate, the earliest of those that are equal. Collective: where there is a group.
  TuneEntry measure(const TuneProblem& problem);

  /// Every candidate failed, on this process or another; measure() then gave the first.
  bool nothing_runs() const;
  /// Of this process; null where there was none.
  std::exception_ptr last_error() const { return error_; }

private:
  struct Candidate {
    bool runs = true;
    int repeats = 1;  ///< runs in a sample
    double seconds;   ///< of one run; infinite before it was measured
  };

  void prepare(std::size_t i);
  void round(std::size_t i);
  double sample(std::size_t i);
  template <class Action>
  double agreed(std::size_t i, Action&& action);

  Stream& stream_;
  std::span<const TuneParameters> candidates_;
  const Run& run_;
  const Tuner::Clock& clock_;
  const comm::Communicator* group_;
  std::optional<Event> begin_, end_;
  std::vector<Candidate> state_;
  std::exception_ptr error_;
  std::string failure_;
};

}  // namespace halocline::gpu::detail
