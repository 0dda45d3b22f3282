// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor fields: twelve complex numbers a site and column, stored `[colour][spin][re, im]` in the tiled layout. Fields
/// of staggered quarks have three, `[colour][re, im]`.

#include <complex>
#include <memory>
#include <span>

#include "halocline/lattice/field.hpp"
#include "halocline/qcd/field/components.hpp"

namespace halocline::qcd {

template <class T>
using SpinorField = lattice::Field<T>;

/// A zero spinor field. Collective: no.  Cost: 24 sizeof(T) bytes a site and column.
template <class T>
SpinorField<T> spinor_field(std::shared_ptr<const lattice::TileLayout> layout, lattice::Subset subset,
                            int columns = 1) {
  return SpinorField<T>(std::move(layout), spinor_reals, subset, columns);
}

/// Fills one column, on the sites that `field` holds, from the local box in canonical order.
/// @param canonical  shape [t][z][y][x][spin 4][colour 3], or [t][z][y][x][colour 3] for a field of staggered quarks;
///                   the whole local box
/// @throws InvalidArgument  for a wrong length, or a column that the field does not have. Collective: no.
template <class T>
void from_canonical(SpinorField<T>& field, int column, std::span<const std::complex<double>> canonical);
/// The same for column 0.
template <class T>
void from_canonical(SpinorField<T>& field, std::span<const std::complex<double>> canonical) {
  from_canonical<T>(field, 0, canonical);
}

/// Writes one column, on the sites that `field` holds, into the local box in canonical order. Other sites keep their
/// values. @throws InvalidArgument  as above. Collective: no.
template <class T>
void to_canonical(std::span<std::complex<double>> canonical, const SpinorField<T>& field, int column = 0);

}  // namespace halocline::qcd
