// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The requirements on vectors, and the one call in which a solver does all its linear algebra.
///
/// A vector of the space is a batch of `columns()` independent columns, so every scalar is an array with one entry for
/// each column. Solvers never call `axpy` or `dot`. They pass to `update_and_reduce` a list of updates together with
/// the dot products that need the updated vectors. A space that knows its memory layout overrides this function: it
/// walks once over short runs of sites and applies both lists to each run while it is in cache. An iteration of
/// conjugate gradients then takes three passes and one of BiCGStab five, and the global sum can start without waiting.
/// Updates act point by point, so a fused walk gives the same result as one update after the other. For other spaces
/// the default below composes the call from `axpy` and `dot`.
///
/// A frozen column is one whose coefficients are all zero (scale one). A space must treat columns independently, so
/// that the bits of a column do not depend on its neighbours.

#include <array>
#include <complex>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace halocline::solve {

/// Coefficients and sums are double complex, whatever the vectors hold.
using Scalar = std::complex<double>;
/// One entry for each column.
using Scalars = std::vector<Scalar>;

/// Coefficients that a recursion on a device keeps there (recursion.hpp), where an update reads them. `given`: the list
/// itself has them.
enum class StoredCoefficient : int { given = -1, alpha, minus_alpha, omega, minus_omega, beta, minus_beta_omega };
inline constexpr int stored_coefficients = 6;

/// A summand: `coefficient[column] * vector`; an empty coefficient means one in every column.
template <class Vector>
struct Term {
  std::span<const Scalar> coefficient;
  const Vector* vector = nullptr;
  StoredCoefficient stored = StoredCoefficient::given;  ///< in place of `coefficient`; only in lists of a recursion
};

/// target = start + terms, where start is the target itself (`scale` empty), scale * target, or zero (`overwrite`). No
/// term may be the target itself. The previous values of an overwritten target do not matter, not even NaN.
template <class Vector>
struct Update {
  Vector* target = nullptr;
  bool overwrite = false;
  std::span<const Scalar> scale;
  std::array<Term<Vector>, 2> summands;
  int count = 0;                                              ///< number of `summands` in use
  StoredCoefficient stored_scale = StoredCoefficient::given;  ///< in place of `scale`

  std::span<const Term<Vector>> terms() const { return {summands.data(), static_cast<std::size_t>(count)}; }
};

/// <left, right>, conjugate-linear in `left`, one value for each column, summed over all processes.
template <class Vector>
struct Dot {
  const Vector* left = nullptr;
  const Vector* right = nullptr;

  /// Whether this is |left|^2, which is real: a space then sums one number instead of two.
  bool is_norm() const noexcept { return left == right; }
};

/// The required part of a space:
/// - `create()`  a vector of the space, contents unspecified; vectors move cheaply
/// - `columns()` width of the batch, at least 1
/// - `copy(out, in)`, `set_zero(v)`
/// - `axpy(alpha, x, y)`  y += alpha x, alpha of length columns()
/// - `dot(out, x, y)`     out[column] = <x, y>, conjugate-linear in x, accumulated in double in a fixed order and
///                        already summed over processes (collective)
template <class Space>
concept VectorSpace = std::movable<typename Space::Vector> &&
                      requires(Space& space, typename Space::Vector& y, const typename Space::Vector& x,
                               std::span<const Scalar> alpha, std::span<Scalar> sums) {
                        { space.create() } -> std::same_as<typename Space::Vector>;
                        { space.columns() } -> std::convertible_to<int>;
                        space.copy(y, x);
                        space.set_zero(y);
                        space.axpy(alpha, x, y);
                        space.dot(sums, x, x);
                      };

/// Optional: the fused call. The returned object's `wait()` gives the sums as [dot][column], valid during its lifetime.
template <class Space>
concept FusedVectorSpace =
    VectorSpace<Space> && requires(Space& space, std::span<const Update<typename Space::Vector>> updates,
                                   std::span<const Dot<typename Space::Vector>> dots) {
      { space.update_and_reduce(updates, dots).wait() } -> std::convertible_to<std::span<const Scalar>>;
    };

/// Optional: `scale(alpha, y)`, y = alpha y; spares the default a temporary vector.
template <class Space>
concept ScalingVectorSpace =
    requires(Space& space, typename Space::Vector& y, std::span<const Scalar> alpha) { space.scale(alpha, y); };

/// Sums that are complete already; the default's return type.
class FinishedSums {
public:
  explicit FinishedSums(Scalars values) : values_(std::move(values)) {}
  std::span<const Scalar> wait() const { return values_; }

private:
  Scalars values_;
};

namespace detail {
template <VectorSpace Space>
void carry_out(Space& space, const Update<typename Space::Vector>& update) {
  const Scalars ones(static_cast<std::size_t>(space.columns()), Scalar(1.0));
  std::span<const Term<typename Space::Vector>> terms = update.terms();
  if (update.overwrite) {
    if (!terms.empty() && terms.front().coefficient.empty()) {
      space.copy(*update.target, *terms.front().vector);
      terms = terms.subspan(1);
    } else {
      space.set_zero(*update.target);
    }
  } else if (!update.scale.empty()) {
    if constexpr (ScalingVectorSpace<Space>) {
      space.scale(update.scale, *update.target);
    } else {
      auto scaled = space.create();
      space.set_zero(scaled);
      space.axpy(update.scale, *update.target, scaled);
      *update.target = std::move(scaled);
    }
  }
  for (const auto& term : terms) {
    space.axpy(term.coefficient.empty() ? std::span<const Scalar>(ones) : term.coefficient, *term.vector,
               *update.target);
  }
}
}  // namespace detail

