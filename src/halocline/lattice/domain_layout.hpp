// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The place of a site in memory if each process's box is cut into domains: domain, tile, lane.
///
/// Domains are equal boxes, `blocks` of them along each axis of a process. They are coloured like a chess board over
/// the whole lattice: colour = sum of the global block coordinates mod 2. A Schwarz solver at the strong-scaling limit
/// has two halves along x and one block along the other axes; its colour is then x-half xor (py + pz + pt) mod 2. If an
/// axis has an odd number of blocks (one process with one block, say), the neighbours across its periodic edge have the
/// same colour, and a domain may be its own neighbour.
///
/// Inside a domain, a tile is a group of V sites that move through one SIMD pack, with T_mu lanes along axis mu that
/// are far apart, as in tile_layout.hpp: site x_mu = o_mu + O_mu l_mu has outer coordinate o_mu and lane coordinate
/// l_mu. Unlike there, a tile may mix parities, so T_mu need only divide the extent. A step along mu from the last
/// outer coordinate leads to the first one, with the lanes moved by one. The lanes that move off the end look through
/// the face of the domain; with T_mu = 1 the whole tile does.
///
/// A face is sent as slots, one for each tile of the edge in increasing order. A slot has the V / T_mu lanes that look
/// through the face, in increasing order. The tiles on both sides of a face have the same transverse coordinates, so
/// both sides number the slots equally.
///
/// Domains are numbered by colour (all of colour 0 first), then x fastest; tiles within a domain x fastest.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::lattice {

/// The place of one site.
struct DomainSite {
  std::int32_t domain;
  std::int32_t tile;  ///< within the domain
  int lane;
};

/// The neighbour of a tile in one direction; the same in every domain.
struct DomainNeighbour {
  static constexpr std::int32_t inside = -1;
  std::int32_t tile;  ///< in the same domain; across the edge, the tile whose lanes, moved by one, lie inside
  std::int32_t slot;  ///< slot of the face, or `inside`
};

/// The domain or process behind a face.
struct DomainLink {
  std::int32_t domain;  ///< the neighbour in this process; -1 if another process holds it
  bool same_colour;
};

class DomainLayout {
public:
  static constexpr int max_lanes = 16;  ///< limit for callers; doubled() makes up to twice as many

