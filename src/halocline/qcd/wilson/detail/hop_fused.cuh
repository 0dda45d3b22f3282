// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One launch whose blocks share three tasks: pack the faces, compute interior sites, compute exterior sites.
///
/// The lowest block numbers pack and raise the neighbours' flags. The interior blocks follow. The exterior blocks
/// come last, and each of them first waits for all flags. Without exterior blocks, the launch merges packing into the
/// interior kernel, and a separate exterior kernel follows.
///
/// A waiting block keeps its place on the device. This is safe only if the blocks that it waits for never need that
/// place to start. Our own packing blocks have lower numbers, and a GPU starts blocks in the order of their numbers
/// (it always has, though CUDA does not promise it). The neighbour's packing blocks run on another device, or on this
/// one in their own time slice. Columns are therefore counted within the single axis of blocks: with a grid axis for
/// columns, the packing of the last column would come after exterior blocks of the first.
///
/// Fused launches are compiled for the common storages; others use separate kernels (`common_storage`).

#include <cstdint>

#include "halocline/qcd/wilson/detail/halo_pack.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

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
  int interior_sites, exterior_sites;    ///< 0 exterior sites: another kernel computes them
  int interior_blocks, exterior_blocks;  ///< for one column
  int first_interior, first_exterior;    ///< lowest block number of the task

  HALOCLINE_HOST_DEVICE bool begin_block(const gpu::BlockPoint& b) const {
    if (b.x >= first_exterior) gpu::await_all(signals);  // a message that does not come is read as NaN
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

/// Fills in the block numbers of `hop` and enqueues the launch. Defined if common_storage<S, reals>.
template <class S, int reals>
void launch_fused(Context& context, FusedHop<S, reals> hop);

}  // namespace halocline::qcd::device
