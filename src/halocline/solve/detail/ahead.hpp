// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The host's side of a solver whose iterations run ahead on a device (recursion.hpp).

#include <initializer_list>
#include <span>
#include <vector>

#include "halocline/solve/detail/monitor.hpp"
#include "halocline/solve/recursion.hpp"

namespace halocline::solve::detail {

/// The recursion of a problem in one cycle. False if the problem has none; then the members do nothing.
template <class Problem>
class Ahead {
public:
  using Vector = typename Problem::Vector;

  /// Refers to its arguments. @param preconditioned  no recursion then
  Ahead(Problem& problem, Monitor& monitor, std::span<RecursionScalars> scalars, bool preconditioned)
      : monitor_(&monitor), scalars_(scalars) {
    if constexpr (offered)
      if (!preconditioned) on_ = problem.recursion();
    resume();
  }

  explicit operator bool() const {
    if constexpr (offered) return on_ != nullptr;
    return false;
  }

  /// Takes the report of one iteration. Returns whether the host must act before the next one; the scalars are then
  /// those after the last sum of the iteration.
  /// @param vectors  all vectors of an iteration; @param body  `body(recursion)` enqueues one
  template <class Body>
  bool iterate(std::initializer_list<const Vector*> vectors, const Body& body) {
    if constexpr (offered) {
      on_->run_ahead(monitor_->nears_a_stop() ? 1 : 2, vectors, [&] { body(*on_); });
      const RecursionReport report = on_->wait();
      if (report.stopped) take_over(on_->fetch());
      monitor_->step(report.norms2);
      return report.stopped;
    }
    return true;
  }

  /// The device goes on from the scalars.
  void resume() {
    if constexpr (offered) {
      if (on_ == nullptr || !monitor_->running()) return;
      std::vector<RecursionColumn> columns(scalars_.size());
      for (std::size_t c = 0; c < scalars_.size(); ++c) {
        columns[c].track = monitor_->track(c);
        columns[c].idle = !columns[c].track.active;
        if (!columns[c].idle) columns[c].scalars = scalars_[c];
      }
      on_->resume(columns);
    }
  }

private:
  static constexpr bool offered = requires(Problem& problem) { problem.recursion(); };
  struct None {};
  static auto kind() {
    if constexpr (offered)
      return static_cast<decltype(std::declval<Problem&>().recursion())>(nullptr);
    else
      return None{};
  }

  /// Takes the scalars of the device, and pauses the columns that broke down within the iteration.
  void take_over(std::span<const RecursionColumn> device) {
    for (std::size_t c = 0; c < scalars_.size(); ++c) {
      scalars_[c] = device[c].scalars;  // zeros for an idle column
      if (device[c].idle) continue;
      const ColumnTrack& track = device[c].track;
      if (!track.active && track.in_cycle == monitor_->track(c).in_cycle) monitor_->pause(c, track.cause);
    }
  }

  Monitor* monitor_;
  std::span<RecursionScalars> scalars_;
  decltype(kind()) on_{};
};

}  // namespace halocline::solve::detail
