// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Krylov methods on the even-odd Schur complement S, or on D, deflated by low modes of gamma5 D.
///
/// The inverse of S is the even part of that of D, S^-1 = (D^-1)_ee, and D^-1 = sum_i v_i (1 / lambda_i) v_i^dagger
/// gamma5. So the even parts of the modes with small lambda_i span what is large in S^-1. Without them S^-1 is at most
/// about as large as 1 / lambda of the first mode left out. Both forms of S have the same solution, and so the same
/// vectors. S v is computed, and need not be small or of any form: deflation by minimal residual (solve/deflation.hpp)
/// is exact for any vectors.
///
/// The iteration is in single precision, and vectors of one column serve batches of any width. The residual is that of
/// S in double.

#include <memory>
#include <string>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/low_modes.hpp"
#include "halocline/qcd/schur/even_odd.hpp"
#include "halocline/solve/deflation.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::qcd {

using LowModeDeflation = solve::Deflation<SpinorSpace<float>>;

/// Whether a method is "deflated-cg" or "deflated-bicgstab".
bool is_deflated(const std::string& method) noexcept;

/// The deflation of S on the even sites, or of D.
/// @param d      shared with the copy that is made here
/// @throws InvalidArgument  for modes of another number of sites; on every rank
/// Collective: yes.  Cost: an application for each vector, O(vectors^2) vector operations; 96 bytes a site of S and
/// vector twice.
std::shared_ptr<const LowModeDeflation> low_mode_deflation(const DiracOperator<float>& d, bool even_odd, SchurForm form,
                                                           const LowModes& modes);

/// A x = b by "deflated-cg" (normal equations, with defect correction) or "deflated-bicgstab" (with reliable updates).
/// @param a, inner  the same operator in double and in float
/// Collective: yes.
solve::SolveResult solve_deflated(const std::string& method, SpinorSpace<double>& space,
                                  const SpinorOperator<double>& a, SpinorField<double>& x, const SpinorField<double>& b,
                                  SpinorSpace<float>& inner_space, const SpinorOperator<float>& inner,
                                  const LowModeDeflation& deflation, const solve::SolveOptions& options);

}  // namespace halocline::qcd
