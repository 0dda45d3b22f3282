// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/krylov.hpp"

#include "halocline/qcd/quark/detail/krylov_methods.hpp"
#include "halocline/solve/fgmres.hpp"

namespace halocline::qcd {

template <class T>
solve::SolveResult solve_by(const std::string& kind, SpinorSpace<T>& space, SpinorOperator<T>& a, SpinorField<T>& x,
                            const SpinorField<T>& b, const solve::SolveOptions& options) {
  if (kind == "fgmres") return solve::fgmres(space, a, x, b, options);
  return detail::solve_by_name(kind, space, a, x, b, options);
}

solve::SolveResult solve_mixed(const std::string& kind, SpinorSpace<double>& space, SpinorOperator<double>& a,
                               SpinorField<double>& x, const SpinorField<double>& b, SpinorSpace<float>& inner_space,
                               SpinorOperator<float>& inner, const solve::SolveOptions& options) {
  const auto to_inner = [](SpinorField<float>& out, const SpinorField<double>& in) { convert(out, in); };
  const auto to_outer = [](SpinorField<double>& out, const SpinorField<float>& in) { convert(out, in); };
  const auto inner_solve = [&](const std::string& method, SpinorField<float>& e, const SpinorField<float>& r,
                               const solve::SolveOptions& inner_options) {
    return solve_by(method, inner_space, inner, e, r, inner_options);
  };
  // In float each replacement may gain two digits.
  return detail::solve_mixed_by_name(kind, space, a, x, b, inner_space, inner, to_inner, to_outer, options,
                                     {.replacement = 1e-2}, inner_solve);
}

template solve::SolveResult solve_by(const std::string&, SpinorSpace<float>&, SpinorOperator<float>&,
                                     SpinorField<float>&, const SpinorField<float>&, const solve::SolveOptions&);
template solve::SolveResult solve_by(const std::string&, SpinorSpace<double>&, SpinorOperator<double>&,
                                     SpinorField<double>&, const SpinorField<double>&, const solve::SolveOptions&);

}  // namespace halocline::qcd
