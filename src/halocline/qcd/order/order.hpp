// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The memory orders of other lattice QCD codes, as plain values that compose, and by name.
///
/// An order says where each number of a local field lies: which site comes first, where the four directions of links
/// are, which index of a link or a spinor is fastest, and in which spin basis a spinor is given. Complex numbers are
/// pairs (re, im), except in orders with `lanes`, where the same real of several sites lies side by side. The named
/// orders (gauge_order(), spinor_order(), propagator_order()) are values of these types, read from the sources of the
/// codes; docs/conventions.md prints their formulas. offset.hpp is their obviously right form, convert.hpp the fast
/// one.
///
/// Every process has its own part: the local box of its geometry, in local coordinates.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/basis.hpp"

namespace halocline::qcd::order {

/// The order of the sites of the local box.
enum class Sites {
  lexicographic,  ///< t z y x, x fastest
  even_odd,       ///< even sites, then odd ones; each t z y x/2
  halves_of_x,    ///< sites with x < X/2, then the others; each t z y x mod X/2: the two domains of QWS
  cache_blocks,  ///< of openQCD 1.0 to 2.0: even sites, then odd ones; each in blocks of up to 4 along x y z; z fastest
};

struct SiteOrder {
  Sites sites = Sites::lexicographic;
  /// Consecutive sites that are kept side by side, number by number: [...][number][lane] instead of
  /// [...][lane][number]. 1 for orders of whole sites; 0 for as many as fill 64 bytes (8 in double, 16 in float).
  int lanes = 1;
  /// The code counts parities from the origin of the local box, not of the lattice. Where the two differ, an order
  /// that distinguishes parities is refused: no array could be meant.
  bool local_parity = false;

  friend bool operator==(const SiteOrder&, const SiteOrder&) = default;
};

/// Where the directions x y z t of links are.
enum class Directions {
  inside,            ///< [site][mu]
  outside,           ///< [mu][site]: one array, or four arrays
  in_each_half,      ///< [half of the sites][mu][site of the half]: QWS
  around_odd_sites,  ///< [odd site][+t -t +x -x +y -y +z -z]: openQCD; U_mu(x - mu) at -mu
};

struct GaugeOrder {
  SiteOrder sites;
  Directions directions = Directions::inside;
  bool transposed = false;  ///< [column][row] instead of [row][column]
  /// The other code's link is scale[mu] times ours (QUDA wants spatial links divided by the anisotropy), times
  /// boundary[mu] where it crosses the upper end of the lattice (-1 for quarks that are antiperiodic in time). Zero is
  /// refused.
  std::array<double, 4> scale{1, 1, 1, 1};
  std::array<double, 4> boundary{1, 1, 1, 1};
  /// Links contain the phases of staggered quarks, those of MILC: eta_x = (-1)^t, eta_y = (-1)^(t+x),
  /// eta_z = (-1)^(t+x+y), eta_t = 1, at global coordinates.
  bool staggered_phases = false;
};

/// Indices of a spinor, slowest first.
enum class Inside { spin_colour, colour_spin };

struct SpinorOrder {
  SiteOrder sites;
  Inside inside = Inside::spin_colour;
  const SpinBasis* basis = &spin_bases::degrand_rossi;
};

/// Indices of a propagator at a site, slowest first.
enum class PropagatorIndices {
  sink_source,     ///< sink spin, sink colour, source spin, source colour: ours
  spins_colours,   ///< sink spin, source spin, sink colour, source colour: QDP++, PyQUDA
  source_outside,  ///< [source spin][source colour] before the site: twelve spinor fields, one after another
};

struct PropagatorOrder {
  SiteOrder sites;
  PropagatorIndices indices = PropagatorIndices::sink_source;
  Inside inside = Inside::spin_colour;  ///< of the sink, where the source is outside
  const SpinBasis* basis = &spin_bases::degrand_rossi;
};

/// The names of the orders: "lexicographic", "even-odd", "qdp++", "quda", "pyquda", "milc", "qws", "qws-even-odd",
/// "openqcd". Other spellings: "canonical" for the first, "chroma" for "qdp++". "openqcd" is the order of openQCD 1.0
/// to 2.0. openQCD 2.4 orders its sites otherwise, by threads and cache blocks, and has no name here.
std::span<const std::string_view> names() noexcept;

/// The order of this name. Capital and small letters are the same.
/// @throws InvalidArgument  for an unknown name; lists the names. propagator_order() also for a code without
///                          propagators in memory (openQCD, QWS, MILC). Collective: no.
GaugeOrder gauge_order(std::string_view name);
SpinorOrder spinor_order(std::string_view name);
PropagatorOrder propagator_order(std::string_view name);

/// The spin basis of this name: "DeGrand-Rossi", "Dirac-Pauli", "UKQCD", "openQCD", or "Chiral", QUDA's name of the
/// last. Capital and small letters are the same. @throws InvalidArgument  for an unknown name; lists the names
const SpinBasis& basis(std::string_view name);

/// Lanes of the order for numbers of this many bytes.
constexpr int lanes(const SiteOrder& order, std::size_t number_bytes) {
  return order.lanes == 0 ? static_cast<int>(64 / number_bytes) : order.lanes;
}

/// Numbers (reals) of a whole local field: 72 a site for links, 24 for spinors, 288 for propagators.
inline constexpr int gauge_reals = 72;
inline constexpr int propagator_reals = 288;

/// @throws InvalidArgument  for an order that the geometry cannot have: lanes that do not divide the local extent of x,
/// odd extents of an order that distinguishes parities, local parities that differ from the global ones, factors that
/// are 0 or not finite. The same on every rank. Collective: no.
void check(const SiteOrder& order, const lattice::Geometry4& geometry, std::size_t number_bytes);
void check(const GaugeOrder& order, const lattice::Geometry4& geometry, std::size_t number_bytes);

}  // namespace halocline::qcd::order