/// Carries out the updates in order, then the dot products. Returns the pending sums, [dot][column] after `wait()`.
/// Collective if there are dot products. Cost of the default: one pass for each term and one for each dot product.
template <VectorSpace Space>
auto update_and_reduce(Space& space, std::span<const Update<typename Space::Vector>> updates,
                       std::span<const Dot<typename Space::Vector>> dots) {
  if constexpr (FusedVectorSpace<Space>) {
    return space.update_and_reduce(updates, dots);
  } else {
    for (const auto& update : updates) detail::carry_out(space, update);
    const auto columns = static_cast<std::size_t>(space.columns());
    Scalars values(columns * dots.size());
    for (std::size_t i = 0; i < dots.size(); ++i) {
      space.dot(std::span<Scalar>(values).subspan(i * columns, columns), *dots[i].left, *dots[i].right);
    }
    return FinishedSums(std::move(values));
  }
}

/// As above, from lists written in place.
template <VectorSpace Space>
auto update_and_reduce(Space& space, std::initializer_list<Update<typename Space::Vector>> updates,
                       std::initializer_list<Dot<typename Space::Vector>> dots) {
  using V = typename Space::Vector;
  return update_and_reduce(space, std::span<const Update<V>>(updates.begin(), updates.size()),
                           std::span<const Dot<V>>(dots.begin(), dots.size()));
}

/// Updates only; no communication.
template <VectorSpace Space>
void update(Space& space, std::initializer_list<Update<typename Space::Vector>> updates) {
  update_and_reduce(space, updates, {}).wait();
}

/// Dot products only. Collective.
template <VectorSpace Space>
auto reduce(Space& space, std::initializer_list<Dot<typename Space::Vector>> dots) {
  return update_and_reduce(space, {}, dots);
}

/// y += a x
template <class Vector>
Update<Vector> add(Vector& y, std::span<const Scalar> a, const Vector& x) {
  return {&y, false, {}, {{{a, &x}, {}}}, 1};
}
/// y += a x + b z
template <class Vector>
Update<Vector> add(Vector& y, std::span<const Scalar> a, const Vector& x, std::span<const Scalar> b, const Vector& z) {
  return {&y, false, {}, {{{a, &x}, {b, &z}}}, 2};
}
/// y = a x
template <class Vector>
Update<Vector> assign(Vector& y, std::span<const Scalar> a, const Vector& x) {
  return {&y, true, {}, {{{a, &x}, {}}}, 1};
}
/// y = a x + b z
template <class Vector>
Update<Vector> assign(Vector& y, std::span<const Scalar> a, const Vector& x, std::span<const Scalar> b,
                      const Vector& z) {
  return {&y, true, {}, {{{a, &x}, {b, &z}}}, 2};
}
/// y = s y
template <class Vector>
Update<Vector> scale(Vector& y, std::span<const Scalar> s) {
  return {&y, false, s, {}, 0};
}
/// y = s y + a x
template <class Vector>
Update<Vector> scale_add(Vector& y, std::span<const Scalar> s, std::span<const Scalar> a, const Vector& x) {
  return {&y, false, s, {{{a, &x}, {}}}, 1};
}
/// y = s y + a x + b z
template <class Vector>
Update<Vector> scale_add(Vector& y, std::span<const Scalar> s, std::span<const Scalar> a, const Vector& x,
                         std::span<const Scalar> b, const Vector& z) {
  return {&y, false, s, {{{a, &x}, {b, &z}}}, 2};
}

// The same with coefficients of a recursion. They have names of their own, because `{}` stands for a coefficient of
// one.

/// y += a x + b z
template <class Vector>
Update<Vector> add_stored(Vector& y, StoredCoefficient a, const Vector& x, StoredCoefficient b, const Vector& z) {
  return {&y, false, {}, {{{{}, &x, a}, {{}, &z, b}}}, 2};
}
/// y += a x
template <class Vector>
Update<Vector> add_stored(Vector& y, StoredCoefficient a, const Vector& x) {
  return {&y, false, {}, {{{{}, &x, a}, {}}}, 1};
}
/// y = s y + x
template <class Vector>
Update<Vector> scale_add_stored(Vector& y, StoredCoefficient s, const Vector& x) {
  return {&y, false, {}, {{{{}, &x}, {}}}, 1, s};
}
/// y = s y + x + b z
template <class Vector>
Update<Vector> scale_add_stored(Vector& y, StoredCoefficient s, const Vector& x, StoredCoefficient b, const Vector& z) {
  return {&y, false, {}, {{{{}, &x}, {{}, &z, b}}}, 2, s};
}

}  // namespace halocline::solve
