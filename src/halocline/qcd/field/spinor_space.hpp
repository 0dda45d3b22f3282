// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor fields as a vector space for the Krylov solvers (solve/vector_space.hpp).
///
/// All linear algebra of a solver goes through one call, `update_and_reduce`, which walks once through the memory
/// (detail/linear_algebra.hpp). A call reads and writes each field once, however often its lists name the field. A sum
/// has the same bits for any number of threads, and for a column alone or in a batch.

#include <memory>
#include <vector>

#include "halocline/qcd/field/spinor_field.hpp"
#include "halocline/qcd/field/tiled_space.hpp"

namespace halocline::qcd {

template <class T>
class SpinorSpace : public detail::TiledSpace<T, SpinorField<T>> {
public:
  using Vector = SpinorField<T>;

  /// Fields of `columns` columns on `subset` of the layout. With a fifth dimension, a vector of the space is `points`
  /// columns, one after another, and columns() is the number of such vectors. Copies share one reduction over
  /// processes, so only one of them may be in use at a time.
  /// @param components  complex numbers of a quark at one site, 3 for staggered quarks
  /// @throws InvalidArgument  for less than one vector. Collective: yes.
  SpinorSpace(std::shared_ptr<const lattice::TileLayout> layout, lattice::Subset subset, int columns = 1,
              int points = 1, int components = spinor_components);

  /// A field of zeros.
  Vector create() const { return Vector(layout_, 2 * components_, subset_, this->columns() * points_); }
  int points() const noexcept { return points_; }
  int components() const noexcept { return components_; }
  lattice::Subset subset() const noexcept { return subset_; }
  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept { return layout_; }

private:
  std::shared_ptr<const lattice::TileLayout> layout_;
  lattice::Subset subset_;
  int points_;
  int components_;
};

/// |v| of each column. Collective: yes.
template <class T>
std::vector<double> norms(const SpinorSpace<T>& space, const SpinorField<T>& v);

/// out = in, rounded or widened. Both fields must have the same subset and columns, and one layout or splits of one
/// (TileLayout::split); the conversion then reads and writes memory in order.
/// @throws InvalidArgument  if they differ. Collective: no.
template <class To, class From>
void convert(SpinorField<To>& out, const SpinorField<From>& in);

/// out = gamma5 in; out may be in. Collective: no.
template <class T>
void apply_gamma5(SpinorField<T>& out, const SpinorField<T>& in);

extern template class SpinorSpace<float>;
extern template class SpinorSpace<double>;

}  // namespace halocline::qcd
