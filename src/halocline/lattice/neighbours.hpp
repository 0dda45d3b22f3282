// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The neighbours of every tile, and the tiles that are sent to other processes.
///
/// A stencil has a reach: 1 for nearest neighbours, 3 if it takes steps of three sites too. The reach is odd, so all
/// neighbours of a target tile have the other parity. One halo of `reach` layers serves the long and the short steps.
///
/// Direction d = mu is the step +mu, d = 4 + mu the step -mu. The neighbour of a target tile of parity p has parity 1 -
/// p and is one of
///   - `local`:   a tile of this process, with unchanged lanes;
///   - `rotated`: a tile of this process across the periodic edge of the lane grid; lanes rotate by one along mu;
///   - a slot >= 0 of the halo that arrives from direction d. With one lane along mu the slot is the whole tile. With
///     more, the tile named beside it gives (rotated) all lanes but the last along mu, and the slot gives those.
///
/// Sender and receiver number the slots of a face in increasing tile order, so only data are sent. Both numberings
/// agree: the receiver's face of parity p and the sender's face of parity 1 - p have the same transverse coordinates,
/// and therefore the same order.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/lattice/tile_layout.hpp"

namespace halocline::lattice {

struct Neighbour {
  static constexpr std::int32_t local = -1;
  static constexpr std::int32_t rotated = -2;
  std::int32_t tile;  ///< in the other parity
  std::int32_t slot;  ///< slot of the halo, or one of the two values above
};

/// Axis of direction d, and +1 or -1.
constexpr int axis_of(int d) { return d % 4; }
constexpr int step_of(int d) { return d < 4 ? 1 : -1; }
/// The face through which the data of direction d arrives.
constexpr comm::Face face_of(int d) { return {axis_of(d), step_of(d)}; }

class Neighbours {
public:
  /// @param reach  length of the long steps, odd
  /// @throws InvalidArgument  if a process holds fewer than `reach` tiles along an axis that is split or has several
  ///                          lanes: then a step would cross two edges. The same on every rank.
  explicit Neighbours(std::shared_ptr<const TileLayout> layout, int reach = 1);

  const TileLayout& layout() const noexcept { return *layout_; }
  const std::shared_ptr<const TileLayout>& layout_ptr() const noexcept { return layout_; }

  int reach() const noexcept { return reach_; }

  /// The eight neighbours of a target tile at distance reach(); entry d is the neighbour in direction d.
  const Neighbour* of(int target_parity, std::int64_t tile) const noexcept {
    return table_[target_parity].data() + 8 * tile;
  }
  /// The same at distance 1. The slots are those of the halo of `reach` layers.
  const Neighbour* near(int target_parity, std::int64_t tile) const noexcept {
    return (reach_ == 1 ? table_ : near_)[target_parity].data() + 8 * tile;
  }
  /// Target tiles that need no halo (interior), and target tiles that do (boundary); in increasing order.
  std::span<const std::int32_t> interior(int target_parity) const noexcept { return interior_[target_parity]; }
  std::span<const std::int32_t> boundary(int target_parity) const noexcept { return boundary_[target_parity]; }

  /// Tiles of `source_parity` that another process receives from *its* direction d, in the order of its slots. They
  /// leave through the face opposite to face_of(d). Empty on an axis that is not split.
  std::span<const std::int32_t> sent(int source_parity, int d) const noexcept { return sent_[source_parity][d]; }
  /// The lanes of such a tile that are sent, in increasing order: lanes / T_mu of them.
  std::span<const std::int32_t> sent_lanes(int d) const noexcept { return sent_lanes_[d]; }
  /// The lanes of a target tile that a slot of direction d fills, in the same order.
  std::span<const std::int32_t> received_lanes(int d) const noexcept { return received_lanes_[d]; }
  /// Lane i of a rotated neighbour comes from lane rotation(d)[i] of its tile.
  std::span<const std::int32_t> rotation(int d) const noexcept { return rotation_[d]; }

  /// Number of sites in the largest face of an axis, all layers together; 0 on an axis that is not split.
  std::int64_t face_sites(int axis) const noexcept;

private:
  void find_near();

  std::shared_ptr<const TileLayout> layout_;
  int reach_;
  std::array<std::vector<Neighbour>, 2> table_, near_;
  std::array<std::vector<std::int32_t>, 2> interior_, boundary_;
  std::array<std::array<std::vector<std::int32_t>, 8>, 2> sent_;
  std::array<std::vector<std::int32_t>, 8> sent_lanes_, received_lanes_, rotation_;
};

/// Lanes of the tiles of a stencil: those of a register. Half of them where the CPU executes such a register in two
/// halves and the data of the stencil outgrow the last-level cache. There a hop of one column is up to 1.6 times as
/// fast with half registers (docs/design/0003).
/// @param bytes    of the data on a process, or 0 for whole registers whatever the data
/// @param halves   of the CPU;  @param cache  bytes of its last-level cache
int lanes_of_tiles(int register_lanes, std::int64_t bytes, bool halves, std::int64_t cache) noexcept;

/// The neighbours of a stencil in float and in double, on two splits of one layout.
class NeighboursByPrecision {
public:
  /// @param whole  a layout that is not split;  @param reach  as of Neighbours, with its errors
  /// @param reals_a_site  numbers of a site that the stencil reads and writes with one column; 0 if it has many
  /// Collective: yes. All processes choose the same lanes.
  NeighboursByPrecision(const std::shared_ptr<const TileLayout>& whole, int reach, int reals_a_site);

  template <class T>
  const std::shared_ptr<const Neighbours>& in() const noexcept {
    return sizeof(T) == sizeof(float) ? single_ : precise_;
  }

private:
  std::shared_ptr<const Neighbours> single_, precise_;
};

}  // namespace halocline::lattice
