// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A pass over tiles of a domain: for each, the hop, and the clover block with the vectors of the pass.
///
/// Apart from tile_passes_of.hpp, because it needs no layout but a table of neighbours and the tables of lanes:
/// tools/count_cycles compiles this file alone for CPUs that it has a model of.

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
    alignas(64) Sum sum[spinor_numbers * V];
    for (std::int32_t i = begin; i < end; ++i) {
      const std::int64_t tile = tiles != nullptr ? tiles[i] : i;
      const S* block = fields.blocks != nullptr ? fields.blocks + tile * (block_numbers * V) : nullptr;
      if (fields.prefetch > 0 && i + fields.prefetch < end) {
        const std::int64_t next = tiles != nullptr ? tiles[i + fields.prefetch] : i + fields.prefetch;
        prefetch<4 * Hop::link_numbers * V>(fields.links + next * (4 * Hop::link_numbers * V), *fields.machine);
        if (block != nullptr) prefetch<block_numbers * V>(fields.blocks + next * (block_numbers * V), *fields.machine);
      }
      for (int c = 0; c < fields.columns; ++c) {
        view.spinor = fields.own + c * column;
        if constexpr (through_faces)
          for (int d = 0; d < 8; ++d)
            if (fields.face[d] != nullptr)
              view.face[d] = fields.face[d] + std::int64_t{c} * half_numbers * lanes.face_lanes[d % 4];
        if constexpr (pass == Pass::block)
          for (int n = 0; n < spinor_numbers; ++n)
            L::store(sum + n * V, Memory::load(fields.own + tile * tile_stride + c * column + n * V));
        else
          hop<own, through_faces>(sum, view, lanes, tile);
        join<pass>(sum, block, fields, tile * tile_stride + c * column);
      }
    }
  }

  /// Requests consecutive numbers. Inlined, because g++ leaves out calls of a function that does nothing else.
  template <int count>
  static HALOCLINE_INLINE void prefetch(const S* from, const core::Machine& machine) {
    if (machine.line_bytes == 256) {
#pragma GCC unroll 32
      for (int n = 0; n < count; n += 256 / static_cast<int>(sizeof(S))) __builtin_prefetch(from + n, 0, 3);
    } else if (machine.prefetch_level == 1) {
      for (int n = 0; n < count; n += 64 / static_cast<int>(sizeof(S))) __builtin_prefetch(from + n, 0, 3);
    } else {
      for (int n = 0; n < count; n += 64 / static_cast<int>(sizeof(S))) __builtin_prefetch(from + n, 0, 2);
    }
  }

  template <bool own, bool through_faces>
  static __attribute__((noinline)) void hop(Sum* sum, const DomainView<S>& view, const LaneTables<Real>& lanes,
                                            std::int64_t tile) {
    const Hop one{view, lanes, view.table + 8 * tile, tile};
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
