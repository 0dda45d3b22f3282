// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Operators of the CPU applied to canonical arrays, as QuarkSolver offers them.

#include <complex>
#include <span>

#include "halocline/qcd/dirac/operator.hpp"

namespace halocline::qcd {

/// out = D in, or D^dagger in; arrays of one right-hand side, of domain walls in five dimensions. Collective: yes.
void apply_on(const DiracOperator<double>& d, std::span<std::complex<double>> out,
              std::span<const std::complex<double>> in, bool dagger);

/// out = S in, or S^dagger in, with the symmetric Schur complement of D on the even sites; the odd sites of `out` are
/// set to 0. Not for domain walls. Collective: yes.
void apply_schur_on(const DiracOperator<double>& d, std::span<std::complex<double>> out,
                    std::span<const std::complex<double>> in, bool dagger);

}  // namespace halocline::qcd
