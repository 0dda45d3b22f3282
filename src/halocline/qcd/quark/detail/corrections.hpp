// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Defect correction with a Krylov method inside, whose tolerances follow what each column still lacks.

#include <algorithm>
#include <vector>

#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/solve/defect_correction.hpp"

namespace halocline::qcd {

/// Solves A x = b by corrections in an inner space.
/// @param least  the smallest inner tolerance
/// @param inner  callable (e, r, options) -> SolveResult: solves for one correction
/// Collective: yes.
template <class Space, class Operator, class InnerSpace, class Inner>
solve::SolveResult solve_by_corrections(Space& space, Operator& a, typename Space::Vector& x,
                                        const typename Space::Vector& b, InnerSpace& inner_space, double least,
                                        const Inner& inner, const solve::SolveOptions& options) {
  using Small = typename InnerSpace::Vector;
  using Outer = typename Space::Vector;
  // The last correction of a column need not gain more than the column still lacks. `reached` tracks its residual.
  std::vector<double> reached(static_cast<std::size_t>(inner_space.columns()), 1.0);
  const auto correct = [&](Small& e, const Small& r) {
    solve::SolveOptions inner_options = options;
    inner_options.column_tolerance.resize(reached.size());
    for (std::size_t c = 0; c < reached.size(); ++c) {
      const double wanted = options.column_tolerance.empty() ? options.tolerance : options.column_tolerance[c];
      inner_options.column_tolerance[c] = std::clamp(0.8 * wanted / reached[c], least, std::max(least, 0.1));
    }
    solve::SolveResult result = inner(e, r, inner_options);
    // A finished column has a zero right-hand side here, and so the residual 0.
    for (std::size_t c = 0; c < reached.size(); ++c)
      if (result.residual[c] > 0) reached[c] *= result.residual[c];
    return result;
  };
  return solve::defect_correction(
      space, a, x, b, inner_space, correct, [](Small& out, const Outer& in) { convert(out, in); },
      [](Outer& out, const Small& in) { convert(out, in); }, options);
}

}  // namespace halocline::qcd
