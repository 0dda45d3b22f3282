// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Measures the candidates of one tuning problem.
///
/// A sample is a number of runs between two events, as many as take a millisecond. A round takes the median of five
/// samples of each candidate. The fastest of three rounds counts, so that neither a rising clock frequency nor another
/// process that comes and goes decides. The first round measures all candidates; later rounds measure only candidates
/// within 25 % of the best. A candidate that throws is excluded for good.
///
/// With a group, every process does the same number of runs in every step, and the time of the slowest process counts.
/// All processes hold the same figures and reach the same decision.

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

  /// All arguments must outlive the object. @param clock  empty: events  @param group  null: this process alone
  Measurement(Stream& stream, std::span<const TuneParameters> candidates, const Run& run, const Tuner::Clock& clock,
              const comm::Communicator* group = nullptr);

  /// The fastest candidate; the earliest among equals. Collective: with a group.
  TuneEntry measure(const TuneProblem& problem);

  /// Every candidate failed, on this process or another. measure() then returned the first candidate.
  bool nothing_runs() const;
  /// The last error on this process; null if there was none.
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
