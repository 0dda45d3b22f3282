// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The additional requirements of block solvers on a vector space: products that mix the columns of a batch.
///
/// A vector of the space is read as a tall matrix with `columns()` columns x_0, x_1, ... A small matrix m multiplies it
/// from the right, with entry (i, j) at m[i * columns + j]. All small matrices are double complex, whatever the vectors
/// hold.

#include <concepts>
#include <span>

#include "halocline/solve/vector_space.hpp"

namespace halocline::solve {

/// Required besides VectorSpace:
/// - `gram(out, x, y)`         out[i * columns + j] = <x_i, y_j>, conjugate-linear in x, accumulated in double in a
/// fixed
///                             order and already summed over processes (collective). x and y may be the same vector.
/// - `multiply_add(y, x, m)`   y_j += sum_i x_i m[i * columns + j]. A coefficient that is zero leaves its column of x
///                             unread, so NaN in x_i does not spread through m_ij = 0. y must not be x.
/// - `epsilon()`               distance from one to the next number that a vector can hold
template <class Space>
concept BlockVectorSpace =
    VectorSpace<Space> && requires(Space& space, typename Space::Vector& y, const typename Space::Vector& x,
                                   std::span<const Scalar> m, std::span<Scalar> out) {
      space.gram(out, x, x);
      space.multiply_add(y, x, m);
      { space.epsilon() } -> std::convertible_to<double>;
    };

/// Optional: `multiply(y, x, m)`, y = x m. Spares the default a pass over y. The previous values of y do not matter,
/// not even NaN.
template <class Space>
concept MultiplyingVectorSpace = requires(Space& space, typename Space::Vector& y, const typename Space::Vector& x,
                                          std::span<const Scalar> m) { space.multiply(y, x, m); };

/// y = x m. Cost: 8 columns^2 flops for each row of the vectors.
template <BlockVectorSpace Space>
void multiply(Space& space, typename Space::Vector& y, const typename Space::Vector& x, std::span<const Scalar> m) {
  if constexpr (MultiplyingVectorSpace<Space>) {
    space.multiply(y, x, m);
  } else {
    space.set_zero(y);
    space.multiply_add(y, x, m);
  }
}

}  // namespace halocline::solve
