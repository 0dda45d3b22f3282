// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Common base of the vector spaces of tiled fields (solve/vector_space.hpp). SpinorSpace and schwarz::DomainSpace
/// differ only in their layout, and the walk over the memory does not depend on it (linear_algebra.hpp).

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "halocline/qcd/field/detail/linear_algebra.hpp"
#include "halocline/solve/block_space.hpp"

namespace halocline::qcd::detail {

/// @tparam Field  has data(), size() and span() of T
/// Copies share one reduction over processes, so only one of them may be in use at a time.
template <class T, class Field>
class TiledSpace {
public:
  using Vector = Field;

  int columns() const noexcept { return algebra_.columns(); }

  void copy(Vector& out, const Vector& in) const { update(solve::assign(out, {}, in)); }
  void set_zero(Vector& v) const { std::ranges::fill(v.span(), T(0)); }
  void axpy(std::span<const solve::Scalar> a, const Vector& x, Vector& y) const { update(solve::add(y, a, x)); }
  void scale(std::span<const solve::Scalar> a, Vector& y) const { update(solve::scale(y, a)); }
  /// <x, y> over all processes, one value for each column. Collective: yes.
  void dot(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const {
    const std::array<solve::Dot<Vector>, 1> dots{solve::Dot<Vector>{&x, &y}};
    const auto sums = update_and_reduce({}, dots);
    std::ranges::copy(sums.wait(), out.begin());
  }

  /// Carries out the updates in order, then the dots; see solve/vector_space.hpp. Collective: yes, if there are dots.
  solve::FinishedSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                        std::span<const solve::Dot<Vector>> dots) const {
    return algebra_.update_and_reduce(updates, dots);
  }

  /// Dot products, and other sums in the same message (solve/inner_gmres.hpp). @param more  numbers of this process;
  /// afterwards their sums. Collective: yes.
  solve::FinishedSums reduce_with(std::span<const solve::Dot<Vector>> dots, std::span<solve::Scalar> more) const {
    return algebra_.update_and_reduce(std::span<const solve::Update<Vector>>{}, dots, more);
  }

  /// @name The products of block solvers, see solve/block_space.hpp.
  /// @{
  double epsilon() const noexcept { return std::numeric_limits<T>::epsilon(); }
  /// Collective: yes.
  void gram(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const { algebra_.gram(out, x, y); }
  void multiply_add(Vector& y, const Vector& x, std::span<const solve::Scalar> m) const {
    algebra_.multiply(y, x, m, false);
  }
  void multiply(Vector& y, const Vector& x, std::span<const solve::Scalar> m) const {
    algebra_.multiply(y, x, m, true);
  }
  /// @}

  /// @name Products with vectors of a space of one column, see solve/shared_vectors.hpp.
  /// @{
  /// Collective: yes.
  solve::FinishedSums shared_dots(std::span<const Vector* const> shared, const Vector& y) const {
    return algebra_.shared_dots(shared, y);
  }
  void shared_add(Vector& y, std::span<const solve::Scalar> a, std::span<const Vector* const> shared) const {
    algebra_.shared_add(y, a, shared);
  }
  /// @}

protected:
  /// @throws InvalidArgument  for less than one column. Collective: yes.
  TiledSpace(const FlatShape& shape, const comm::Communicator& group) : algebra_(shape, group) {}

private:
  void update(const solve::Update<Vector>& one) const {
    update_and_reduce(std::span<const solve::Update<Vector>>(&one, 1), {});
  }

  LinearAlgebra<T> algebra_;
};

}  // namespace halocline::qcd::detail
