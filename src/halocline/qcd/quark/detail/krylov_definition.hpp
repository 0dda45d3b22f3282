// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The bodies of krylov.hpp, for the files that instantiate them.

#include <algorithm>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/detail/krylov.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/block_bicgstab.hpp"
#include "halocline/solve/block_cg_normal.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/defect_correction.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/gmres_dr.hpp"
#include "halocline/solve/reliable_update.hpp"
#include "halocline/solve/s_step_gcr.hpp"

namespace halocline::qcd {

template <class Space, class Operator>
solve::SolveResult solve_by(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                            const typename Space::Vector& b, const solve::SolveOptions& options) {
  if (kind == "cg") return solve::cg_normal(space, a, x, b, options);
  if (kind == "gcr") return solve::gcr(space, a, x, b, options);
  if constexpr (KrylovTraits<Space>::offers_all) {
    if (kind == "fgmres") return solve::fgmres(space, a, x, b, options);
    if (kind == "gmres-dr") return solve::gmres_dr(space, a, x, b, options);
    if (kind == "s-step-gcr") return solve::s_step_gcr(space, a, x, b, options);
    if (kind == "block-bicgstab") return solve::block_bicgstab(space, a, x, b, options);
    if (kind == "block-cg") return solve::block_cg_normal(space, a, x, b, options);
  }
  if (kind == "bicgstab") return solve::bicgstab(space, a, x, b, options);
  throw core::InvalidArgument("the solver \"" + kind +
                              "\" cannot solve in these vectors; give \"bicgstab\", \"cg\" or \"gcr\"");
}

template <class Space, class Operator, class InnerSpace, class InnerOperator>
solve::SolveResult solve_mixed(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                               const typename Space::Vector& b, InnerSpace& inner_space, InnerOperator& inner,
                               const solve::SolveOptions& options) {
  using Traits = KrylovTraits<InnerSpace>;
  using Inner = typename InnerSpace::Vector;
  using Outer = typename Space::Vector;
  const auto to_inner = [](Inner& out, const Outer& in) { convert(out, in); };
  const auto to_outer = [](Outer& out, const Inner& in) { convert(out, in); };
  if (kind == "bicgstab" || (kind == "cg" && Traits::reliable_cg)) {
    // A replacement of the residual keeps the search directions, so frequent replacements cost few iterations.
    solve::SolveOptions reliable = options;
    reliable.replacement = Traits::replacement;
    solve::ReliableProblem problem(inner_space, inner, space, a, x, b, to_inner, to_outer);
    auto e = inner_space.create();
    if constexpr (Traits::reliable_cg)
      if (kind == "cg") return solve::cg_normal_on(problem, e, reliable);
    const solve::NoPreconditioner none;
    return solve::bicgstab_on(problem, e, reliable, none);
  }
  // The last correction of a column need not gain more than the column still lacks. `reached` tracks its residual.
  const double least = Traits::most_gain > 0 ? Traits::most_gain : options.inner_tolerance;
  std::vector<double> reached(static_cast<std::size_t>(inner_space.columns()), 1.0);
  const auto correct = [&](Inner& e, const Inner& r) {
    solve::SolveOptions inner_options = options;
    inner_options.column_tolerance.resize(reached.size());
    for (std::size_t c = 0; c < reached.size(); ++c) {
      const double wanted = options.column_tolerance.empty() ? options.tolerance : options.column_tolerance[c];
      inner_options.column_tolerance[c] = std::clamp(0.8 * wanted / reached[c], least, std::max(least, 0.1));
    }
    solve::SolveResult result = solve_by(kind, inner_space, inner, e, r, inner_options);
    // A finished column has a zero right-hand side here, and so the residual 0.
    for (std::size_t c = 0; c < reached.size(); ++c)
      if (result.residual[c] > 0) reached[c] *= result.residual[c];
    return result;
  };
  return solve::defect_correction(space, a, x, b, inner_space, correct, to_inner, to_outer, options);
}

}  // namespace halocline::qcd
