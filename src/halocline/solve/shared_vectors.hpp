// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Products of one vector with every column of a batch.
///
/// A deflation vector belongs to the operator and not to a right-hand side, so all columns of a batch share it. It is
/// stored once, as a vector of a space of one column. A space of several columns says how its columns meet such a
/// vector by two members. Both take a list of shared vectors, so that a space can use its columns while they are in
/// cache and sum over processes once.

#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::solve {

/// Optional:
/// - `shared_dots(v, y).wait()`  <v_i, y_c> as [vector][column], valid during the lifetime of the object (collective)
/// - `shared_add(y, a, v)`       y_c += sum_i a_ic v_i with a as [vector][column]
/// The vectors v_i are those of a space of one column. The columns of y must not influence each other.
template <class Space>
concept SharingVectorSpace =
    VectorSpace<Space> && requires(Space& space, typename Space::Vector& y, const typename Space::Vector& in,
                                   std::span<const Scalar> a, std::span<const typename Space::Vector* const> shared) {
      { space.shared_dots(shared, in).wait() } -> std::convertible_to<std::span<const Scalar>>;
      space.shared_add(y, a, shared);
    };

/// @throws InvalidArgument  the space has several columns and no products with shared vectors; on every process
template <VectorSpace Space>
void require_sharing(const Space& space) {
  if (!SharingVectorSpace<Space> && space.columns() != 1)
    throw core::InvalidArgument("shared vectors: a batch of " + std::to_string(space.columns()) +
                                " columns given, but this space has no shared_dots and shared_add. Use one column.");
}

/// <v_i, y_c> as [vector][column] after `wait()`. Collective. Without shared_dots the space must have one column.
template <VectorSpace Space>
auto shared_dots(Space& space, std::span<const typename Space::Vector* const> shared, const typename Space::Vector& y) {
  if constexpr (SharingVectorSpace<Space>) {
    return space.shared_dots(shared, y);
  } else {
    using V = typename Space::Vector;
    std::vector<Dot<V>> dots;
    for (const V* v : shared) dots.push_back({v, &y});
    return update_and_reduce(space, std::span<const Update<V>>{}, std::span<const Dot<V>>(dots));
  }
}

/// y_c += sum_i a_ic v_i, with a as [vector][column]. Without shared_add the space must have one column.
template <VectorSpace Space>
void shared_add(Space& space, typename Space::Vector& y, std::span<const Scalar> a,
                std::span<const typename Space::Vector* const> shared) {
  if constexpr (SharingVectorSpace<Space>) {
    space.shared_add(y, a, shared);
  } else {
    using V = typename Space::Vector;
    std::vector<Update<V>> updates;
    for (std::size_t i = 0; i < shared.size(); i += 2) {
      updates.push_back(i + 1 < shared.size() ? add(y, a.subspan(i, 1), *shared[i], a.subspan(i + 1, 1), *shared[i + 1])
                                              : add(y, a.subspan(i, 1), *shared[i]));
    }
    update_and_reduce(space, std::span<const Update<V>>(updates), std::span<const Dot<V>>{}).wait();
  }
}

}  // namespace halocline::solve
