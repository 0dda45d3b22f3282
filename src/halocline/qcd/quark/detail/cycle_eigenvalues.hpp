// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The low spectrum of gamma5 D through the coarse level: Davidson's method (solve/davidson.hpp) with a multigrid cycle
/// as the approximate inverse.
///
/// The test vectors of the set-up begin the search: they span the low modes roughly. A residual r becomes the new
/// direction D^-1 gamma5 r, as (gamma5 D)^-1 = D^-1 gamma5, by one cycle in single precision. The basis, gamma5 D on it
/// and all residuals are in double, so the accuracy of the pairs is that of double.
/// Source: Frommer, Kahl, Knechtli, Rottmann, Strebel and Zwaan, arXiv:1509.06865; Frommer et al., arXiv:2004.08146.

#include <functional>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/multigrid/setup.hpp"
#include "halocline/qcd/quark/eigenvalues.hpp"

namespace halocline::qcd {

/// @param d      of one column, gamma5-hermitian
/// @param setup  of the same operator
/// @param progress  as of low_eigenvalues
/// Collective: yes.  Cost: 2 count + 88 full fields in double; an application of D and a cycle for each new direction.
EigenvalueReport cycle_eigenvalues(const DiracOperator<double>& d, const multigrid::Setup& setup,
                                   const EigenvalueParameters& parameters,
                                   const std::function<bool(int applications, int found)>& progress);

}  // namespace halocline::qcd
