// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The multigrid cycle on two levels. It knows no lattice.
///
/// A cycle is an approximate inverse of the operator A of a level. It restricts the residual, solves on the coarse
/// level, prolongates the solution, and smooths what is left:
///
///   x = P solve_c(R b),   r = b - A x,   x += M r
///
/// The coarse solve is any callable. If it is itself a Krylov solver preconditioned by the cycle of the next level, the
/// cycles together are a K cycle (Notay and Vassilevski, Numer. Linear Algebra Appl. 15 (2008) 473); if it is that
/// cycle alone, they are a V cycle. Coarse first and no smoothing before is the order of Frommer, Kahl, Krieg, Leder
/// and Rottmann (arXiv:1303.1377), whose solver spends as little on a cycle as possible and leaves the rest to FGMRES.
///
/// A cycle whose coarse solve iterates to a tolerance is not a fixed linear operator, so it needs a flexible solver
/// around it (fgmres.hpp, gcr.hpp).

#include <concepts>
#include <utility>

#include "halocline/solve/vector_space.hpp"

namespace halocline::solve {

/// A level above the coarsest:
/// - `space()`                the vector space of the level
/// - `apply(out, in)`         out = A in
/// - `smooth(out, in)`        out = M in, an approximate inverse for the short waves
/// - `create_coarse()`        a vector of the coarse level, contents unspecified
/// - `restrict_to(out, in)`   out = R in
/// - `prolongate(out, in)`    out = P in
template <class Level>
concept MultigridLevel =
    VectorSpace<typename Level::Space> && std::movable<typename Level::Coarse> &&
    requires(Level& level, typename Level::Space::Vector& out, const typename Level::Space::Vector& in,
             typename Level::Coarse& coarse_out, const typename Level::Coarse& coarse_in) {
      { level.space() } -> std::same_as<typename Level::Space&>;
      level.apply(out, in);
      level.smooth(out, in);
      { level.create_coarse() } -> std::same_as<typename Level::Coarse>;
      level.restrict_to(coarse_out, in);
      level.prolongate(out, coarse_in);
    };

/// Refers to its arguments, which must outlive it. Holds two vectors of the level and two of the coarse level.
/// @tparam CoarseSolve  callable (x, b): sets x to an approximate solution of A_c x = b
template <MultigridLevel Level, class CoarseSolve>
class MultigridCycle {
public:
  using Vector = typename Level::Space::Vector;

  MultigridCycle(Level& level, CoarseSolve& coarse_solve)
      : level_(&level),
        coarse_solve_(&coarse_solve),
        r_(level.space().create()),
        z_(level.space().create()),
        coarse_b_(level.create_coarse()),
        coarse_x_(level.create_coarse()) {}

  /// out = approximately A^-1 in; different vectors. Collective: as the members of the level are.
  void apply(Vector& out, const Vector& in) {
    auto& space = level_->space();
    const Scalars minus_one(static_cast<std::size_t>(space.columns()), Scalar(-1.0));
    level_->restrict_to(coarse_b_, in);
    (*coarse_solve_)(coarse_x_, coarse_b_);
    level_->prolongate(out, coarse_x_);
    level_->apply(z_, out);
    update(space, {assign(r_, {}, in, minus_one, z_)});
    level_->smooth(z_, r_);
    update(space, {add(out, {}, z_)});
  }

private:
  Level* level_;
  CoarseSolve* coarse_solve_;
  Vector r_, z_;
  typename Level::Coarse coarse_b_, coarse_x_;
};

}  // namespace halocline::solve
