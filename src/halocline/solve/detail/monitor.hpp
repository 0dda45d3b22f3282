// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The bookkeeping that all linear solvers share: who still iterates, who is done, and why.
///
/// A solve is a sequence of cycles. A cycle starts from the true residual of x. Inside it a column is *active* until
/// the recursion has something to say about it (residual small enough, denominator vanished, limit spent, ...); then
/// it is *paused*: the solver gives it zero coefficients while the others go on. When all are paused the true
/// residual is recomputed and `begin_cycle` judges: a column within the tolerance, or out of luck, is *finished*;
/// the others start the next cycle. Nothing in a column's fate depends on another column, so a batch
/// gives bit for bit what its columns give alone.
///
/// Progress over a cycle is demanded of the true residual: half where the recursion claimed convergence, a
/// thousandth otherwise. A column that fails twice stagnates; one that broke down without any progress broke down.

#include <chrono>
#include <span>
#include <vector>

#include "halocline/solve/result.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::solve::detail {

class Monitor {
public:
  /// @param source_norms2  shape (columns,): |b|^2; zero finishes the column as converged, NaN or infinity as
  /// not_finite
  /// @param spent          iterations already spent on each column by an earlier phase; empty for none
  /// @throws InvalidArgument  impossible options, before any communication
  Monitor(const SolveOptions& options, std::span<const double> source_norms2, std::span<const int> spent = {});

  /// Judges x by |b - A x|^2; true when a column remains to be worked on.
  bool begin_cycle(std::span<const double> true_norms2);
  /// Some column is active.
  bool running() const noexcept;
  bool active(std::size_t column) const noexcept { return columns_[column].state == State::active; }
  /// Ends the column's part in this cycle.
  void pause(std::size_t column, Reason cause) noexcept;
  /// Records |r|^2 of the active columns after an iteration, pauses those that are through, reports progress.
  void step(std::span<const Scalar> norms2);
  /// This squared norm would pause the column as converged.
  bool small_enough(std::size_t column, double norm2) const noexcept;
  /// numerator / denominator; zero for a column that is not active; pauses the column and gives zero where
  /// |denominator| <= floor (breakdown) or a value is not finite.
  Scalar quotient(std::size_t column, Scalar numerator, Scalar denominator, double floor = 0.0) noexcept;

  /// Some active column's residual has fallen by `options.replacement` since it was last recomputed.
  bool wants_replacement() const noexcept;
  /// Shape (columns,): one for the columns that want it, zero elsewhere.
  Scalars replacement_mask() const;
  /// Tells the recomputed |r|^2; `mask` as above.
  void replaced(std::span<const Scalar> mask, std::span<const double> norms2) noexcept;

  /// Books one correction by an inner solver, whose result by columns is given, on the active columns, and reports
  /// progress; `true_norms2` is |b - A x|^2 after it.
  void correct(const SolveResult& inner, std::span<const double> true_norms2);

  /// The answer; total time counts from construction, the other timings are as given.
  SolveResult result(const Timings& timings) const;

private:
  enum class State { active, paused, finished };
  struct Column {
    State state = State::active;
    Reason reason = Reason::converged;
    double tolerance = 0.0;
    bool has_cause = false;
    Reason cause = Reason::converged;
    double source2 = 0.0;        // |b|^2
    double residual = 0.0;       // true, relative
    double best_residual = 0.0;  // lowest true residual so far
    double current2 = 0.0;       // |r|^2 of the recursion
    double cycle_start2 = 0.0;   // at the start of the cycle
    double lowest2 = 0.0;        // lowest within the cycle
    double highest2 = 0.0;       // highest since the residual was last recomputed
    int since_lowest = 0;
    int iterations = 0;
    int failures = 0;  // cycles in a row without enough progress
    std::vector<double> history;
  };
  void judge(Column& column, double true_norm2);
  void cancel() noexcept;
  void finish(Column& column, Reason reason) noexcept;
  bool wants(const Column& column) const noexcept;

  SolveOptions options_;
  std::vector<Column> columns_;
  bool first_cycle_ = true;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace halocline::solve::detail
