// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/hold.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::clover {

template <class T>
void multiply(T* out, const T* in, const Blocks<T>& blocks, int parity, int columns) {
  lattice::with_lanes(blocks.layout->lanes(), [&]<int V> {
    constexpr int width = V < core::native_lanes<T> ? V : core::native_lanes<T>;
    using Real = core::Number<T, width>;
    const T* data = blocks.parity(parity);
#pragma omp parallel for schedule(static)
    for (std::int64_t tile = 0; tile < blocks.layout->tiles(); ++tile)
      for (int column = 0; column < columns; ++column)
        for (int lane = 0; lane < V; lane += width) {
          const std::int64_t spinor = (tile * columns + column) * (24 * V) + lane;
          const T* block = data + tile * (block_reals * V) + lane;
          wilson::Spinor<Real> psi;
          for (int colour = 0; colour < 3; ++colour)
            for (int spin = 0; spin < 4; ++spin) {
              const T* at = in + spinor + 2 * (4 * colour + spin) * V;
              psi.at[colour][spin] = {core::Lanes<Real>::load(at), core::Lanes<Real>::load(at + V)};
            }
          psi = multiply_block<Real>([&](int i) { return core::load_held<Real>(block + i * V); }, psi);
          for (int colour = 0; colour < 3; ++colour)
            for (int spin = 0; spin < 4; ++spin) {
              T* at = out + spinor + 2 * (4 * colour + spin) * V;
              core::Lanes<Real>::store(at, psi.at[colour][spin].re);
              core::Lanes<Real>::store(at + V, psi.at[colour][spin].im);
            }
        }
  });
}

template void multiply(float*, const float*, const Blocks<float>&, int, int);
template void multiply(double*, const double*, const Blocks<double>&, int, int);

}  // namespace halocline::qcd::clover
