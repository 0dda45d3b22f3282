// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A Dirac operator in one precision as the Krylov methods use it, and a correction by it. Written once for the CPU and
/// for devices.

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "halocline/lattice/field.hpp"
#include "halocline/qcd/quark/detail/krylov.hpp"
#include "halocline/qcd/schur/even_odd.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd {

/// The types that belong to a class of Dirac operators:
///   - Operator, the base class for which the Krylov methods are instantiated
///   - Schur, the Schur complement of the operator
///   - Space, the vector space of its fields; space(d, subset) makes it for the columns of d
template <class Dirac>
struct SolverTypes;

/// D on full fields, or its Schur complement on the even sites.
template <class Dirac>
class Level {
public:
  using Types = SolverTypes<Dirac>;
  using Operator = typename Types::Operator;
  using Schur = typename Types::Schur;
  using Space = typename Types::Space;
  using Field = typename Space::Vector;

  /// Collective: yes.
  Level(std::unique_ptr<Dirac> d, bool even_odd, SchurForm form)
      : d_(std::move(d)), space_(Types::space(*d_, even_odd ? lattice::Subset::even : lattice::Subset::full)) {
    if (even_odd) schur_.emplace(*d_, form);
  }

  Dirac& d() noexcept { return *d_; }
  /// nullptr if the level is D itself.
  Schur* schur() noexcept { return schur_ ? &*schur_ : nullptr; }
  Space& space() noexcept { return space_; }
  Operator& a() noexcept {
    if (schur_) return *schur_;
    return *d_;
  }

private:
  std::unique_ptr<Dirac> d_;
  std::optional<Schur> schur_;
  Space space_;
};

/// `limits` with these tolerances of the columns, each times `caution` and at most 0.5.
inline solve::SolveOptions with_tolerances(solve::SolveOptions limits, std::span<const double> tolerance,
                                           double caution) {
  limits.column_tolerance.clear();
  for (const double wanted : tolerance) limits.column_tolerance.push_back(std::min(0.5, wanted * caution));
  return limits;
}

namespace detail {

/// e = D^-1 r by a solve of the even-odd Schur complement.
/// @param scale    size of D relative to its Schur complement: diagonal() of D for the symmetric form, else 1
/// @param full     |r| of each column
/// @param options  column_tolerance has one entry for each column, on |r - D e| / |r|
/// @param solve    callable (half, rhs, options) -> SolveResult
/// The result describes the solve of the Schur complement. Collective: yes.
template <class Schur, class Space, class Field, class Solve>
solve::SolveResult solve_even_odd(Schur& schur, double scale, const Space& space, Field& e, const Field& r, Field& rhs,
                                  Field& half, std::span<const double> full, solve::SolveOptions options,
                                  const Solve& solve) {
  schur.prepare(rhs, r);
  // The tolerance is on the residual of D, but the solver sees that of the Schur complement. Their ratio is near one,
  // and estimated here from the right-hand sides.
  const std::vector<double> reduced = norms(space, rhs);
  constexpr double safety = 0.7;
  double longest = 0;
  for (std::size_t c = 0; c < full.size(); ++c) {
    const double ratio = reduced[c] > 0 ? full[c] / (scale * reduced[c]) : 1.0;
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

}  // namespace detail

/// e = D^-1 r from e = 0, on full fields, by `run` on the system of `level`.
/// @param full     space of the full fields
/// @param options  column_tolerance has one entry for each column, on |r - D e| / |r|
/// @param run      callable (x, b, options) -> SolveResult: solves level.a() x = b
/// @param settle   called before the work fields are freed
/// The result describes the solve with level.a(). Collective: yes.
template <class Outer, class Run, class Settle>
solve::SolveResult solve_level(Outer& level, const typename Outer::Space& full, typename Outer::Field& e,
                               const typename Outer::Field& r, const solve::SolveOptions& options, const Run& run,
                               const Settle& settle) {
  auto& space = level.space();
  auto rhs = space.create(), half = space.create();
  solve::SolveResult result;
  if (auto* schur = level.schur()) {
    const double scale = schur->form() == SchurForm::symmetric ? level.d().diagonal() : 1.0;
    result = detail::solve_even_odd(*schur, scale, space, e, r, rhs, half, norms(full, r), options, run);
  } else {
    space.copy(rhs, r);
    result = run(half, rhs, options);
    space.copy(e, half);
  }
  settle();
  return result;
}

/// The same by a Krylov method of krylov.hpp.
/// @param inner    the same operator in the precision of the iteration; nullptr: iterate in the precision of `level`
/// The result describes the solve with level.a(). Collective: yes.
template <class Outer, class Inner, class Settle>
solve::SolveResult solve_on(Outer& level, Inner* inner, const std::string& method, const typename Outer::Space& full,
                            typename Outer::Field& e, const typename Outer::Field& r,
                            const solve::SolveOptions& options, const Settle& settle) {
  using Field = typename Outer::Field;
  auto& space = level.space();
  const auto run = [&](Field& x, const Field& b, const solve::SolveOptions& given) {
    if constexpr (!std::is_same_v<Outer, Inner>)
      if (inner != nullptr) return solve_mixed(method, space, level.a(), x, b, inner->space(), inner->a(), given);
    return solve_by(method, space, level.a(), x, b, given);
  };
  return solve_level(level, full, e, r, options, run, settle);
}

}  // namespace halocline::qcd
