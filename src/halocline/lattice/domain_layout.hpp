// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where a site stands in memory when each process's box is cut into domains: domain, tile, lane.
///
/// Domains are equal boxes, `blocks` of them along each axis of a process. They are coloured like a chess board over
/// the whole lattice: colour = sum of the global block coordinates mod 2. Two halves along x, one block along the other
/// axes, is the division of a Schwarz solver at the strong-scaling limit: there the colour is
/// x-half xor (py + pz + pt) mod 2. Where the blocks of an axis are odd in number (one process with one block, say) the
/// neighbours across its periodic edge have the same colour, and a domain may be its own neighbour.
///
/// Inside a domain a tile of V sites moves through one SIMD pack, with T_mu lanes along axis mu that are far apart, as
/// in tile_layout.hpp: site x_mu = o_mu + O_mu l_mu has outer coordinate o_mu and lane coordinate l_mu. Here a domain
/// ends at its faces, and no parity is asked for, so any extent divisible by T_mu will do. A step along mu from the
/// last outer coordinate leads to the first one with the lanes moved by one, and the lanes that fall off look through
/// the face of the domain. With T_mu = 1 the whole tile does.
///
/// A face is carried as slots, one for each tile of the edge in increasing order, each with the V / T_mu lanes that
/// look through it, in increasing order. The edge that looks and the edge that is looked at have the same transverse
/// coordinates, so both sides count alike.
///
/// Domains are numbered colour by colour (all of colour 0 first), then x fastest; tiles within a domain x fastest.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::lattice {

/// Place of one site.
struct DomainSite {
  std::int32_t domain;
  std::int32_t tile;  ///< within the domain
  int lane;
};

/// What a tile finds in one direction, the same in every domain.
struct DomainNeighbour {
  static constexpr std::int32_t inside = -1;
  std::int32_t tile;  ///< of the same domain; across the edge the one whose lanes, moved by one, are inside
  std::int32_t slot;  ///< of the face, or `inside`
};

/// Domain or process behind a face.
struct DomainLink {
  std::int32_t domain;  ///< the neighbour in this process, or -1
  bool same_colour;
};

class DomainLayout {
public:
  static constexpr int max_lanes = 16;  ///< but doubled() makes twice as many of them

  /// @param geometry  the local box
  /// @param blocks    domains along x, y, z, t of one process
  /// @param tile      lanes along x, y, z, t: powers of two with a product of at most 16
  /// @throws InvalidArgument  naming the axis and what would do
  DomainLayout(std::shared_ptr<const Geometry4> geometry, const Coordinates<4>& blocks, const Coordinates<4>& tile);

  /// The layout with the most lanes that fit, where the fewest steps look through faces or move lanes.
  /// @param lanes  at most; a power of two up to 16
  /// @throws InvalidArgument  as above; on every rank alike
  static std::shared_ptr<const DomainLayout> best(std::shared_ptr<const Geometry4> geometry,
                                                  const Coordinates<4>& blocks, int lanes = max_lanes);

  /// The same domains with twice the lanes, for numbers of half the size: a tile holds two tiles of this layout, half
  /// the outer extent apart along one axis, the one where the fewest steps look through faces or move lanes. Along t
  /// only where no other axis can be divided: what goes through a domain slice by slice in t needs single lanes there.
  /// @returns  nothing where no axis has an even number of tiles, or the lanes would be more than twice max_lanes
  std::shared_ptr<const DomainLayout> doubled() const;

  const Geometry4& geometry() const noexcept { return *geometry_; }
  const std::shared_ptr<const Geometry4>& geometry_ptr() const noexcept { return geometry_; }
  const Coordinates<4>& blocks() const noexcept { return blocks_; }  ///< domains along each axis of a process
  const Coordinates<4>& block() const noexcept { return block_; }    ///< sites of a domain along each axis
  const Coordinates<4>& tile() const noexcept { return tile_; }      ///< lanes along each axis
  const Coordinates<4>& outer() const noexcept { return outer_; }    ///< tiles of a domain along each axis
  int lanes() const noexcept { return lanes_; }
  std::int32_t domains() const noexcept { return static_cast<std::int32_t>(product<4>(blocks_)); }
  std::int32_t tiles() const noexcept { return tiles_; }  ///< of one domain

  /// Domains of a colour are numbered from first_domain(colour) to first_domain(colour + 1).
  std::int32_t first_domain(int colour) const noexcept { return first_domain_[colour]; }
  int colour(std::int32_t domain) const noexcept { return domain < first_domain_[1] ? 0 : 1; }
  /// Block coordinates within the process.
  const Coordinates<4>& block_coordinates(std::int32_t domain) const noexcept { return block_of_[domain]; }

  DomainSite locate(const Coordinates<4>& local) const noexcept;
  Coordinates<4> coordinates(const DomainSite& site) const noexcept;

  /// The eight neighbours of a tile; direction d = mu is the step +mu, d = 4 + mu the step -mu.
  const DomainNeighbour* of(std::int32_t tile) const noexcept { return table_.data() + 8 * tile; }
  /// Lane i of a step over the edge in direction d is lane moved(d)[i] of the tile named in the table, where
  /// stays_inside(d)[i] is not 0.
  std::span<const std::int32_t> moved(int d) const noexcept { return moved_[d]; }
  std::span<const std::int32_t> stays_inside(int d) const noexcept { return stays_inside_[d]; }

  std::int32_t face_slots(int axis) const noexcept { return tiles_ / static_cast<std::int32_t>(outer_[axis]); }
  int face_lanes(int axis) const noexcept { return lanes_ / static_cast<int>(tile_[axis]); }
  /// Tiles that another domain looks at in *its* direction d, in the order of the slots, and their lanes that it sees.
  std::span<const std::int32_t> seen_tiles(int d) const noexcept { return seen_tiles_[d]; }
  std::span<const std::int32_t> seen_lanes(int d) const noexcept { return seen_lanes_[d]; }
  /// Lanes of the looking tile that a slot of direction d fills, in the same order.
  std::span<const std::int32_t> looking_lanes(int d) const noexcept { return looking_lanes_[d]; }

  /// What a domain sees in direction d.
  const DomainLink& link(std::int32_t domain, int d) const noexcept { return links_[8 * domain + d]; }
  /// Domains of this process that see, in direction d, a domain of `source_colour` of another process; and domains of
  /// that colour which another process sees in its direction d. In the same order on both sides; empty on an axis that
  /// is not split.
  std::span<const std::int32_t> arriving(int d, int source_colour) const noexcept {
    return arriving_[d][source_colour];
  }
  std::span<const std::int32_t> leaving(int d, int source_colour) const noexcept { return leaving_[d][source_colour]; }

private:
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
