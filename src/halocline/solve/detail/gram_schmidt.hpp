// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Orthogonalises a vector against many by classical Gram-Schmidt, with a second round if one is not enough.
///
/// In the classical form one reduction gives all coefficients, and one pass uses them. A column that lost more than
/// half of its squared norm has lost digits and is orthogonalised once more (Daniel, Gragg, Kaufman and Stewart, Math.
/// Comput. 30 (1976) 772). In the second round the other columns have zero coefficients.

#include <cmath>
#include <span>
#include <vector>

#include "halocline/solve/vector_space.hpp"

namespace halocline::solve::detail {

struct Orthogonalised {
  Scalars coefficients;         ///< [basis vector][column]: component of w along each basis vector
  std::vector<double> norm2;    ///< [column]: |w|^2 afterwards
  std::vector<double> before2;  ///< [column]: |w|^2 before
};

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
    std::vector<Update<V>> updates;
    for (std::size_t i = 0; i < n; i += 2) {
      const auto a = std::span<const Scalar>(minus).subspan(i * columns, columns);
      if (i + 1 == n) {
        updates.push_back(add(w, a, *basis[i]));
      } else {
        updates.push_back(
            add(w, a, *basis[i], std::span<const Scalar>(minus).subspan((i + 1) * columns, columns), *basis[i + 1]));
      }
    }
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

}  // namespace halocline::solve::detail
