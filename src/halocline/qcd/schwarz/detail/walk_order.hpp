// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The order in which the residual and the steps of the inverse go through the tiles of a domain.
///
/// Pass 0 is the residual, passes 1, 2, ... are the steps. Each reads of the pass before a tile and its neighbours. In
/// one slice, every pass goes through the whole domain before the next one begins.
///
/// In slices of t the passes form a wavefront: pass k works k slices behind pass 0, on a slice whose upper neighbour
/// the pass before has just finished. Links and clover blocks come from beyond the second-level cache once, if it holds
/// as many slices as there are passes. Where slices are larger, the wavefront goes through the domain piece by piece in
/// y and z. The cut between two pieces recedes by a tile from pass to pass, so that a pass finds its upper neighbours
/// finished in its own piece and its lower ones there or in an earlier piece. Only the tiles near a cut are read in two
/// pieces.
///
/// A pass may write the field that pass k wrote, if it is pass k + 2 or later: pass k + 1 has read that field on all
/// tiles that pass k + 2 reaches, in slices and in pieces. So two fields are enough for any number of steps, and
/// even-odd passes may work in place.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "halocline/lattice/domain_layout.hpp"

namespace halocline::qcd::schwarz {

/// Pieces of a domain along y and z.
using Pieces = std::array<int, 2>;

class WalkOrder {
public:
  /// Tiles `begin` to `end` of tiles(pass, parity). All threads share a stage, and wait for each other behind it.
  struct Stage {
    int pass;
    std::array<std::int32_t, 2> begin, end;  ///< by parity
  };

  /// @param passes     1 for the residual, and the steps
  /// @param slices     whether to go slice by slice in t; needs single lanes there
  /// @param pieces     with slices, more than one only along axes with single lanes
  /// @param by_parity  whether even and odd tiles are listed separately: pass 0 goes through the even ones and then the
  ///                   odd ones, pass k through those of the parity of k
  WalkOrder(const lattice::DomainLayout& layout, int passes, bool slices, Pieces pieces, bool by_parity);

  std::span<const Stage> stages() const noexcept { return stages_; }
  /// The tiles of a pass in the order in which it takes them. Parity 0 for all of them where parities are not separate.
  const std::vector<std::int32_t>& tiles(int pass, int parity) const noexcept {
    return tiles_[static_cast<std::size_t>(2 * pass + parity)];
  }
  const Pieces& pieces() const noexcept { return pieces_; }

  /// The largest window that a cache keeps. Besides its tiles it needs their neighbours in t, which makes the slices of
  /// a piece five instead of three where there are two steps.
  /// @param tile_bytes  of links, block, and three vectors of a tile
  static std::int64_t tiles_in(std::int64_t cache_bytes, std::int64_t tile_bytes) noexcept {
    return 11 * cache_bytes / (20 * tile_bytes);
  }
  /// Tiles that the passes visit between two uses of a tile, at most.
  static std::int64_t window(const lattice::DomainLayout& layout, int passes, Pieces pieces) noexcept;
  /// In how many pieces a tile is visited, on average.
  static double visits(const lattice::DomainLayout& layout, int passes, Pieces pieces) noexcept;
  /// The pieces with the fewest visits whose window has at most so many tiles; where every window is larger, or a tile
  /// would be visited in as many pieces as there are passes, one piece.
  static Pieces fitting(const lattice::DomainLayout& layout, int passes, std::int64_t most_tiles) noexcept;

private:
  Pieces pieces_;
  std::vector<Stage> stages_;
  std::vector<std::vector<std::int32_t>> tiles_;  ///< [pass][parity]
};

}  // namespace halocline::qcd::schwarz
