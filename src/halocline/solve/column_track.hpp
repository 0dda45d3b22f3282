// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The course of one column within a cycle: its residuals so far, and whether it goes on.
///
/// detail/monitor.hpp keeps one track for each column. A recursion on a device (recursion.hpp) keeps a copy beside its
/// scalars and records the same numbers by the same code. So it stops at the iteration at which the host would act.

#include "halocline/core/device.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::solve {

/// False for NaN and infinity. For host and device.
HALOCLINE_INLINE bool finite(double x) { return x - x == 0.0; }

struct ColumnTrack {
  /// If |r|^2 grows by more than this factor within a cycle, the recursion carries no information in any precision.
  static constexpr double explosion2 = 1e20;

  // Set once.
  double goal2 = 0.0;         ///< |r|^2 that is small enough
  double replacement2 = 0.0;  ///< square of SolveOptions::replacement; 0: never
  int interval = 1;           ///< SolveOptions::replacement_interval
  int window = 0;             ///< SolveOptions::stagnation_window
  int most_iterations = 0;    ///< SolveOptions::max_iterations
  // What happened.
  int iterations = 0;
  int in_cycle = 0;      ///< iterations of this cycle
  int since_lowest = 0;  ///< iterations since lowest2
  double current2 = 0.0;
  double cycle_start2 = 0.0;
  double lowest2 = 0.0;   ///< within the cycle
  double highest2 = 0.0;  ///< since the residual was last recomputed
  bool active = true;     ///< iterates
  bool has_cause = false;
  Reason cause = Reason::converged;  ///< if it has one: why it was paused in this cycle

  /// Begins a cycle with |b - A x|^2.
  HALOCLINE_INLINE void begin_cycle(double true_norm2) {
    current2 = cycle_start2 = lowest2 = highest2 = true_norm2;
    since_lowest = in_cycle = 0;
    has_cause = false;
    active = true;
  }

  HALOCLINE_INLINE void pause(Reason why) {
    if (!active) return;
    active = false;
    has_cause = true;
    cause = why;
  }

  HALOCLINE_INLINE bool small_enough(double norm2) const { return norm2 <= goal2; }

  /// Takes |r|^2 after an iteration. Pauses the column if it is done.
  HALOCLINE_INLINE void record(double norm2) {
    if (!active) return;
    ++iterations;
    ++in_cycle;
    current2 = norm2;
    if (norm2 > highest2) highest2 = norm2;
    if (norm2 < lowest2) {
      lowest2 = norm2;
      since_lowest = 0;
    } else {
      ++since_lowest;
    }
    if (!finite(norm2))
      pause(Reason::not_finite);
    else if (small_enough(norm2))
      pause(Reason::converged);
    else if (iterations >= most_iterations)
      pause(Reason::iteration_limit);
    else if (norm2 > explosion2 * cycle_start2)
      pause(Reason::breakdown);
    else if (since_lowest >= window)
      pause(Reason::stagnation);
  }

  /// As Monitor::wants_replacement(), of this column.
  HALOCLINE_INLINE bool wants_replacement() const {
    if (!active || !(current2 < replacement2 * highest2)) return false;
    return in_cycle % interval == 0 || current2 < replacement2 * replacement2 * replacement2 * highest2;
  }

  /// Whether the column may well be paused, or want a replacement, after its next iteration. A guess: |r|^2 may fall
  /// sixteenfold.
  HALOCLINE_INLINE bool nears_a_stop() const {
    if (!active) return false;
    const double guess2 = current2 / 16;
    return small_enough(guess2) || iterations + 1 >= most_iterations ||
           (guess2 < replacement2 * highest2 && (in_cycle + 1) % interval == 0);
  }
};

}  // namespace halocline::solve
