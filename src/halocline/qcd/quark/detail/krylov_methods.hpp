// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods of QuarkSolver by name, over any vector spaces: of a processor (krylov.cpp) or a device
/// (device_krylov.cu).

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "halocline/solve/bicgstab.hpp"
#include "halocline/solve/cg_normal.hpp"
#include "halocline/solve/defect_correction.hpp"
#include "halocline/solve/gcr.hpp"
#include "halocline/solve/reliable_update.hpp"

namespace halocline::qcd::detail {

/// A x = b by "cg" (normal equations), "gcr", or else "bicgstab", in one precision. Collective.
template <class Space, class Operator>
solve::SolveResult solve_by_name(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                                 const typename Space::Vector& b, const solve::SolveOptions& options) {
  if (kind == "cg") return solve::cg_normal(space, a, x, b, options);
  if (kind == "gcr") return solve::gcr(space, a, x, b, options);
  return solve::bicgstab(space, a, x, b, options);
}

/// How an inner precision wants to be driven.
struct MixedOptions {
  double replacement = 1e-2;  ///< of reliable updates: the residual is recomputed each time it fell by this factor
  bool reliable_cg = false;   ///< "cg" by reliable updates too
  double most_gain = 0;       ///< the least inner tolerance of a defect correction; 0: that of the options
};

/// The same with the iteration in an inner space and solution and residual in the outer one: "bicgstab" by reliable
/// updates, "cg" where the options say so, others by defect correction around `inner_solve(kind, e, r, options)`.
/// Collective.
template <class Space, class Operator, class InnerSpace, class InnerOperator, class ToInner, class ToOuter,
          class InnerSolve>
solve::SolveResult solve_mixed_by_name(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                                       const typename Space::Vector& b, InnerSpace& inner_space, InnerOperator& inner,
                                       const ToInner& to_inner, const ToOuter& to_outer,
                                       const solve::SolveOptions& options, const MixedOptions& mixed,
                                       const InnerSolve& inner_solve) {
  if (kind == "bicgstab" || (kind == "cg" && mixed.reliable_cg)) {
    // The search directions survive a change to double, so it may come often.
    solve::SolveOptions reliable = options;
    reliable.replacement = mixed.replacement;
    solve::ReliableProblem problem(inner_space, inner, space, a, x, b, to_inner, to_outer);
    auto e = inner_space.create();
    if (kind == "cg") return solve::cg_normal_on(problem, e, reliable);
    const solve::NoPreconditioner none;
    return solve::bicgstab_on(problem, e, reliable, none);
  }
  // The last correction of a column need not gain more than what it still misses; `reached` follows its residual.
  const double least = mixed.most_gain > 0 ? mixed.most_gain : options.inner_tolerance;
  std::vector<double> reached(static_cast<std::size_t>(inner_space.columns()), 1.0);
  const auto correct = [&](typename InnerSpace::Vector& e, const typename InnerSpace::Vector& r) {
    solve::SolveOptions inner_options = options;
    inner_options.column_tolerance.resize(reached.size());
    for (std::size_t c = 0; c < reached.size(); ++c) {
      const double wanted = options.column_tolerance.empty() ? options.tolerance : options.column_tolerance[c];
      inner_options.column_tolerance[c] = std::clamp(0.8 * wanted / reached[c], least, std::max(least, 0.1));
    }
    solve::SolveResult result = inner_solve(kind, e, r, inner_options);
    // A column that is done has nothing to correct, and the residual 0.
    for (std::size_t c = 0; c < reached.size(); ++c)
      if (result.residual[c] > 0) reached[c] *= result.residual[c];
    return result;
  };
  return solve::defect_correction(space, a, x, b, inner_space, correct, to_inner, to_outer, options);
}

/// e = D^-1 r by a solve of the even-odd Schur complement.
/// @param schur      offers prepare(rhs, r) and reconstruct(e, half, r)
/// @param scale      of D against its Schur complement: A's number for the symmetric form, else 1
/// @param rhs, half  work
/// @param full       |r| of each column
/// @param reduced    callable (rhs) -> |rhs| of each column
/// @param options    column_tolerance, one a column, is on |r - D e| / |r|
/// @param solve      callable (half, rhs, options) -> SolveResult
/// The result is about the Schur complement. Collective.
template <class Schur, class Full, class Half, class Norms, class Solve>
solve::SolveResult solve_even_odd(Schur& schur, double scale, Full& e, const Full& r, Half& rhs, Half& half,
                                  std::span<const double> full, const Norms& reduced, solve::SolveOptions options,
                                  const Solve& solve) {
  schur.prepare(rhs, r);
  // The residual of the Schur complement against that of D: a number near one, which nobody knows beforehand.
  const std::vector<double> less = reduced(rhs);
  constexpr double safety = 0.7;
  double longest = 0;
  for (std::size_t c = 0; c < full.size(); ++c) {
    const double ratio = less[c] > 0 ? full[c] / (scale * less[c]) : 1.0;
    options.column_tolerance[c] = std::min(0.1, safety * ratio * options.column_tolerance[c]);
    if (full[c] > 0) longest = std::max(longest, 1.0 / ratio);
  }
  if (options.progress)
    options.progress = [progress = options.progress, longest](int iteration, double residual) {
      return progress(iteration, residual * longest);
    };
  solve::SolveResult result = solve(half, rhs, options);
  schur.reconstruct(e, half, r);
  return result;
}

}  // namespace halocline::qcd::detail
