// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a later tile will read, requested in parts between the directions of the hop of this tile.
///
/// A tile of 16 sites reads 144 cache lines of links and clover block, and 24 to 96 of vectors. A core waits for a
/// few tens of lines at a time. If all are requested at once, the loads of the hop queue behind them; between its
/// directions the requests find room. On a Zen 4 the in-domain operator on data in memory went from 25 to 50 % of the
/// multiply-add peak by this (docs/benchmarks/schwarz.md).

#include <array>

#include "halocline/core/device.hpp"
#include "halocline/core/machine.hpp"

namespace halocline::qcd::schwarz {

template <class S>
struct Requests {
  static constexpr int parts = 16;
  const core::Machine* machine = nullptr;
  const S* links = nullptr;  ///< four links of a tile; null: none
  const S* block = nullptr;
  std::array<const S*, 5> vectors{};

  /// Requests links and block at once.
  template <int link_numbers, int block_numbers>
  HALOCLINE_INLINE void all() const {
    if (links != nullptr) lines<link_numbers, 0, 1>(links);
    if (block != nullptr) lines<block_numbers, 0, 1>(block);
  }

  /// Requests part `part` of `parts`: of the links in the first half, of the clover block in the second, of vectors in
  /// all of them.
  template <int part, int link_numbers, int block_numbers, int vector_numbers>
  HALOCLINE_INLINE void part_of() const {
    if constexpr (part < parts / 2) {
      if (links != nullptr) lines<link_numbers, part, parts / 2>(links);
    } else {
      if (block != nullptr) lines<block_numbers, part - parts / 2, parts / 2>(block);
    }
    for (const S* vector : vectors)
      if (vector != nullptr) lines<vector_numbers, part, parts>(vector);
  }

private:
  template <int numbers, int part, int of>
  HALOCLINE_INLINE void lines(const S* from) const {
#if defined(__x86_64__)
    lines_of<64, 2, numbers, part, of>(from);  // all rows of the table; to ask it here costs 6 % in the outer cache
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS == 512
    lines_of<256, 3, numbers, part, of>(from);  // A64FX
#else
    if (machine->line_bytes == 256)
      lines_of<256, 3, numbers, part, of>(from);
    else if (machine->prefetch_level == 1)
      lines_of<64, 3, numbers, part, of>(from);
    else
      lines_of<64, 2, numbers, part, of>(from);
#endif
  }
  template <int line, int locality, int numbers, int part, int of>
  static HALOCLINE_INLINE void lines_of(const S* from) {
    constexpr int step = line / static_cast<int>(sizeof(S));
    constexpr int all = (numbers + step - 1) / step, begin = all * part / of, end = all * (part + 1) / of;
#pragma GCC unroll 72
    for (int n = begin; n < end; ++n) __builtin_prefetch(from + n * step, 0, locality);
  }
};

}  // namespace halocline::qcd::schwarz
