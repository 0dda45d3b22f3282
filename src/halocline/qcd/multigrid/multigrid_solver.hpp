// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Solves D x = b, or D^dagger x = b, by FGMRES, preconditioned by multigrid cycles.
///
/// FGMRES iterates in single precision on the system of unit diagonal, D' e = A^-1 (b - D x). When its residual has
/// fallen by four digits, x and the residual are updated in double (schwarz/correction_problem.hpp). Every column has
/// its own convergence.
///
/// With D(mu)^dagger = gamma5 D(-mu) gamma5 the adjoint system is D(-mu) y = gamma5 b, x = gamma5 y. Without a twisted
/// mass its cycle is the same one.

#include <memory>
#include <string>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::qcd::multigrid {

class MultigridSolver {
public:
  /// @param d      the same operator in double, of `columns` columns; referred to
  /// @param setup  shared by solvers for other numbers of columns
  /// Collective: yes.
  MultigridSolver(const DiracOperator<double>& d, const Setup& setup, int columns);
  ~MultigridSolver();
  MultigridSolver(MultigridSolver&&) noexcept;

  /// Solves D x = b; on entry x holds the guess if options.use_initial_guess.
  /// @param x, b  full fields in the layout of d, of columns() columns
  /// The iterations of the result are cycles. Collective: yes.
  solve::SolveResult solve(SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& options);
  /// Solves D^dagger x = b in the same way. With a twisted mass the first call makes Setup::adjoint().
  solve::SolveResult solve_adjoint(SpinorField<double>& x, const SpinorField<double>& b,
                                   const solve::SolveOptions& options);

  int columns() const noexcept;
  const Multigrid& cycle() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::qcd::multigrid
