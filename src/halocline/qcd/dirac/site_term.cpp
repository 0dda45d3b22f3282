// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/dirac/site_term.hpp"

#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/dirac/fifth_kernel.hpp"
#include "halocline/qcd/field/components.hpp"

namespace halocline::qcd {
namespace {

template <class T, int V, bool twisted>
void multiply_tiles(T* out, const T* in, const SiteTerm<T>& term, const lattice::TileLayout& layout, int columns) {
  constexpr int width = core::pack_lanes<T, V>;
  using Real = core::Number<T, width>;
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
    for (int column = 0; column < columns; ++column)
      for (int lane = 0; lane < V; lane += width) {
        const std::int64_t spinor = (tile * columns + column) * (spinor_reals * V) + lane;
        const std::int64_t place = tile * (clover::block_reals * V) + lane;
        wilson::Spinor<Real> psi;
        for (int colour = 0; colour < 3; ++colour)
          for (int spin = 0; spin < 4; ++spin) {
            const T* at = in + spinor + 2 * (4 * colour + spin) * V;
            psi.at[colour][spin] = {core::Lanes<Real>::load(at), core::Lanes<Real>::load(at + V)};
          }
        if (term.full != nullptr) {
          psi = apply_full<V>(term, place, psi);
        } else if (!twisted || term.first != nullptr) {
          const T* block = term.first + place;
          psi = clover::multiply_block<Real>([&](int i) { return core::load_held<Real>(block + i * V); }, psi);
        }
        if constexpr (twisted) psi = apply_twist(term, place, V, psi);
        for (int colour = 0; colour < 3; ++colour)
          for (int spin = 0; spin < 4; ++spin) {
            T* at = out + spinor + 2 * (4 * colour + spin) * V;
            core::Lanes<Real>::store(at, psi.at[colour][spin].re);
            core::Lanes<Real>::store(at + V, psi.at[colour][spin].im);
          }
      }
}

template <class T, int V>
void multiply_fifth(T* out, const T* in, const FifthTerm<T>& term, const lattice::TileLayout& layout, int columns) {
  constexpr int width = core::pack_lanes<T, V>;
  using Real = core::Number<T, width>;
  const int extent = term.extent();
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
    for (int column = 0; column < columns; column += extent)
      for (int lane = 0; lane < V; lane += width) {
        const std::int64_t place = (tile * columns + column) * (spinor_reals * V) + lane;
        apply_fifth<Real>(term, FifthLoad<T, Real, V>{in + place}, FifthStore<T, Real, V>{out + place});
      }
}

template <class T, int V>
void multiply_doublets(T* out, const T* in, const SiteTerm<T>& term, const lattice::TileLayout& layout, int columns) {
  constexpr int width = core::pack_lanes<T, V>;
  using Real = core::Number<T, width>;
#pragma omp parallel for schedule(static)
  for (std::int64_t tile = 0; tile < layout.tiles(); ++tile)
    for (int column = 0; column < columns; column += 2)
      for (int lane = 0; lane < V; lane += width) {
        const std::int64_t place = (tile * columns + column) * (spinor_reals * V) + lane;
        const auto each = [&](auto visit) {
          for (int flavour = 0; flavour < 2; ++flavour)
            for (int colour = 0; colour < 3; ++colour)
              for (int spin = 0; spin < 4; ++spin)
                visit(flavour, colour, spin, place + (flavour * spinor_reals + 2 * (4 * colour + spin)) * V);
        };
        wilson::Spinor<Real> psi[2];
        each([&](int flavour, int colour, int spin, std::int64_t at) {
          psi[flavour].at[colour][spin] = {core::Lanes<Real>::load(in + at), core::Lanes<Real>::load(in + at + V)};
        });
        apply_doublet<V>(term, tile * (clover::block_reals * V) + lane, psi);
        each([&](int flavour, int colour, int spin, std::int64_t at) {
          core::Lanes<Real>::store(out + at, psi[flavour].at[colour][spin].re);
          core::Lanes<Real>::store(out + at + V, psi[flavour].at[colour][spin].im);
        });
      }
}

}  // namespace

template <class T>
void multiply(T* out, const T* in, const SiteTerm<T>& term, const lattice::TileLayout& layout, int columns) {
  lattice::with_lanes(layout.lanes(), [&]<int V> {
    if (term.fifth != nullptr)
      multiply_fifth<T, V>(out, in, *term.fifth, layout, columns);
    else if (term.doublet)
      multiply_doublets<T, V>(out, in, term, layout, columns);
    else if (term.twisted())
      multiply_tiles<T, V, true>(out, in, term, layout, columns);
    else
      multiply_tiles<T, V, false>(out, in, term, layout, columns);
  });
}

template void multiply(float*, const float*, const SiteTerm<float>&, const lattice::TileLayout&, int);
template void multiply(double*, const double*, const SiteTerm<double>&, const lattice::TileLayout&, int);

}  // namespace halocline::qcd
