// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Orthogonalises a vector against many by classical Gram-Schmidt, with a second round if one is not enough.
///
/// In the classical form one reduction gives all coefficients, and one pass uses them. A column that lost more than
/// half of its squared norm has lost digits and is orthogonalised once more (Daniel, Gragg, Kaufman and Stewart, Math.
/// Comput. 30 (1976) 772). In the second round the other columns have zero coefficients.
///
/// `orthogonalise_by_one_sum` is for solvers inside a preconditioner, on many processes with few sites each, where a
/// sum over processes costs more than the arithmetic. The norm afterwards follows from Pythagoras. It then has fewer
/// digits than a norm that is computed, and a second round is made only for a column that lost nine tenths of its
/// length.

#include <cmath>
#include <complex>
#include <concepts>
#include <span>
#include <vector>

#include "halocline/solve/vector_space.hpp"

namespace halocline::solve::detail {

struct Orthogonalised {
  Scalars coefficients;         ///< [basis vector][column]: component of w along each basis vector
  std::vector<double> norm2;    ///< [column]: |w|^2 afterwards
  std::vector<double> before2;  ///< [column]: |w|^2 before
};

/// w += sum_i a_i v_i as updates of two vectors each.
/// @param a  [basis vector][column]; referred to
template <class V>
std::vector<Update<V>> adding(V& w, std::span<const Scalar> a, std::span<const V* const> basis, std::size_t columns) {
  std::vector<Update<V>> updates;
  for (std::size_t i = 0; i < basis.size(); i += 2) {
    const auto here = a.subspan(i * columns, columns);
    if (i + 1 == basis.size())
      updates.push_back(add(w, here, *basis[i]));
    else
      updates.push_back(add(w, here, *basis[i], a.subspan((i + 1) * columns, columns), *basis[i + 1]));
  }
  return updates;
}

/// w -= sum_i v_i <v_i, w> / norms2_i, in every column.
/// @param basis   mutually orthogonal vectors
/// @param norms2  [basis vector][column]: |v_i|^2; empty if all are one. A zero excludes the vector.
/// Collective. Cost: 2 to 4 passes over the basis, 2 to 4 reductions.
template <VectorSpace Space>
Orthogonalised orthogonalise(Space& space, std::span<const typename Space::Vector* const> basis,
                             std::span<const double> norms2, typename Space::Vector& w) {
  using V = typename Space::Vector;
  const auto columns = static_cast<std::size_t>(space.columns());
  const std::size_t n = basis.size();
  Orthogonalised out{Scalars(n * columns), std::vector<double>(columns), {}};
  std::vector<bool> needed(columns, true);
  std::vector<Dot<V>> dots;
  for (const V* v : basis) dots.push_back({v, &w});
  dots.push_back({&w, &w});
  const Dot<V> norm{&w, &w};

  for (int round = 0; round < 2; ++round) {
    const auto pending = update_and_reduce(space, std::span<const Update<V>>{}, std::span<const Dot<V>>(dots));
    const std::span<const Scalar> sums = pending.wait();
    if (round == 0) {
      for (std::size_t c = 0; c < columns; ++c) out.before2.push_back(sums[n * columns + c].real());
    }
    Scalars minus(n * columns);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < columns; ++c) {
        const double norm2 = norms2.empty() ? 1.0 : norms2[i * columns + c];
        const Scalar h = needed[c] && norm2 > 0.0 ? sums[i * columns + c] / norm2 : Scalar(0.0);
        out.coefficients[i * columns + c] += h;
        minus[i * columns + c] = -h;
      }
    }
    const auto updates = adding<V>(w, minus, basis, columns);
    const auto after = update_and_reduce(space, std::span<const Update<V>>(updates), std::span<const Dot<V>>(&norm, 1));
    bool again = false;
    for (std::size_t c = 0; c < columns; ++c) {
      const double norm2 = after.wait()[c].real();
      needed[c] = round == 0 && n > 0 && norm2 < 0.5 * out.before2[c];
      again = again || needed[c];
      out.norm2[c] = norm2;
    }
    if (!again) break;
  }
  return out;
}

/// No directions beside the basis.
struct NoOthers {};

