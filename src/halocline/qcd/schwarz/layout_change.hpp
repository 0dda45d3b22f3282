// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Copies spinor fields from the even-odd tiles of the plain operator to the domains of the Schwarz operator, and back.
///
/// Both layouts hold the same box. A table of 8 bytes a site, made once, gives the place of each site of a domain tile
/// in the other layout. A change of layout is one threaded pass that gathers the lanes of a domain tile, component by
/// component, and narrows or widens them. Neighbouring domain tiles find their lanes in the same tiles of the other
/// layout, so these are still in cache.
///
/// A field of one parity counts as zero on the other one, and takes only its own sites back.

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

  /// to = factor[column] * from, multiplied in double and then rounded to float.
  /// @param from    full, or of one parity
  /// @param factor  one a column
  /// @tparam T      float or double
  /// @throws InvalidArgument  for fields of other layouts, or with different numbers of columns. Collective: no.
  /// Cost: 24 (sizeof(T) + 4) bytes a site and column.
  template <class T>
  void to_domains(lattice::DomainField<float>& to, const SpinorField<T>& from, std::span<const double> factor) const;
  /// to = factor[column] * from, multiplied in double. @param to  full, or of one parity
  template <class T>
  void to_tiles(SpinorField<T>& to, const lattice::DomainField<float>& from, std::span<const double> factor) const;

private:
  struct Place {
    std::int32_t tile;  ///< over both parities
    std::int32_t lane;
  };
  template <class T>
  void require(const lattice::DomainField<float>& domains, const SpinorField<T>& tiles,
               std::span<const double> factor) const;
  /// Where the lanes of a domain tile are in `tiles`; `absent` for sites that it does not hold.
  template <class Number, class Tiles>
  void find_lanes(std::span<Number*> lanes, std::int64_t domain_tile, Tiles& tiles, Number* absent) const;

  std::shared_ptr<const lattice::TileLayout> tiles_;
  std::shared_ptr<const lattice::DomainLayout> domains_;
  std::vector<Place> places_;  ///< [domain][tile][lane] of the domain layout
};

}  // namespace halocline::qcd::schwarz
