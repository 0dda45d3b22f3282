// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// D x = b by BiCGStab in single precision on D' K, inside a solver that keeps x and the residual in double.
///
/// K is the Schwarz preconditioner and D' = A^-1 D the operator of unit diagonal (schwarz.hpp). Where K is a fixed
/// linear operator the iteration is on D' K y = A^-1 r and corrects x by K y; where it is not (minimal residual, half),
/// each search direction is preconditioned explicitly and the corrections are summed as they come. The outer part
/// always computes b - D x in double with the plain operator. So the inner solver does not limit the accuracy of x, and
/// the residual in the result is the true one. The outer solver is one of:
///
/// - "bicgstab"           one BiCGStab with reliable updates (solve/reliable_update.hpp): each time its residual has
///                        fallen by a factor of a hundred, the correction is added to x and the residual is replaced by
///                        the one in double; the search directions are kept
/// - "defect_correction"  a new BiCGStab for each correction (solve/defect_correction.hpp)
/// - "gcr"                GCR in double, whose flexible preconditioner is a rough inner solve: the corrections are
///                        combined to the least residual, at the price of two fields for each correction
///
/// The first is the default because it needs the fewest iterations. On a quenched 16^4 configuration (beta 6, csw
/// 1.769) at kappa 0.1351, to a residual of 1e-12, with nsap = 1:
///
///   | outer solver                                  | iterations |
///   |-----------------------------------------------|------------|
///   | bicgstab                                      | 179        |
///   | defect_correction, two digits a correction    | 205        |
///   | gcr, two digits a correction                  | 203        |
///
/// The fields in float are scaled, column by column, to a residual of norm 1. So neither a source of 1e-30 nor a
/// correction of 1e-14 leaves the range of float.

#include <memory>
#include <string>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::qcd::schwarz {

class SchwarzSolver {
public:
  /// @param d        the operator in double; must outlive the solver
  /// @param gauge    links with ghosts, read here and not kept; `gauge` and `action` are those of d
  /// @param outer    one of the names above
  /// @param columns  of the fields to come
  /// @throws InvalidArgument  as Schwarz does, and for an unknown name. Collective: yes.
  SchwarzSolver(const DiracOperator<double>& d, const GaugeField& gauge, const WilsonCloverAction& action,
                const Parameters& parameters, const std::string& outer = "bicgstab", int columns = 1,
                const std::string& transport = "");
  /// Uses the links and blocks of `matrix`, which other solvers may share. They must be those of d.
  /// @throws InvalidArgument  as above. Collective: yes.
  SchwarzSolver(const DiracOperator<double>& d, const Matrix& matrix, const std::string& outer = "bicgstab",
                int columns = 1, const std::string& transport = "");
  ~SchwarzSolver();
  SchwarzSolver(SchwarzSolver&&) noexcept;

  /// Solves D x = b on full fields of `columns` columns of d's layout. Iterations are those of the inner BiCGStab: two
  /// applications of D' K each. The options used are tolerance (down to 1e-14), max_iterations, restart_length (gcr),
  /// use_initial_guess, stagnation_window, inner_tolerance (defect_correction, gcr) and progress.
  /// @throws InvalidArgument  for fields of another shape. Collective: yes.
  /// Cost: 3 fields in double, 2 restart_length more with gcr, and 6 to 8 in float.
  solve::SolveResult solve(SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& options);

  const Schwarz& preconditioner() const noexcept;
  int columns() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The names of the outer solvers, the default first.
std::span<const char* const> outer_solvers() noexcept;

}  // namespace halocline::qcd::schwarz
