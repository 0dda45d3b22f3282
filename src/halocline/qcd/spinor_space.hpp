// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor fields as a vector space for the Krylov solvers (solve/vector_space.hpp).
///
/// All linear algebra of a solver goes through one call, `update_and_reduce`. It walks over the field in chunks small
/// enough for the first-level cache and carries out every update and every dot product on a chunk before it goes to the
/// next, so that an iteration reads and writes each field as often as its lists are called, not as often as they name
/// it. Sums are kept one a chunk, in double, and added in chunk order, then in rank order: the result has the same bits
/// for any number of threads.

#include <memory>
#include <span>
#include <utility>

#include "halocline/qcd/spinor_field.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd {

template <class T>
class SpinorSpace {
public:
  using Vector = SpinorField<T>;

  /// Fields on `subset` of the layout. Collective: no.
  SpinorSpace(std::shared_ptr<const lattice::TileLayout> layout, lattice::Subset subset)
      : layout_(std::move(layout)), subset_(subset) {}

  Vector create() const { return spinor_field<T>(layout_, subset_); }
  static constexpr int columns() { return 1; }
  lattice::Subset subset() const noexcept { return subset_; }
  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept { return layout_; }

  void copy(Vector& out, const Vector& in) const;
  void set_zero(Vector& v) const;
  void axpy(std::span<const solve::Scalar> a, const Vector& x, Vector& y) const;
  void scale(std::span<const solve::Scalar> a, Vector& y) const;
  /// <x, y> over all processes. Collective.
  void dot(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const;

  /// The updates in order, then the dots; see solve/vector_space.hpp. Collective where there are dots.
  solve::FinishedSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                        std::span<const solve::Dot<Vector>> dots) const;

private:
  std::shared_ptr<const lattice::TileLayout> layout_;
  lattice::Subset subset_;
};

/// Rounds or widens; the two fields have the same layout and subset, so this streams.
/// @throws InvalidArgument  where they have not. Collective: no.
template <class To, class From>
void convert(SpinorField<To>& out, const SpinorField<From>& in);

/// out = gamma5 in, or with out = in in place. Collective: no.
template <class T>
void apply_gamma5(SpinorField<T>& out, const SpinorField<T>& in);

extern template class SpinorSpace<float>;
extern template class SpinorSpace<double>;

}  // namespace halocline::qcd
