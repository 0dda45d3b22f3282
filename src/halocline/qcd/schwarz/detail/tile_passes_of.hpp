// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The passes of tile_passes.hpp for one kind of pack, compiled separately for each way of storing and computing.

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/qcd/schwarz/detail/domain_hop.hpp"
#include "halocline/qcd/schwarz/detail/tile_loop.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes.hpp"

namespace halocline::qcd::schwarz {

template <class S, class Real, int rows>
class TilePassesOf final : public TilePasses<S> {
  static constexpr int V = core::Lanes<Real>::count;
  using Hop = TileHop<S, Real, rows>;
  using C = Complex<Real>;
  using Memory = core::Stored<S, Real>;
  using Index = typename core::LaneMoves<Real>::Index;

public:
  explicit TilePassesOf(const lattice::DomainLayout& layout) : layout_(&layout), lanes_(layout) {
    seen_slot_.assign(static_cast<std::size_t>(8 * layout.tiles()), -1);
    for (int d = 0; d < 8; ++d) {
      std::int32_t slot = 0;
      for (const auto tile : layout.seen_tiles(d)) seen_slot_[static_cast<std::size_t>(8 * tile + d)] = slot++;
      int place = 0;
      for (int lane = 0; lane < V; ++lane) compress_[d][lane] = 0;
      for (const auto lane : layout.seen_lanes(d)) compress_[d][place++] = static_cast<Index>(lane);
    }
  }

  void run(Pass pass, const PassFields<S>& fields, const std::int32_t* tiles, std::int32_t begin,
           std::int32_t end) const override {
    const TileLoop<S, Real, rows> loop{layout_->of(0), lanes_};
    switch (pass) {
    case Pass::step:
      return loop.template run<Pass::step>(fields, tiles, begin, end);
    case Pass::residual:
      return loop.template run<Pass::residual>(fields, tiles, begin, end);
    case Pass::first:
      return loop.template run<Pass::first>(fields, tiles, begin, end);
    case Pass::faces:
      return loop.template run<Pass::faces>(fields, tiles, begin, end);
    case Pass::remainder:
      return loop.template run<Pass::remainder>(fields, tiles, begin, end);
    case Pass::full:
      return loop.template run<Pass::full>(fields, tiles, begin, end);
    case Pass::inside:
      return loop.template run<Pass::inside>(fields, tiles, begin, end);
    case Pass::block:
      return loop.template run<Pass::block>(fields, tiles, begin, end);
    }
  }

  void pack(const FaceTargets<S>& targets, const PassFields<S>& fields, const S* spinor,
            std::int32_t tile) const override {
    [&]<int... d>(std::integer_sequence<int, d...>) {
      (pack_direction<d>(targets, fields, spinor, tile), ...);
    }(std::make_integer_sequence<int, 8>{});
  }

private:
  /// Packs for the neighbour that sees this tile in direction d: at +mu the tile itself, at -mu the tile times its
  /// link.
  template <int d>
  void pack_direction(const FaceTargets<S>& targets, const PassFields<S>& fields, const S* spinor,
                      std::int32_t tile) const {
    const std::int32_t slot = seen_slot_[static_cast<std::size_t>(8 * tile + d)];
    if (slot < 0 || targets.to[d] == nullptr) return;
    constexpr int mu = d % 4;
    constexpr int sign = d < 4 ? -1 : 1;
    const int count = lanes_.face_lanes[mu];
    DomainView<S> view;
    view.links = fields.links;
    view.row_factor = fields.row_factor;
    const Hop one{view, lanes_, nullptr, tile};
    const C phase{Real(targets.phase[d].real()), Real(targets.phase[d].imag())};
    const bool turned = targets.phase[d] != std::complex<float>(1.f);
    for (int c = 0; c < fields.columns; ++c) {
      const S* from = spinor + (std::int64_t{tile} * fields.columns + c) * (spinor_numbers * V);
      S* to = targets.to[d] + (std::int64_t{slot} * fields.columns + c) * half_numbers * count;
      pack_spin<mu, sign, 0, d>(one, from, to, count, turned, phase);
      pack_spin<mu, sign, 1, d>(one, from, to, count, turned, phase);
    }
  }

  template <int mu, int sign, int s, int d>
  HALOCLINE_INLINE void pack_spin(const Hop& one, const S* from, S* to, int count, bool turned, const C& phase) const {
    C h[3], third[3];
    one.template project<mu, sign, s>(h, from);
    if constexpr (d >= 4) {
      C chi[3];
      const S* u = one.template link<mu>(one.tile, third);
      Hop::template multiply<true>(chi, u, third, h);
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) h[colour] = chi[colour];
    }
    if (turned) {
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) h[colour] = phase * h[colour];
    }
    if (count == V) {
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        Memory::store(to + (4 * colour + 2 * s) * V, h[colour].re);
        Memory::store(to + (4 * colour + 2 * s + 1) * V, h[colour].im);
      }
    } else if constexpr (V > 1) {
      // The permutation puts the lanes that travel first; only these are stored.
      const auto table = core::LaneMoves<Real>::table(compress_[d]);
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        S* at = to + (4 * colour + 2 * s) * count;
        store_first(at, core::permute(h[colour].re, table), count);
        store_first(at + count, core::permute(h[colour].im, table), count);
      }
    }
  }

  /// Stores the first `count` lanes and nothing behind them, which may be another thread's.
  static HALOCLINE_INLINE void store_first(S* to, const Real& lanes, int count) {
#if defined(__AVX512F__)
    if constexpr (std::is_same_v<S, float> && V == 16) {
      _mm512_mask_storeu_ps(to, static_cast<__mmask16>((1u << count) - 1u), reinterpret_cast<__m512>(lanes.v));
      return;
    }
#endif
    alignas(64) S moved[V];
    Memory::store(moved, lanes);
    for (int i = 0; i < count; ++i) to[i] = moved[i];
  }

  const lattice::DomainLayout* layout_;
  LaneTables<Real> lanes_;
  std::vector<std::int32_t> seen_slot_;  ///< [tile][direction]: slot in the neighbour's face, or -1
  alignas(64) Index compress_[8][V];
};

}  // namespace halocline::qcd::schwarz
