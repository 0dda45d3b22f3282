// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/spinor_field.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"

namespace halocline::qcd {
namespace {

/// Calls visit(reals of a site in `column` of the field, complexes of the site in the box, lanes, spins) for every site
/// that is held.
template <class FieldType, class Box, class Visit>
void for_each_site(FieldType& field, int column, std::span<Box> box, Visit visit) {
  const auto& layout = field.layout();
  const auto& local = layout.geometry().local();
  const std::int64_t expected = lattice::product<4>(local) * (field.reals_per_site() / 2);
  if (static_cast<std::int64_t>(box.size()) != expected)
    throw core::InvalidArgument(
        fmt::format("a spinor array of {} complex numbers was given for a local box of {}x{}x{}x{} sites; give "
                    "[t][z][y][x]{}[colour], {} numbers",
                    box.size(), local[0], local[1], local[2], local[3],
                    field.reals_per_site() == spinor_reals ? "[spin]" : "", expected));
  if (column < 0 || column >= field.columns())
    throw core::InvalidArgument(
        fmt::format("column {} of a spinor field of {} was asked for; count from 0", column, field.columns()));
  const int lanes = layout.lanes(), spins = field.reals_per_site() / staggered_reals;
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < lattice::product<4>(local); ++site) {
    const auto place = layout.locate(lattice::coordinates_of<4>(site, local));
    if (field.subset() != lattice::Subset::full && static_cast<int>(field.subset()) != place.parity) continue;
    auto* reals =
        field.parity(place.parity) + place.tile * field.tile_stride() + column * field.column_stride() + place.lane;
    visit(reals, box.data() + colours * spins * site, lanes, spins);
  }
}

}  // namespace

template <class T>
void from_canonical(SpinorField<T>& field, int column, std::span<const std::complex<double>> canonical) {
  for_each_site(field, column, canonical, [](T* reals, const std::complex<double>* spinor, int lanes, int spins) {
    for (int spin = 0; spin < spins; ++spin)
      for (int colour = 0; colour < 3; ++colour) {
        reals[(2 * (spins * colour + spin) + 0) * lanes] = static_cast<T>(spinor[3 * spin + colour].real());
        reals[(2 * (spins * colour + spin) + 1) * lanes] = static_cast<T>(spinor[3 * spin + colour].imag());
      }
  });
}

template <class T>
void to_canonical(std::span<std::complex<double>> canonical, const SpinorField<T>& field, int column) {
  for_each_site(field, column, canonical, [](const T* reals, std::complex<double>* spinor, int lanes, int spins) {
    for (int spin = 0; spin < spins; ++spin)
      for (int colour = 0; colour < 3; ++colour)
        spinor[3 * spin + colour] = {static_cast<double>(reals[(2 * (spins * colour + spin) + 0) * lanes]),
                                     static_cast<double>(reals[(2 * (spins * colour + spin) + 1) * lanes])};
  });
}

template void from_canonical(SpinorField<float>&, int, std::span<const std::complex<double>>);
template void from_canonical(SpinorField<double>&, int, std::span<const std::complex<double>>);
template void to_canonical(std::span<std::complex<double>>, const SpinorField<float>&, int);
template void to_canonical(std::span<std::complex<double>>, const SpinorField<double>&, int);

}  // namespace halocline::qcd
