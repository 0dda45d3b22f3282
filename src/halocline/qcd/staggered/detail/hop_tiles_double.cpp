// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/staggered/detail/hop_tiles_simd.hpp"

namespace halocline::qcd::staggered {

using lattice::Neighbours;
using Tiles = std::span<const std::int32_t>;

template void hop_tiles(double*, const HopView<double, 1>&, const Neighbours&, int, Tiles, const HopTerms<double>&);
template void hop_tiles(double*, const HopView<double, 2>&, const Neighbours&, int, Tiles, const HopTerms<double>&);
template void hop_tiles(double*, const HopView<double, 4>&, const Neighbours&, int, Tiles, const HopTerms<double>&);
template void hop_tiles(double*, const HopView<double, 8>&, const Neighbours&, int, Tiles, const HopTerms<double>&);
template void hop_tiles(double*, const HopView<double, 16>&, const Neighbours&, int, Tiles, const HopTerms<double>&);

}  // namespace halocline::qcd::staggered
