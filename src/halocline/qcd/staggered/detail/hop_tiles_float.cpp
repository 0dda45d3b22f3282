// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/staggered/detail/hop_tiles_simd.hpp"

namespace halocline::qcd::staggered {

using lattice::Neighbours;
using Tiles = std::span<const std::int32_t>;

template void hop_tiles(float*, const HopView<float, 1>&, const Neighbours&, int, Tiles, const HopTerms<float>&);
template void hop_tiles(float*, const HopView<float, 2>&, const Neighbours&, int, Tiles, const HopTerms<float>&);
template void hop_tiles(float*, const HopView<float, 4>&, const Neighbours&, int, Tiles, const HopTerms<float>&);
template void hop_tiles(float*, const HopView<float, 8>&, const Neighbours&, int, Tiles, const HopTerms<float>&);
template void hop_tiles(float*, const HopView<float, 16>&, const Neighbours&, int, Tiles, const HopTerms<float>&);

}  // namespace halocline::qcd::staggered
