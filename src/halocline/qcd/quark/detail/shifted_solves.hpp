// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Systems (M^dagger M + shift) x = b on the CPU, for several shifts together (solve/multishift_cg.hpp).
///
/// M is the operator of the action or, with even-odd preconditioning, its Schur complement on the even sites. Of domain
/// walls M is D itself, or the asymmetric Schur complement of D, on arrays of five dimensions. The operator that
/// solvers use has the matrix B of domain_wall.hpp divided out: M = M_divided B, for D and for its Schur complement
/// alike.

#include <complex>
#include <span>
#include <vector>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/solve/result.hpp"

namespace halocline::qcd {

/// @param x  shape (shifts,) of local boxes; only the sites on which M acts are written
/// @param form  asymmetric for domain walls
/// @param b  local box, the shape of a source of quarks, or [s][t][z][y][x][spin 4][colour 3] of domain walls
/// @throws InvalidArgument  for arrays of another length. Collective: yes.
std::vector<solve::SolveResult> solve_shifted_on(const DiracOperator<double>& d, bool even_odd, SchurForm form,
                                                 std::span<const std::span<std::complex<double>>> x,
                                                 std::span<const double> shifts,
                                                 std::span<const std::complex<double>> b,
                                                 const solve::SolveOptions& options);

}  // namespace halocline::qcd
