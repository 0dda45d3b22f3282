// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Solves S x = b for the Schur complement S of D on one parity by FGMRES, preconditioned by multigrid cycles of D.
///
/// With e the parity that is solved for, S^-1 b = (D^-1 (A b, 0))_e for the symmetric form and (D^-1 (b, 0))_e for the
/// asymmetric one (schur/even_odd.hpp). So the cycle, an approximate inverse of D, is one of S too. In the cycle's
/// system of unit diagonal, D' = A_0^-1 D with A_0 the clover term without twisted mass,
///
///   S^-1 b = (D'^-1 (c, 0))_e,   c = A_0^-1 A b = b + i mu A_0^-1 gamma5 b,   or   c = A_0^-1 b for the asymmetric
///   form.
///
/// FGMRES works on vectors of half the length, in single precision. When its residual has fallen by four digits, the
/// solution and the residual are updated in double (solve/reliable_update.hpp). An iteration costs an application of S,
/// a cycle, and two changes of layout of 96 + 48 bytes a site and column.

#include <memory>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/multigrid/setup.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::qcd::multigrid {

class SchurSolver {
public:
  /// @param precise, single  the same operator in double and in float, of `columns` columns; referred to
  /// @param parity           that is solved for: 0 even, 1 odd
  /// Collective: yes.
  SchurSolver(const DiracOperator<double>& precise, const DiracOperator<float>& single, const Setup& setup, int columns,
              SchurForm form = SchurForm::symmetric, int parity = 0);
  ~SchurSolver();
  SchurSolver(SchurSolver&&) noexcept;

  /// Solves S x = b; on entry x holds the guess if options.use_initial_guess.
  /// @param x, b  on the parity, in the layout of `precise`, of columns() columns; |b| between 1e-20 and 1e20, because
  ///              residuals are kept in float
  /// @throws InvalidArgument  for other fields
  /// The iterations of the result are cycles. Collective: yes.
  solve::SolveResult solve(SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& options);

  /// S in double.
  Schur<double>& schur() noexcept;
  int columns() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::qcd::multigrid
