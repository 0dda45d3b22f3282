// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods of krylov.hpp over fields of the CPU, instantiated once for each precision.

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/detail/krylov.hpp"

namespace halocline::qcd {

extern template solve::SolveResult solve_by(const std::string&, SpinorSpace<float>&, const SpinorOperator<float>&,
                                            SpinorField<float>&, const SpinorField<float>&, const solve::SolveOptions&);
extern template solve::SolveResult solve_by(const std::string&, SpinorSpace<double>&, const SpinorOperator<double>&,
                                            SpinorField<double>&, const SpinorField<double>&,
                                            const solve::SolveOptions&);
extern template solve::SolveResult solve_mixed(const std::string&, SpinorSpace<double>&, const SpinorOperator<double>&,
                                               SpinorField<double>&, const SpinorField<double>&, SpinorSpace<float>&,
                                               const SpinorOperator<float>&, const solve::SolveOptions&);

}  // namespace halocline::qcd
