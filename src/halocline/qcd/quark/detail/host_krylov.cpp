// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/host_krylov.hpp"

#include "halocline/qcd/quark/detail/krylov_definition.hpp"

namespace halocline::qcd {

template solve::SolveResult solve_by(const std::string&, SpinorSpace<float>&, const SpinorOperator<float>&,
                                     SpinorField<float>&, const SpinorField<float>&, const solve::SolveOptions&);
template solve::SolveResult solve_by(const std::string&, SpinorSpace<double>&, const SpinorOperator<double>&,
                                     SpinorField<double>&, const SpinorField<double>&, const solve::SolveOptions&);
template solve::SolveResult solve_mixed(const std::string&, SpinorSpace<double>&, const SpinorOperator<double>&,
                                        SpinorField<double>&, const SpinorField<double>&, SpinorSpace<float>&,
                                        const SpinorOperator<float>&, const solve::SolveOptions&);

}  // namespace halocline::qcd
