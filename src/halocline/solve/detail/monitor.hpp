// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The bookkeeping common to all linear solvers: which columns still iterate, which are finished, and why.
///
/// A solve is a sequence of cycles. A cycle starts from the true residual of x. Within a cycle a column is *active*
/// until the recursion reports an event: residual small enough, denominator vanished, limit reached, ... Then it is
/// *paused*: the solver gives it zero coefficients while the other columns go on. When all columns are paused, the true
/// residual is recomputed and `begin_cycle` decides. A column within the tolerance, or without prospect of progress, is
/// *finished*; the others start the next cycle. No decision about a column depends on another column, so a batch gives
/// bit for bit the results of its columns alone. (Block solvers mix the columns on purpose; see block_cg.hpp.)
///
/// Over a cycle the true residual must fall: to a half if the recursion claimed convergence, by a thousandth otherwise.
/// A column that fails in two cycles in a row ends with `stagnation`. A column that fails after a breakdown ends with
/// `breakdown`.

#include <chrono>
#include <span>
#include <vector>

#include "halocline/solve/column_track.hpp"
#include "halocline/solve/result.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::solve::detail {

class Monitor {
public:
  /// @param source_norms2  shape (columns,): |b|^2. Zero finishes the column as converged, NaN or infinity as
  ///                       not_finite
  /// @param spent          iterations already spent on each column by an earlier phase; empty for none
  /// @throws InvalidArgument  impossible options, before any communication
  Monitor(const SolveOptions& options, std::span<const double> source_norms2, std::span<const int> spent = {});

  /// Judges x by |b - A x|^2. Returns true if any column still needs work.
  bool begin_cycle(std::span<const double> true_norms2);
  /// Whether some column is active.
  bool running() const noexcept;
  bool active(std::size_t column) const noexcept { return columns_[column].track.active; }
  /// For recursions (recursion.hpp), which may pause the column.
  ColumnTrack& track(std::size_t column) noexcept { return columns_[column].track; }
  /// Whether some column may well need the host after its next iteration (ColumnTrack::nears_a_stop).
  bool nears_a_stop() const noexcept;
  /// Ends the column's part in this cycle, for the given reason.
  void pause(std::size_t column, Reason cause) noexcept;
  /// Records |r|^2 of the active columns after an iteration, pauses columns that are done, reports progress.
  void step(std::span<const Scalar> norms2);
  /// Whether this squared norm would pause the column as converged.
  bool small_enough(std::size_t column, double norm2) const noexcept;
  /// numerator / denominator for an active column, otherwise zero. Pauses the column and returns zero if |denominator|
  /// <= floor (breakdown) or a value is not finite.
  Scalar quotient(std::size_t column, Scalar numerator, Scalar denominator, double floor = 0.0) noexcept;

  /// Whether some active column wants its residual to be recomputed: it is below `options.replacement` times its
  /// highest value since it was last recomputed, and the column has made a multiple of `options.replacement_interval`
  /// iterations in this cycle. All active columns have made the same number, so they decide together, each for itself.
  /// Below the cube of `options.replacement` a column wants it after any iteration. Rounding relative to the highest
  /// value then still leaves the residual a few per cent, in each storage and for the factor that suits the storage.
  bool wants_replacement() const noexcept;
  /// Shape (columns,): one for the columns that want a replacement, zero elsewhere.
  Scalars replacement_mask() const;
  /// Records the recomputed |r|^2 of the columns whose mask is not zero.
  void replaced(std::span<const Scalar> mask, std::span<const double> norms2) noexcept;

  /// Records one correction by an inner solver for the active columns, and reports progress. `inner` is the inner
  /// solver's result; `true_norms2` is |b - A x|^2 after the correction.
  void correct(const SolveResult& inner, std::span<const double> true_norms2);

  /// The result. Its total time counts from construction; the other timings are the given ones.
  SolveResult result(const Timings& timings) const;

private:
  struct Column {
    bool finished = false;
    Reason reason = Reason::converged;
    double tolerance = 0.0;
    double source2 = 0.0;        // |b|^2
    double residual = 0.0;       // true, relative
    double best_residual = 0.0;  // lowest true residual so far
    ColumnTrack track;
    int failures = 0;  // cycles in a row without enough progress
    std::vector<double> history;
  };
  void judge(Column& column, double true_norm2);
  void cancel() noexcept;
  void finish(Column& column, Reason reason) noexcept;

  SolveOptions options_;
  std::vector<Column> columns_;
  bool first_cycle_ = true;
  int replacements_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halocline::solve::detail
