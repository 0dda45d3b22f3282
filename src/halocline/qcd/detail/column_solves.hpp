// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One batch of right-hand sides on its way through QuarkSolver: corrections D e = r until the residual of the full
/// operator is there, a method after the other where one fails.
///
/// Every column is judged by |b - D x| / |b| in double after each correction, and is done when that is within the
/// tolerance or nothing helps any more. A correction is added to the columns that it helps; what is not finite, or
/// longer than what it started from, is left alone. Sources are brought to a norm between 1/2 and 1 by powers of two,
/// so that a small one does not meet the end of single precision's range.

#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/detail/quark_engine.hpp"

namespace halocline::qcd {

class ColumnSolves {
public:
  using Progress = QuarkSolver::Progress;

  /// @param sources  at most engine.columns(); columns beyond are zero. A source that is not finite is given up at
  /// once.
  ColumnSolves(QuarkEngine& engine, const SolverParameters& parameters,
               std::span<const std::span<const std::complex<double>>> sources, const Progress& progress);

  /// Runs the methods in turn. @param plan  names of QuarkEngine::correct; the same twice in a row starts again
  void run(std::span<const std::string> plan);

  /// b - D x of each column, scaled; zero in columns that nothing was given for.
  const SpinorField<double>& residual() const noexcept { return r_; }
  bool any_active() const noexcept;

  void note(const std::string& sentence) { notes_.push_back(sentence); }
  /// @param seconds  of all columns together
  std::vector<SolveReport> finish(std::span<const std::span<std::complex<double>>> solutions, double seconds) const;

private:
  struct Column {
    int exponent = 0;        ///< the source is 2^exponent times what b_ holds
    double source_norm = 0;  ///< of b_
    double residual = 0;     ///< |b - D x| / |b|
    bool active = false;
    solve::Reason reason = solve::Reason::converged;
    int iterations = 0;
    std::vector<double> history;
  };

  double worst() const noexcept;
  solve::SolveResult correct(const std::string& method, double caution);
  void add_correction(const solve::SolveResult& result);
  void take_residual();

  QuarkEngine* engine_;
  const SolverParameters* parameters_;
  const Progress* progress_;
  SpinorField<double> b_, x_, r_, e_;
  std::vector<Column> columns_;
  std::size_t given_;
  std::string method_;
  std::vector<std::string> notes_;
};

}  // namespace halocline::qcd
