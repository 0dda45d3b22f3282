// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One batch of right-hand sides on its way through QuarkSolver: corrections D e = r until the residual of the full
/// operator is there, a method after the other where one fails.
///
/// Every column is judged by |b - D x| / |b| in double after each correction, and is done when that is within the
/// tolerance or nothing helps any more. A correction is added to the columns that it helps; what is not finite, or
/// longer than what it started from, is left alone. Sources are brought to a norm between 1/2 and 1 by powers of two,
/// so that a small one does not meet the end of single precision's range. Sources whose square would leave the range of
/// double are brought near 1 before their norm is taken: else one of 1e-170 would pass for zero, and solved.

#include <span>
#include <string>
#include <vector>

#include "halocline/comm/group/communicator.hpp"
#include "halocline/qcd/quark/detail/batch_engine.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"

namespace halocline::qcd {

class ColumnSolves {
public:
  using Progress = QuarkSolver::Progress;

  /// @param batch    referred to; what it held before is lost
  /// @param group    the processes that share the sources
  /// @param sources  at most batch.columns(); columns beyond are zero. A source that is not finite, or outside 1e-289
  ///                 to 1e289, is given up at once, and its report says why.
  /// Collective: yes.
  ColumnSolves(BatchEngine& batch, const comm::Communicator& group, const SolverParameters& parameters,
               std::span<const std::span<const std::complex<double>>> sources, const Progress& progress);

  /// Runs the methods in turn. @param plan  names of BatchEngine::correct; the same twice in a row starts again
  void run(std::span<const std::string> plan);

  bool any_active() const noexcept;

  void note(SolveNote note) { notes_.push_back(std::move(note)); }
  /// Takes the solutions out. @param seconds  of all columns together
  std::vector<SolveReport> finish(std::span<const std::span<std::complex<double>>> solutions, double seconds) const;
  /// The same without the solutions: what the batch holds times 2^exponents() is them.
  std::vector<SolveReport> reports(double seconds) const;
  std::vector<int> exponents() const;

private:
  struct Column {
    int exponent = 0;        ///< the source is 2^exponent times what the batch holds
    double source_norm = 0;  ///< of that
    double residual = 0;     ///< |b - D x| / |b|
    bool active = false;
    solve::Reason reason = solve::Reason::converged;
    int iterations = 0;
    std::vector<double> history;
    std::string remark;  ///< about the source
  };

  void give_up(std::size_t column, double residual, const char* remark);
  double worst() const noexcept;
  solve::SolveResult correct(const std::string& method, double caution);
  void add_correction(const solve::SolveResult& result);

  BatchEngine* batch_;
  const SolverParameters* parameters_;
  const Progress* progress_;
  std::vector<Column> columns_;
  std::size_t given_;
  std::string method_;
  std::vector<SolveNote> notes_;
};

}  // namespace halocline::qcd
