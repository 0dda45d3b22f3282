// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The solve of one batch of right-hand sides in QuarkSolver: corrections D e = r until the residual of the full
/// operator is within the tolerance. If one method fails, the next one continues.
///
/// After each correction every column is judged by |b - D x| / |b| in double. A column is finished when this is within
/// the tolerance, or when no method lowers it any more. A correction is added to a column only if it is finite and does
/// not raise the residual of the inner system.
///
/// Every source is scaled by a power of two to a norm between 1/2 and 1, so that a small source does not leave the
/// range of single precision. A source whose square would leave the range of double is scaled to about 1 before its
/// norm is taken. Otherwise a source of 1e-170 would count as zero, and as solved.

#include <optional>
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
  /// In a plan: improve what the method before it works with (BatchEngine::renew), and try that method again. Skipped
  /// where there is nothing to improve.
  static constexpr const char* renewal = "renewal";

  /// @param batch    referred to, and overwritten
  /// @param group    the processes among which the sources are distributed
  /// @param sources  at most batch.columns(); the remaining columns are zero. A source that is not finite, or whose
  ///                 largest number is outside 1e-289 to 1e289, is not solved, and its report gives the reason.
  /// Collective: yes.
  ColumnSolves(BatchEngine& batch, const comm::Communicator& group, const SolverParameters& parameters,
               std::span<const std::span<const std::complex<double>>> sources, const Progress& progress);

  /// Makes the first correction of run() in advance, as run() would make it, bit for bit. If `watch` ends it, nothing
  /// is kept. A later call replaces an earlier one.
  /// @param watch  called after every iteration with its number and the worst residual; false ends the correction
  /// @returns  the result of the correction; `cancelled` in some column if `watch` or the solver's progress ended it
  /// Collective: yes.
  solve::SolveResult begin(const std::string& method, const Progress& watch);

  /// Runs the methods one after the other, until all columns are finished. If the first of them has made its first
  /// correction already (begin), it goes on from there.
  /// @param plan  method names for BatchEngine::correct; a repeated name restarts from the true residual. `renewal` may
  ///              stand between two methods.
  /// Collective: yes.
  void run(std::span<const std::string> plan);

  bool any_active() const noexcept;

  void note(SolveNote note) { notes_.push_back(std::move(note)); }
  /// Writes the solutions and returns the reports. @param seconds  time of all columns together
  std::vector<SolveReport> finish(std::span<const std::span<std::complex<double>>> solutions, double seconds) const;
  /// The reports alone. The solutions stay in the batch: column c of its x, times 2^exponents()[c].
  std::vector<SolveReport> reports(double seconds) const;
  std::vector<int> exponents() const;

private:
  struct Column {
    int exponent = 0;        ///< the source is 2^exponent times the b of the batch
    double source_norm = 0;  ///< |b| in the batch
    double residual = 0;     ///< |b - D x| / |b|
    bool active = false;
    solve::Reason reason = solve::Reason::converged;
    int iterations = 0;
    std::string method;  ///< the last one that worked on it
    std::vector<double> history;
    std::string remark;  ///< about the source
  };

  void give_up(std::size_t column, double residual, const char* remark);
  double worst() const noexcept;
  /// Goes to the next stage of the plan after a failure, and notes it.
  void go_on(std::span<const std::string> plan, std::size_t& stage, const Column& failed);
  /// Notes how near D is to a singular operator, where it is known.
  void note_low_mode();
  solve::SolveResult correct(const std::string& method, double caution, const Progress& watch = {});
  void add_correction(const solve::SolveResult& result);

  BatchEngine* batch_;
  const SolverParameters* parameters_;
  const Progress* progress_;
  int replacements_ = 0;  ///< reliable updates of all corrections
  std::vector<Column> columns_;
  std::size_t given_;
  std::string method_;
  std::vector<SolveNote> notes_;
  /// The correction that begin() made, which the batch holds.
  struct Beginning {
    std::string method;
    solve::SolveResult result;
  };
  std::optional<Beginning> begun_;
};

}  // namespace halocline::qcd
