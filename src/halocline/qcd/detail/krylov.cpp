// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/detail/krylov.hpp"

#include <algorithm>
#include <vector>

#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/defect_correction.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/reliable_update.hpp"

namespace halocline::qcd {

template <class T>
solve::SolveResult solve_by(const std::string& kind, SpinorSpace<T>& space, SpinorOperator<T>& a, SpinorField<T>& x,
                            const SpinorField<T>& b, const solve::SolveOptions& options) {
  if (kind == "cg") return solve::cg_normal(space, a, x, b, options);
  if (kind == "gcr") return solve::gcr(space, a, x, b, options);
  if (kind == "fgmres") return solve::fgmres(space, a, x, b, options);
  return solve::bicgstab(space, a, x, b, options);
}

solve::SolveResult solve_mixed(const std::string& kind, SpinorSpace<double>& space, SpinorOperator<double>& a,
                               SpinorField<double>& x, const SpinorField<double>& b, SpinorSpace<float>& inner_space,
                               SpinorOperator<float>& inner, const solve::SolveOptions& options) {
  const auto to_inner = [](SpinorField<float>& out, const SpinorField<double>& in) { convert(out, in); };
  const auto to_outer = [](SpinorField<double>& out, const SpinorField<float>& in) { convert(out, in); };
  if (kind == "bicgstab") {
    // The search directions survive a change to double, so it may come often: each time two digits are gained.
    solve::SolveOptions reliable = options;
    reliable.replacement = 1e-2;
    solve::ReliableProblem problem(inner_space, inner, space, a, x, b, to_inner, to_outer);
    auto e = inner_space.create();
    const solve::NoPreconditioner none;
    return solve::bicgstab_on(problem, e, reliable, none);
  }
  // The last correction of a column need not gain more than what it still misses; `reached` follows its residual.
  std::vector<double> reached(static_cast<std::size_t>(inner_space.columns()), 1.0);
  const auto correct = [&](SpinorField<float>& e, const SpinorField<float>& r) {
    solve::SolveOptions inner_options = options;
    inner_options.column_tolerance.resize(reached.size());
    for (std::size_t c = 0; c < reached.size(); ++c) {
      const double wanted = options.column_tolerance.empty() ? options.tolerance : options.column_tolerance[c];
      inner_options.column_tolerance[c] = std::clamp(0.8 * wanted / reached[c], options.inner_tolerance, 0.1);
    }
    solve::SolveResult result = solve_by(kind, inner_space, inner, e, r, inner_options);
    // A column that is done has nothing to correct, and the residual 0.
    for (std::size_t c = 0; c < reached.size(); ++c)
      if (result.residual[c] > 0) reached[c] *= result.residual[c];
    return result;
  };
  return solve::defect_correction(space, a, x, b, inner_space, correct, to_inner, to_outer, options);
}

template solve::SolveResult solve_by(const std::string&, SpinorSpace<float>&, SpinorOperator<float>&,
                                     SpinorField<float>&, const SpinorField<float>&, const solve::SolveOptions&);
template solve::SolveResult solve_by(const std::string&, SpinorSpace<double>&, SpinorOperator<double>&,
                                     SpinorField<double>&, const SpinorField<double>&, const solve::SolveOptions&);

}  // namespace halocline::qcd
