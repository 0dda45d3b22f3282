// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/detail/hop_tiles_simd.hpp"

namespace halocline::qcd::wilson {

using lattice::Neighbours;
using Tiles = std::span<const std::int32_t>;
using Terms = HopTerms<double>;

template void hop_tiles(double*, const HopView<double, 1>&, const Neighbours&, int, bool, Tiles, const Terms&);
template void hop_tiles(double*, const HopView<double, 2>&, const Neighbours&, int, bool, Tiles, const Terms&);
template void hop_tiles(double*, const HopView<double, 4>&, const Neighbours&, int, bool, Tiles, const Terms&);
template void hop_tiles(double*, const HopView<double, 8>&, const Neighbours&, int, bool, Tiles, const Terms&);
template void hop_tiles(double*, const HopView<double, 16>&, const Neighbours&, int, bool, Tiles, const Terms&);

}  // namespace halocline::qcd::wilson
