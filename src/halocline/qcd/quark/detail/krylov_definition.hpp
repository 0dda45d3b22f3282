// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The bodies of krylov.hpp, for the files that instantiate them.

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/quark/detail/corrections.hpp"
#include "halocline/qcd/quark/detail/krylov.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/block_bicgstab.hpp"
#include "halocline/solve/block_cg.hpp"
#include "halocline/solve/block_cg_normal.hpp"
#include "halocline/solve/cg.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/fgmres.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/gmres_dr.hpp"
#include "halocline/solve/reliable_update.hpp"
#include "halocline/solve/s_step_gcr.hpp"

namespace halocline::qcd {

/// Whether an operator says that it is hermitian and positive.
template <class Operator>
bool is_hermitian_positive(const Operator& a) {
  if constexpr (requires { a.hermitian_positive(); })
    return a.hermitian_positive();
  else
    return false;
}

template <class Space, class Operator>
solve::SolveResult solve_by(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                            const typename Space::Vector& b, const solve::SolveOptions& options) {
  if (kind == "cg" && is_hermitian_positive(a)) return solve::cg(space, a, x, b, options);
  if (kind == "cg") return solve::cg_normal(space, a, x, b, options);
  if (kind == "gcr") return solve::gcr(space, a, x, b, options);
  if constexpr (KrylovTraits<Space>::offers_all) {
    if (kind == "fgmres") return solve::fgmres(space, a, x, b, options);
    if (kind == "gmres-dr") return solve::gmres_dr(space, a, x, b, options);
    if (kind == "s-step-gcr") return solve::s_step_gcr(space, a, x, b, options);
    if (kind == "block-bicgstab") return solve::block_bicgstab(space, a, x, b, options);
    if (kind == "block-cg" && is_hermitian_positive(a)) return solve::block_cg(space, a, x, b, options);
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
  if (kind == "bicgstab" || kind == "cg") {
    // A replacement of the residual keeps the search directions, so frequent replacements cost few iterations.
    solve::SolveOptions reliable = options;
    reliable.replacement = Traits::replacement;
    reliable.replacement_interval = Traits::replacement_interval;
    solve::ReliableProblem problem(inner_space, inner, space, a, x, b, to_inner, to_outer);
    auto e = inner_space.create();
    if (kind == "cg" && is_hermitian_positive(a)) return solve::cg_on(problem, e, reliable);
    if (kind == "cg") return solve::cg_normal_on(problem, e, reliable);
    const solve::NoPreconditioner none;
    return solve::bicgstab_on(problem, e, reliable, none);
  }
  const double least = Traits::most_gain > 0 ? Traits::most_gain : options.inner_tolerance;
  return solve_by_corrections(
      space, a, x, b, inner_space, least,
      [&](Inner& e, const Inner& r, const solve::SolveOptions& own) {
        return solve_by(kind, inner_space, inner, e, r, own);
      },
      options);
}

}  // namespace halocline::qcd