  /// @param geometry  the local box
  /// @param blocks    domains along x, y, z, t of one process
  /// @param tile      lanes along x, y, z, t: powers of two with a product of at most 16
  /// @throws InvalidArgument  names the axis and a choice that fits
  DomainLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& blocks, const Coordinates<4>& tile);

  /// The layout with the most lanes that fit; among these, the one whose steps look through faces or move lanes least
  /// often.
  /// @param lanes       upper limit; a power of two up to 16
  /// @param one_parity  only layouts whose tiles have one parity each
  /// @throws InvalidArgument  as above; the same on every rank
  static std::shared_ptr<const DomainLayout> best(std::shared_ptr<const Geometry4> geometry,
                                                  const Coordinates<4>& blocks, int lanes = max_lanes,
                                                  bool one_parity = false);

  /// The same domains with twice the lanes, for numbers of half the size. A tile then holds two tiles of this layout,
  /// half the outer extent apart along one axis: the axis for which steps look through faces or move lanes least often.
  /// It is t only if no other axis can be divided, because algorithms that go through a domain slice by slice in t need
  /// single lanes there.
  /// @param one_parity  only a layout whose tiles have one parity each
  /// @returns  null if no axis has an even number of tiles, or if the lanes would be more than twice max_lanes
  std::shared_ptr<const DomainLayout> doubled(bool one_parity = false) const;

  const Geometry4& geometry() const noexcept { return *geometry_; }
  const std::shared_ptr<const Geometry4>& geometry_ptr() const noexcept { return geometry_; }
  const Coordinates<4>& blocks() const noexcept { return blocks_; }  ///< domains along each axis of a process
  const Coordinates<4>& block() const noexcept { return block_; }    ///< sites of a domain along each axis
  const Coordinates<4>& tile() const noexcept { return tile_; }      ///< lanes along each axis
  const Coordinates<4>& outer() const noexcept { return outer_; }    ///< tiles of a domain along each axis
  int lanes() const noexcept { return lanes_; }
  std::int32_t domains() const noexcept { return static_cast<std::int32_t>(product<4>(blocks_)); }
  std::int32_t tiles() const noexcept { return tiles_; }  ///< number of tiles of one domain

  /// Whether all sites of a tile have the same parity within their domain: that of the sum of the coordinates that
  /// count from the domain's first site.
  bool tiles_have_one_parity() const noexcept { return have_one_parity(tile_, outer_); }
  /// The parity of a tile within its domain, 0 or 1, where tiles have one.
  int parity(std::int32_t tile) const noexcept;

  /// Domains of a colour are numbered from first_domain(colour) to first_domain(colour + 1).
  std::int32_t first_domain(int colour) const noexcept { return first_domain_[colour]; }
  int colour(std::int32_t domain) const noexcept { return domain < first_domain_[1] ? 0 : 1; }
  /// Block coordinates within the process.
  const Coordinates<4>& block_coordinates(std::int32_t domain) const noexcept { return block_of_[domain]; }

  DomainSite locate(const Coordinates<4>& local) const noexcept;
  Coordinates<4> coordinates(const DomainSite& site) const noexcept;

  /// The eight neighbours of a tile; direction d = mu is the step +mu, d = 4 + mu the step -mu.
  const DomainNeighbour* of(std::int32_t tile) const noexcept { return table_.data() + 8 * tile; }
  /// For a step over the edge in direction d: lane i of the neighbour is lane moved(d)[i] of the tile named in the
  /// table, if stays_inside(d)[i] is not 0.
  std::span<const std::int32_t> moved(int d) const noexcept { return moved_[d]; }
  std::span<const std::int32_t> stays_inside(int d) const noexcept { return stays_inside_[d]; }

  std::int32_t face_slots(int axis) const noexcept { return tiles_ / static_cast<std::int32_t>(outer_[axis]); }
  int face_lanes(int axis) const noexcept { return lanes_ / static_cast<int>(tile_[axis]); }
  /// The tiles, and their lanes, that a neighbouring domain sees in *its* direction d; tiles in the order of the slots.
  std::span<const std::int32_t> seen_tiles(int d) const noexcept { return seen_tiles_[d]; }
  std::span<const std::int32_t> seen_lanes(int d) const noexcept { return seen_lanes_[d]; }
  /// The lanes of the looking tile that a slot of direction d fills, in the same order.
  std::span<const std::int32_t> looking_lanes(int d) const noexcept { return looking_lanes_[d]; }

  /// The neighbour of a domain in direction d.
  const DomainLink& link(std::int32_t domain, int d) const noexcept { return links_[8 * domain + d]; }
  /// arriving: domains of this process that see, in direction d, a domain of `source_colour` of another process.
  /// leaving: domains of `source_colour` of this process that another process sees in its direction d. Both sides have
  /// the same order. Empty on an axis that is not split.
  std::span<const std::int32_t> arriving(int d, int source_colour) const noexcept {
    return arriving_[d][source_colour];
  }
  std::span<const std::int32_t> leaving(int d, int source_colour) const noexcept { return leaving_[d][source_colour]; }

private:
  /// An even step between the lanes of an axis does not change the parity.
  static bool have_one_parity(const Coordinates<4>& tile, const Coordinates<4>& outer) noexcept;
  DomainLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& blocks, const Coordinates<4>& tile,
               int most_lanes);

  std::shared_ptr<const Geometry4> geometry_;
  Coordinates<4> blocks_, block_{}, tile_, outer_{};
  int lanes_ = 1;
  std::int32_t tiles_ = 0;
  std::array<std::int32_t, 3> first_domain_{};
  std::vector<std::int32_t> domain_of_;  ///< by linear index of the block
  std::vector<Coordinates<4>> block_of_;
  std::vector<DomainNeighbour> table_;
  std::vector<DomainLink> links_;
  std::array<std::vector<std::int32_t>, 8> moved_, stays_inside_, seen_tiles_, seen_lanes_, looking_lanes_;
  std::array<std::array<std::vector<std::int32_t>, 2>, 8> arriving_, leaving_;
};

}  // namespace halocline::lattice