/// Orthonormal directions that are no vectors of the space, such as those of a deflation:
/// - `products(w)`    <c_i, w> as [direction][column], of this process alone
/// - `remove(w, a)`   w -= sum_i c_i a[i]
/// The space sums their products together with its own (`reduce_with`).
template <class Others, class Space>
concept OtherDirections =
    VectorSpace<Space> &&
    requires(const Others& others, Space& space, typename Space::Vector& w, const typename Space::Vector& v,
             std::span<const Dot<typename Space::Vector>> dots, std::span<const Scalar> a, std::span<Scalar> more) {
      { others.products(v) } -> std::same_as<Scalars>;
      others.remove(w, a);
      { space.reduce_with(dots, more).wait() } -> std::convertible_to<std::span<const Scalar>>;
    };

struct OrthogonalisedAtOnce : Orthogonalised {
  Scalars others;  ///< [direction][column]: component of w along each of the others
  Scalars also;    ///< [column]: <w, also> afterwards, if `also` is orthogonal to all directions
};

/// Dot products with the directions in one sum over processes. Collective: yes.
/// @param more  receives the products with the others
template <VectorSpace Space, class Others>
auto reduce_with_others(Space& space, std::span<const Dot<typename Space::Vector>> dots, const Others& others,
                        const typename Space::Vector& w, Scalars& more) {
  if constexpr (std::same_as<Others, NoOthers>) {
    return update_and_reduce(space, std::span<const Update<typename Space::Vector>>{}, dots);
  } else {
    static_assert(OtherDirections<Others, Space>);
    more = others.products(w);
    return space.reduce_with(dots, std::span<Scalar>(more));
  }
}

/// As orthogonalise, and against the others too.
/// @param also  a vector whose product with w is needed as well, or null
/// Collective. Cost: 2 passes over the basis and one sum; twice that where digits were lost.
template <VectorSpace Space, class Others = NoOthers>
OrthogonalisedAtOnce orthogonalise_by_one_sum(Space& space, std::span<const typename Space::Vector* const> basis,
                                              std::span<const double> norms2, typename Space::Vector& w,
                                              const Others& others = {}, const typename Space::Vector* also = nullptr) {
  using V = typename Space::Vector;
  /// Part of a squared norm that must be left: the norm by Pythagoras then has two digits less than the sums.
  constexpr double least_left = 0.01;
  const auto columns = static_cast<std::size_t>(space.columns());
  const std::size_t n = basis.size();
  OrthogonalisedAtOnce out{{Scalars(n * columns), std::vector<double>(columns), {}}, {}, Scalars(columns)};
  std::vector<bool> needed(columns, true);
  std::vector<Dot<V>> dots;
  for (const V* v : basis) dots.push_back({v, &w});
  dots.push_back({&w, &w});
  if (also != nullptr) dots.push_back({&w, also});

  for (int round = 0; round < 2; ++round) {
    Scalars more;
    const auto pending = reduce_with_others(space, std::span<const Dot<V>>(dots), others, w, more);
    const std::span<const Scalar> sums = pending.wait();
    std::vector<double> norm2(columns), before2(columns);
    for (std::size_t c = 0; c < columns; ++c) before2[c] = norm2[c] = sums[n * columns + c].real();
    if (round == 0) {
      out.before2 = before2;
      out.others.resize(more.size());
    }
    Scalars minus(n * columns);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t c = 0; c < columns; ++c) {
        const double length2 = norms2.empty() ? 1.0 : norms2[i * columns + c];
        const Scalar h = needed[c] && length2 > 0.0 ? sums[i * columns + c] / length2 : Scalar(0.0);
        out.coefficients[i * columns + c] += h;
        minus[i * columns + c] = -h;
        norm2[c] -= std::norm(h) * length2;
      }
    }
    for (std::size_t i = 0; i < more.size(); ++i) {
      const std::size_t c = i % columns;
      if (!needed[c]) more[i] = 0.0;
      out.others[i] += more[i];
      norm2[c] -= std::norm(more[i]);
    }
    const auto updates = adding<V>(w, minus, basis, columns);
    update_and_reduce(space, std::span<const Update<V>>(updates), std::span<const Dot<V>>{}).wait();
    if constexpr (!std::same_as<Others, NoOthers>) others.remove(w, more);
    bool again = false;
    for (std::size_t c = 0; c < columns; ++c) {
      if (!needed[c]) continue;
      out.norm2[c] = norm2[c];
      if (also != nullptr) out.also[c] = sums[(n + 1) * columns + c];
      needed[c] = round == 0 && norm2[c] < least_left * before2[c];
      again = again || needed[c];
    }
    if (!again) break;
  }
  return out;
}

}  // namespace halocline::solve::detail
