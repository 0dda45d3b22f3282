// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Flexible GMRES as a part of a preconditioner: to a rough tolerance, with as few sums over processes as there can be.
///
/// The recursion is that of fgmres.hpp, where its source is named. An iteration makes one sum, by
/// detail::orthogonalise_by_one_sum. The residual is that of the recursion; no true one is computed at the end.
///
/// Directions may be deflated. With A U = C and C orthonormal, the solver iterates on (1 - C C^dagger) A, and keeps
/// what it projects out of A z_j in a matrix B:
///
///   A Z = V H + C B,    so that    C^dagger (b - A Z y) = C^dagger b - B y
///
/// are the coefficients of U that complete the solution: the projection of GCRO (de Sturler, SIAM J. Numer. Anal. 36
/// (1999) 864). The products with C travel with those of Gram-Schmidt, and B costs neither an application nor a sum.

#include <cmath>
#include <limits>
#include <vector>

#include "halocline/solve/detail/gram_schmidt.hpp"
#include "halocline/solve/detail/least_squares.hpp"
#include "halocline/solve/gcr.hpp"

namespace halocline::solve {

struct InnerGmresOptions {
  double tolerance = 0.1;  ///< of |r| over its value at the start; without what is deflated
  int max_iterations = 100;
  int restart_length = 30;  ///< vectors of a basis, at most
};

/// Keeps its work vectors from call to call.
template <VectorSpace Space>
class InnerGmres {
public:
  using Vector = typename Space::Vector;
  using Options = InnerGmresOptions;
  struct Result {
    int iterations = 0;  ///< of the slowest column
    Scalars along;       ///< [direction][column]: coefficients of the deflated directions U; empty without any
  };

  /// @param space  referred to
  InnerGmres(Space& space, const InnerGmresOptions& options)
      : space_(&space), options_(options), r_(space.create()), work_(space.create()) {
    // Pointers to the vectors of a basis stay valid while it grows.
    v_.reserve(static_cast<std::size_t>(options.restart_length) + 1);
    z_.reserve(static_cast<std::size_t>(options.restart_length));
  }

  /// x = approximately A^-1 b from zero, without the part in U; different vectors. A column that is zero gets
  /// zero, one that is not finite no finite solution or zero, and one that breaks down keeps what it has reached.
  /// @param m       approximates the inverse of A, may change from call to call; or NoPreconditioner
  /// @param others  C, or NoOthers
  /// Collective: yes.  Cost: an application and a sum in each iteration, and in each restart; a sum at the start.
  template <class A, class M, class Others = detail::NoOthers>
    requires OperatorOn<A, Space>
  Result solve(A& a, Vector& x, const Vector& b, M& m, const Others& others = {}) {
    const auto columns = static_cast<std::size_t>(space_->columns());
    const Scalars minus_one(columns, Scalar(-1.0));
    Result result;
    space_->set_zero(x);
    space_->copy(r_, b);
    std::vector<double> goals2(columns);
    for (bool first = true;; first = false) {
      if (!first) {
        a.apply(work_, x);
        update(*space_, {assign(r_, {}, b, minus_one, work_)});
      }
      auto start = detail::orthogonalise_by_one_sum(*space_, {}, {}, r_, others);
      result.along = std::move(start.others);
      if (first)
        for (std::size_t c = 0; c < columns; ++c) goals2[c] = options_.tolerance * options_.tolerance * start.norm2[c];
      if (!cycle(a, x, m, others, start.norm2, goals2, result)) return result;
    }
  }

private:
  /// One basis. Returns whether another one is wanted.
  template <class A, class M, class Others>
  bool cycle(A& a, Vector& x, M& m, const Others& others, std::span<const double> norms2,
             std::span<const double> goals2, Result& result) {
    constexpr bool preconditioned = !std::same_as<std::remove_const_t<M>, NoPreconditioner>;
    const std::size_t columns = norms2.size();
    std::vector<detail::HessenbergLeastSquares> small;  // one for each column
    std::vector<bool> active(columns);
    std::vector<Scalars> b_matrix;  // [j] of what was projected out of A z_j
    Scalars inverse(columns);
    bool any = false;
    for (std::size_t c = 0; c < columns; ++c) {
      active[c] = std::isfinite(norms2[c]) && norms2[c] > goals2[c];
      small.emplace_back(active[c] ? std::sqrt(norms2[c]) : 0.0);
      inverse[c] = active[c] ? 1.0 / std::sqrt(norms2[c]) : 0.0;
      any = any || active[c];
    }
    if (v_.empty()) v_.push_back(space_->create());
    update(*space_, {assign(v_[0], inverse, r_)});
    std::vector<const Vector*> v_basis{&v_[0]}, z_basis;
    const auto k = static_cast<std::size_t>(options_.restart_length);
    for (std::size_t j = 0; j < k && any && result.iterations < options_.max_iterations; ++j) {
      if (v_.size() == j + 1) v_.push_back(space_->create());
      if constexpr (preconditioned) {
        if (z_.size() == j) z_.push_back(space_->create());
        m.apply(z_[j], v_[j]);
      }
      const Vector& direction = preconditioned ? z_[j] : v_[j];
      a.apply(v_[j + 1], direction);
      const auto ortho =
          detail::orthogonalise_by_one_sum(*space_, std::span<const Vector* const>(v_basis), {}, v_[j + 1], others);
      ++result.iterations;
      any = false;
      for (std::size_t c = 0; c < columns; ++c) {
        inverse[c] = 0.0;
        if (!active[c]) continue;
        active[c] = false;
        if (!std::isfinite(ortho.before2[c]) || !std::isfinite(ortho.norm2[c])) continue;
        Scalars upper;
        for (std::size_t i = 0; i <= j; ++i) upper.push_back(ortho.coefficients[i * columns + c]);
        // The remainder of a vector that lies in the span is rounding error, not a direction.
        const bool exhausted = ortho.norm2[c] <= 1e-28 * ortho.before2[c];
        const double length = exhausted ? 0.0 : std::sqrt(ortho.norm2[c]);
        const double norm2 = small[c].append(upper, length);
        active[c] = norm2 > goals2[c] && !exhausted;
        if (active[c]) inverse[c] = 1.0 / length;
        any = any || active[c];
      }
      b_matrix.push_back(ortho.others);
      z_basis.push_back(&direction);
      v_basis.push_back(&v_[j + 1]);
      if (any) update(*space_, {scale(v_[j + 1], inverse)});
    }
    std::vector<Scalars> y(z_basis.size(), Scalars(columns));
    for (std::size_t c = 0; c < columns; ++c) {
      const Scalars solution = small[c].solve();
      for (std::size_t j = 0; j < solution.size(); ++j) y[j][c] = solution[j];
    }
    detail::add_combination(*space_, x, y, std::span<const Vector* const>(z_basis));
    for (std::size_t j = 0; j < b_matrix.size(); ++j)
      for (std::size_t i = 0; i < b_matrix[j].size(); ++i)
        result.along[i] -= y[j][i % columns] == 0.0 ? Scalar(0.0) : b_matrix[j][i] * y[j][i % columns];
    return any && result.iterations < options_.max_iterations;
  }

  Space* space_;
  Options options_;
  Vector r_, work_;
  std::vector<Vector> v_, z_;
};

}  // namespace halocline::solve
