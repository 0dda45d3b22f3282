// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A pass over tiles of a domain: for each, the hop, and the clover block with the vectors of the pass.
///
/// Apart from tile_passes_of.hpp, because it needs no layout but a table of neighbours and the tables of lanes:
/// tools/count_cycles compiles this file alone for CPUs that it has a model of.

#include <algorithm>

#include "halocline/core/half.hpp"
#include "halocline/core/hold.hpp"
#include "halocline/qcd/schwarz/detail/staged_block.hpp"
#include "halocline/qcd/schwarz/detail/staged_hop.hpp"
#include "halocline/qcd/schwarz/detail/tile_passes.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::schwarz {

template <class S, class Real, int rows>
struct TileLoop {
  static constexpr int V = core::Lanes<Real>::count;
  using Hop = TileHop<S, Real, rows>;
  using C = Complex<Real>;
  using Memory = core::Stored<S, Real>;
  using L = core::Lanes<Real>;
  using Sum = typename L::Scalar;
  /// The order of staged_hop.hpp where registers are those of SVE.
#if defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
  static constexpr bool staged = rows == 3 && V * static_cast<int>(sizeof(Sum)) == core::register_bytes;
#else
  static constexpr bool staged = false;
#endif

  const lattice::DomainNeighbour* table;  ///< eight neighbours of each tile
  const LaneTables<Real>& lanes;

  /// Runs a pass on tiles[begin] ... tiles[end - 1], or on begin ... end - 1 themselves if `tiles` is null.
  template <Pass pass>
  void run(const PassFields<S>& fields, const std::int32_t* tiles, std::int32_t begin, std::int32_t end) const {
    constexpr bool own = pass != Pass::first && pass != Pass::faces;
    constexpr bool through_faces = pass != Pass::step && pass != Pass::inside && pass != Pass::block;
    constexpr std::int64_t column = spinor_numbers * V;
    const std::int64_t tile_stride = fields.columns * column;
    DomainView<S> view;
    view.spinor_tile = tile_stride;
    view.links = fields.links;
    view.table = table;
    view.faces = fields.faces;
    view.row_factor = fields.row_factor;
    for (int d = 0; d < 8; ++d)
      view.face_slot[d] = std::int64_t{fields.columns} * half_numbers * lanes.face_lanes[d % 4];
    const std::int32_t known = std::max(end, fields.known);
    Requests<S> requests;
    requests.machine = fields.machine;
    alignas(64) Sum sum[spinor_numbers * V];
    for (std::int32_t i = begin; i < end; ++i) {
      const std::int64_t tile = tiles != nullptr ? tiles[i] : i;
      const S* block = fields.blocks != nullptr ? fields.blocks + tile * (block_numbers * V) : nullptr;
      const std::int32_t place = i + fields.prefetch;
      const std::int64_t later = fields.prefetch == 0 || place >= known ? -1 : tiles != nullptr ? tiles[place] : place;
      if constexpr (staged)
        if (later >= 0) request_at_once(fields, later);
      for (int c = 0; c < fields.columns; ++c) {
        if constexpr (!staged)
          if (later >= 0) ask<pass>(requests, fields, later, tile_stride, c);
        view.spinor = fields.own + c * column;
        if constexpr (through_faces)
          for (int d = 0; d < 8; ++d)
            if (fields.face[d] != nullptr)
              view.face[d] = fields.face[d] + std::int64_t{c} * half_numbers * lanes.face_lanes[d % 4];
        if constexpr (pass == Pass::block)
          for (int n = 0; n < spinor_numbers; ++n)
            L::store(sum + n * V, Memory::load(fields.own + tile * tile_stride + c * column + n * V));
        else
          hop<own, through_faces>(sum, view, lanes, tile, !staged && later >= 0 ? &requests : nullptr);
        join<pass>(sum, block, fields, tile * tile_stride + c * column);
      }
    }
  }

  /// Links and block of the tile `later`, whose lines are few where they have 256 bytes.
  static HALOCLINE_INLINE void request_at_once(const PassFields<S>& fields, std::int64_t later) {
    Requests<S> requests;
    requests.machine = fields.machine;
    requests.links = fields.links + later * (4 * Hop::link_numbers * V);
    requests.block = fields.blocks != nullptr ? fields.blocks + later * (block_numbers * V) : nullptr;
    requests.template all<4 * Hop::link_numbers * V, block_numbers * V>();
  }

  /// What the tile `later` reads and writes of this column: links and block only with the first one, and of its
  /// neighbours the one that is read here for the first time.
  template <Pass pass>
  void ask(Requests<S>& requests, const PassFields<S>& fields, std::int64_t later, std::int64_t tile_stride,
           int column) const {
    const bool first = column == 0;
    requests.links = first ? fields.links + later * (4 * Hop::link_numbers * V) : nullptr;
    requests.block = first && fields.blocks != nullptr ? fields.blocks + later * (block_numbers * V) : nullptr;
    const auto at = [&](const S* field, std::int64_t tile) {
      return field != nullptr ? field + tile * tile_stride + column * (spinor_numbers * V) : nullptr;
    };
    constexpr bool own = pass != Pass::first && pass != Pass::faces;
    requests.vectors = {own ? at(fields.own, table[8 * later + 3].tile) : nullptr, at(fields.add, later),
                        fields.out != fields.add ? at(fields.out, later) : nullptr, at(fields.sum, later),
                        at(fields.original, later)};
  }

  template <bool own, bool through_faces>
  static __attribute__((noinline)) void hop(Sum* sum, const DomainView<S>& view, const LaneTables<Real>& lanes,
                                            std::int64_t tile, const Requests<S>* requests) {
    const Hop one{view, lanes, view.table + 8 * tile, tile, requests};
    if constexpr (staged)
      StagedHop<S, Real>{one}.template run<own, through_faces>(sum);
    else
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
    if constexpr (staged) {
      StagedBlock<S, Real>::multiply(block, sum, finish);
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
};

}  // namespace halocline::qcd::schwarz
