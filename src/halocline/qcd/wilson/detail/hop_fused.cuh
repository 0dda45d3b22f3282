// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One launch in which blocks take parts: packing, interior sites, exterior sites.
///
/// The parts follow each other in the numbers of the blocks: first those that pack and tell the neighbours, then those
/// of the interior, last those of the exterior, each of which first waits for all flags. With no exterior blocks the
/// launch is packing merged into the interior; an exterior kernel of its own follows.
///
/// Waiting blocks keep their places on the device. That is safe as long as what they wait for is never behind them: our
/// packing blocks have lower numbers, and a GPU starts blocks in the order of their numbers (as it always has, though
/// CUDA does not promise it); the neighbour's run on another device, or on this one in their own time slice. Columns
/// are therefore counted inside the one axis of blocks: with a grid axis of their own the packing of the last column
/// would come after exterior blocks of the first.
///
/// It is made for those storages and links that strong scaling asks for; others take separate kernels (fuses).

#include <cstdint>
#include <type_traits>

#include "halocline/qcd/wilson/detail/halo_pack.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

/// A fused launch is compiled for this storage and number of reals a link.
template <class S, int reals>
inline constexpr bool fuses = (std::is_same_v<S, double> && reals == 18) || (std::is_same_v<S, float> && reals == 12) ||
                              (std::is_same_v<S, Fixed16> && reals != 18);

template <class S, int reals>
struct FusedHop {
  static constexpr int max_threads = 128;
  using Site = HopSite<S, reals, true, true, 1>;

  HaloPacker<S> packer;
  gpu::FaceSignals signals;
  PackBlocks pack;
  Site site;
  const std::int32_t* interior;
  const std::int32_t* exterior;
  int interior_sites, exterior_sites;    ///< 0 exterior: left to another kernel
  int interior_blocks, exterior_blocks;  ///< of a column
  int first_interior, first_exterior;    ///< numbers of blocks

  HALOCLINE_HOST_DEVICE bool begin_block(const gpu::BlockPoint& b) const {
    if (b.x >= first_exterior) gpu::await_all(signals);  // where it fails, what is read then is NaN
    return true;
  }
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int block = static_cast<int>(p.x / max_threads);
    const int thread = static_cast<int>(p.x - std::int64_t{block} * max_threads);
    if (block < first_interior) return pack.run(packer, block, thread);
    const bool inner = block < first_exterior;
    const int inside = block - (inner ? first_interior : first_exterior);
    const int blocks = inner ? interior_blocks : exterior_blocks;
    const int column = inside / blocks;
    const int number = (inside - column * blocks) * max_threads + thread;
    if (number < (inner ? interior_sites : exterior_sites)) site.at((inner ? interior : exterior)[number], column);
  }
  HALOCLINE_HOST_DEVICE void end_block(const gpu::BlockPoint& b) const {
    if (b.x < first_interior) pack.end(signals, static_cast<int>(b.x));
  }
};

/// Enqueues the launch; the block numbers are filled in here. Defined where fuses<S, reals>.
template <class S, int reals>
void launch_fused(Context& context, FusedHop<S, reals> hop);

}  // namespace halocline::qcd::device
