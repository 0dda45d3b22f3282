// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Copies spinor fields from the even-odd tiles of the double-precision operator to the domains of the Schwarz
/// operator, and back.
///
/// Both layouts hold the same box. A table of 8 bytes a site, made once, gives the place of each site of a domain tile
/// in the other layout. A change of layout is one threaded pass that gathers the lanes of a domain tile, component by
/// component, and narrows or widens them. Neighbouring domain tiles find their lanes in the same tiles of the other
/// layout, so these are still in cache.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/field/spinor_field.hpp"

namespace halocline::qcd::schwarz {

class LayoutChange {
public:
  /// @throws InvalidArgument  for layouts of different boxes. Collective: no.
  LayoutChange(std::shared_ptr<const lattice::TileLayout> tiles, std::shared_ptr<const lattice::DomainLayout> domains);

  /// to = factor[column] * from, rounded to float after the multiplication.
  /// @param factor  one a column
  /// @throws InvalidArgument  for fields of other layouts, on a subset, or with different numbers of columns.
  ///                          Collective: no.
  /// Cost: 24 (8 + 4) bytes a site and column.
  void to_domains(lattice::DomainField<float>& to, const SpinorField<double>& from,
                  std::span<const double> factor) const;
  /// to = factor[column] * from, multiplied in double.
  void to_tiles(SpinorField<double>& to, const lattice::DomainField<float>& from, std::span<const double> factor) const;

private:
  struct Place {
    std::int32_t tile;  ///< over both parities
    std::int32_t lane;
  };
  void require(const lattice::DomainField<float>& domains, const SpinorField<double>& tiles,
               std::span<const double> factor) const;

  std::shared_ptr<const lattice::TileLayout> tiles_;
  std::shared_ptr<const lattice::DomainLayout> domains_;
  std::vector<Place> places_;  ///< [domain][tile][lane] of the domain layout
};

}  // namespace halocline::qcd::schwarz
