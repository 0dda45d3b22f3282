// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A fixed number of steps of generalised conjugate residuals from zero, as a smoother.
///
/// The recursion is that of gcr.hpp, where its source is named. Nothing is measured: there is no tolerance, no restart
/// and no residual computed at the end, so k steps take k applications of the operator. The result minimises the
/// residual over the Krylov space of dimension k, in each column. A step makes one sum over processes: r is orthogonal
/// to the earlier directions, so that <q_j, r> is known before q_j is orthogonalised.

#include <span>
#include <vector>

#include "halocline/solve/gcr.hpp"

namespace halocline::solve {

/// Keeps the work vectors from call to call: 2 k + 1 of them.
template <VectorSpace Space>
class GcrSteps {
public:
  using Vector = typename Space::Vector;

  /// @param space  referred to
  /// @param steps  k, at least 1
  GcrSteps(Space& space, int steps) : space_(&space), r_(space.create()) {
    for (int j = 0; j < steps; ++j) {
      z_.push_back(space.create());
      q_.push_back(space.create());
    }
  }

  /// x = approximately A^-1 b; different vectors. A column of zeros, and one in which the recursion breaks down, keeps
  /// what it has reached. Collective: yes.  Cost: k applications, and for step j about j + 2 dot products in one sum.
  template <class A>
    requires OperatorOn<A, Space>
  void apply(A& a, Vector& x, const Vector& b) {
    const auto columns = static_cast<std::size_t>(space_->columns());
    std::vector<double> norms2;                           // [j][column] of |q_j|^2
    std::vector<std::vector<Scalars>> triangle(columns);  // [column][j][i]
    std::vector<Scalars> steps(columns);                  // [column][j] = alpha_j
    std::vector<const Vector*> z_basis, q_basis;
    Scalars minus_alpha(columns);
    space_->copy(r_, b);
    for (std::size_t j = 0; j < z_.size(); ++j) {
      space_->copy(z_[j], r_);
      a.apply(q_[j], z_[j]);
      const auto ortho = detail::orthogonalise_by_one_sum(*space_, std::span<const Vector* const>(q_basis), norms2,
                                                          q_[j], detail::NoOthers{}, &r_);
      for (std::size_t c = 0; c < columns; ++c) {
        // The remainder of a vector that lies in the span is rounding error, not a direction. A NaN is kept.
        const bool exhausted = ortho.norm2[c] <= 1e-14 * ortho.before2[c];
        const Scalar alpha = exhausted ? Scalar(0.0) : ortho.also[c] / ortho.norm2[c];
        norms2.push_back(exhausted ? 0.0 : ortho.norm2[c]);
        Scalars& column = triangle[c].emplace_back();
        for (std::size_t i = 0; i < j; ++i) column.push_back(ortho.coefficients[i * columns + c]);
        steps[c].push_back(alpha);
        minus_alpha[c] = -alpha;
      }
      z_basis.push_back(&z_[j]);
      q_basis.push_back(&q_[j]);
      if (j + 1 < z_.size()) update(*space_, {add(r_, minus_alpha, q_[j])});
    }
    std::vector<Scalars> y(z_.size(), Scalars(columns));
    for (std::size_t c = 0; c < columns; ++c) {
      const Scalars solution = detail::solve_unit_triangle(triangle[c], steps[c]);
      for (std::size_t j = 0; j < solution.size(); ++j) y[j][c] = solution[j];
    }
    space_->set_zero(x);
    detail::add_combination(*space_, x, y, std::span<const Vector* const>(z_basis));
  }

private:
  Space* space_;
  Vector r_;
  std::vector<Vector> z_, q_;
};

}  // namespace halocline::solve
