// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The passes of tile_passes.hpp for one kind of pack, compiled separately for each way of storing and computing.

#include <algorithm>
#include <complex>
#include <type_traits>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/core/hold.hpp"
#include "halocline/qcd/schwarz/detail/domain_hop.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::schwarz {

template <class S, class Real, int rows>
class TilePassesOf final : public TilePasses<S> {
  static constexpr int V = core::Lanes<Real>::count;
  using Hop = TileHop<S, Real, rows>;
  using C = Complex<Real>;
  using Memory = core::Stored<S, Real>;
  using L = core::Lanes<Real>;
  using Sum = typename L::Scalar;
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
    switch (pass) {
    case Pass::step:
      return run_as<Pass::step>(fields, tiles, begin, end);
    case Pass::residual:
      return run_as<Pass::residual>(fields, tiles, begin, end);
    case Pass::first:
      return run_as<Pass::first>(fields, tiles, begin, end);
    case Pass::faces:
      return run_as<Pass::faces>(fields, tiles, begin, end);
    case Pass::remainder:
      return run_as<Pass::remainder>(fields, tiles, begin, end);
    case Pass::full:
      return run_as<Pass::full>(fields, tiles, begin, end);
    case Pass::inside:
      return run_as<Pass::inside>(fields, tiles, begin, end);
    case Pass::block:
      return run_as<Pass::block>(fields, tiles, begin, end);
    }
  }

  void pack(const FaceTargets<S>& targets, const PassFields<S>& fields, const S* spinor,
            std::int32_t tile) const override {
    [&]<int... d>(std::integer_sequence<int, d...>) {
      (pack_direction<d>(targets, fields, spinor, tile), ...);
    }(std::make_integer_sequence<int, 8>{});
  }

private:
  template <Pass pass>
  void run_as(const PassFields<S>& fields, const std::int32_t* tiles, std::int32_t begin, std::int32_t end) const {
    constexpr bool own = pass != Pass::first && pass != Pass::faces;
    constexpr bool through_faces = pass != Pass::step && pass != Pass::inside && pass != Pass::block;
    constexpr std::int64_t column = spinor_numbers * V;
    const std::int64_t tile_stride = fields.columns * column;
    DomainView<S> view;
    view.spinor_tile = tile_stride;
    view.links = fields.links;
    view.table = layout_->of(0);
    view.faces = fields.faces;
    view.row_factor = fields.row_factor;
    for (int d = 0; d < 8; ++d)
      view.face_slot[d] = std::int64_t{fields.columns} * half_numbers * lanes_.face_lanes[d % 4];
    alignas(64) Sum sum[spinor_numbers * V];
    for (std::int32_t i = begin; i < end; ++i) {
      const std::int64_t tile = tiles != nullptr ? tiles[i] : i;
      const S* block = fields.blocks != nullptr ? fields.blocks + tile * (block_numbers * V) : nullptr;
      if (fields.prefetch && i + 1 < end) {
        const std::int64_t next = tiles != nullptr ? tiles[i + 1] : i + 1;
        prefetch(fields.links + next * (4 * Hop::link_numbers * V), 4 * Hop::link_numbers * V);
        if (block != nullptr) prefetch(fields.blocks + next * (block_numbers * V), block_numbers * V);
      }
      for (int c = 0; c < fields.columns; ++c) {
        view.spinor = fields.own + c * column;
        if constexpr (through_faces)
          for (int d = 0; d < 8; ++d)
            if (fields.face[d] != nullptr)
              view.face[d] = fields.face[d] + std::int64_t{c} * half_numbers * lanes_.face_lanes[d % 4];
        if constexpr (pass == Pass::block)
          for (int n = 0; n < spinor_numbers; ++n)
            L::store(sum + n * V, Memory::load(fields.own + tile * tile_stride + c * column + n * V));
        else
          hop<own, through_faces>(sum, view, lanes_, tile);
        join<pass>(sum, block, fields, tile * tile_stride + c * column);
      }
    }
  }

  /// Into the second-level cache.
  static HALOCLINE_INLINE void prefetch(const S* from, std::int64_t numbers) {
    constexpr std::int64_t line = 64 / sizeof(S);
    for (std::int64_t n = 0; n < numbers; n += line) __builtin_prefetch(from + n, 0, 2);
  }

  template <bool own, bool through_faces>
  static __attribute__((noinline)) void hop(Sum* sum, const DomainView<S>& view, const LaneTables<Real>& lanes,
                                            std::int64_t tile) {
    const Hop one{view, lanes, view.table + 8 * tile, tile};
    one.template run<own, through_faces>(sum);
  }

  /// The vectors of a pass, at `at` of each, with B times the sums of the hop.
  template <Pass pass>
  static __attribute__((noinline)) void join(const Sum* sum, const S* block, const PassFields<S>& fields,
                                             std::int64_t at) {
    const auto from = [&](const S* field) { return field != nullptr ? field + at : nullptr; };
    const S* add = from(fields.add);
    const S* own = from(fields.own);
    const S* original = from(fields.original);
    S* out = fields.out + at;
    S* total = fields.sum != nullptr ? fields.sum + at : nullptr;
    const auto finish = [&](int number, const Real& b_hop) {
      const int n = number * V;
      Real value = b_hop;
      if constexpr (pass == Pass::step || pass == Pass::first) value = Memory::load(add + n) + b_hop;
      if constexpr (pass == Pass::residual) value = Memory::load(add + n) - Memory::load(own + n) + b_hop;
      if constexpr (pass == Pass::remainder)
        value = Memory::load(original + n) - (Memory::load(add + n) - Memory::load(own + n) + b_hop);
      if constexpr (pass == Pass::full || pass == Pass::inside) value = Memory::load(own + n) - b_hop;
      if constexpr (pass == Pass::block) value = b_hop + b_hop;
      Memory::store(out + n, value);
      if constexpr (pass == Pass::step)
        if (total != nullptr) Memory::store(total + n, Memory::load(total + n) + value);
    };
    if (block == nullptr) {
      const Real number(fields.number);
      for (int n = 0; n < spinor_numbers; ++n) finish(n, number * L::load(sum + n * V));
      return;
    }
    // Two hermitian 6x6 matrices; the order of numbers is that of site/clover_block.hpp.
    for (int chirality = 0; chirality < 2; ++chirality) {
      const S* a = block + 36 * chirality * V;
      const auto place = [&](int k) { return 2 * (4 * (k % 3) + 2 * chirality + k / 3); };
      C v[6], product[6];
#pragma GCC unroll 6
      for (int k = 0; k < 6; ++k) {
        v[k] = {L::load(sum + place(k) * V), L::load(sum + (place(k) + 1) * V)};
        product[k] = Memory::load(a + k * V) * v[k];
      }
#pragma GCC unroll 6
      for (int row = 1; row < 6; ++row)
#pragma GCC unroll 6
        for (int column = 0; column < row; ++column) {
          const S* e = a + clover::below_diagonal(row, column) * V;
          C entry{Memory::load(e), Memory::load(e + V)};
          core::hold(entry.re);
          core::hold(entry.im);
          core::multiply_add(product[row], entry, v[column]);
          core::conj_multiply_add(product[column], entry, v[row]);
        }
#pragma GCC unroll 6
      for (int k = 0; k < 6; ++k) {
        finish(place(k), product[k].re);
        finish(place(k) + 1, product[k].im);
      }
    }
  }

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
