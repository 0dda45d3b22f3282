// SPDX-License-Identifier: Apache-2.0
// The launches of detail/hop_fused.cuh.
#include "halocline/qcd/wilson/detail/hop_fused.cuh"

namespace halocline::qcd::device {

template <class S, int reals>
void launch_fused(Context& context, FusedHop<S, reals> hop) {
  constexpr int threads = FusedHop<S, reals>::max_threads;
  const int columns = hop.site.output.out.columns;
  hop.pack = PackBlocks::of(hop.packer.slots, columns, threads);
  hop.interior_blocks = (hop.interior_sites + threads - 1) / threads;
  hop.exterior_blocks = (hop.exterior_sites + threads - 1) / threads;
  hop.first_interior = hop.pack.count();
  hop.first_exterior = hop.first_interior + columns * hop.interior_blocks;
  const std::int64_t blocks = std::int64_t{hop.first_exterior} + columns * hop.exterior_blocks;
  gpu::launch(context.stream, hop.exterior_sites > 0 ? "wilson_hop_one_kernel" : "wilson_hop_merged_pack",
              gpu::Extent{blocks * threads}, gpu::Block{threads}, hop);
}

template void launch_fused(Context&, FusedHop<double, 18>);
template void launch_fused(Context&, FusedHop<float, 12>);
template void launch_fused(Context&, FusedHop<Fixed16, 12>);
template void launch_fused(Context&, FusedHop<Fixed16, 8>);

}  // namespace halocline::qcd::device
