// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hop of all points s of a fifth dimension, and a matrix along s, in one kernel.
///
/// A block of threads has all points of its sites, so that it can multiply the results of the hop by the matrix before
/// they leave the multiprocessor: they go to its shared memory, and every thread reads those of its site. A thread has
/// one or two points; with two it reads shared memory half as often. Compiled where common_storage<S, reals>, for
/// real matrices.

#include <cstddef>

#include "halocline/gpu/launch_shared.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

/// Point x is the site; y counts the threads of a site, those of one right-hand side after another.
template <class S, int reals, int columns>
struct HopFifthSite {
  using Real = RealOf<S>;
  static constexpr int max_threads = 256;
  static constexpr int in_piece = 16 / static_cast<int>(sizeof(Real)), pieces = spinor_reals / in_piece;

  struct alignas(16) Piece {
    Real at[in_piece];
  };

  HopInput<S, reals, false> input;
  HopOutput<S> output;
  const Real* matrix;  ///< [s][s'][chirality]
  int points;

  HALOCLINE_INLINE static int threads_of_site(int points) { return (points + columns - 1) / columns; }
  std::size_t shared_bytes(const gpu::Block& block) const {
    return sizeof(Real) * spinor_reals * static_cast<std::size_t>(points) * static_cast<std::size_t>(block.x);
  }

  /// Shared memory is [s][piece][site], so that the threads of a warp touch consecutive pieces.
  HALOCLINE_INLINE static Piece* place(const gpu::ThreadPlace& at, int s) {
    return static_cast<Piece*>(at.memory) + s * pieces * at.threads_x + at.x;
  }

  /// The hop of this thread's points.
  HALOCLINE_INLINE void first(const gpu::Point& p, const gpu::ThreadPlace& at) const {
    const int each = threads_of_site(points), s = columns * (p.y % each);
    Spinor<Real> sum[columns];
    hop<detail::Read::constant>(sum, input, input.lattice.place(input.target_parity, static_cast<int>(p.x)),
                                points * (p.y / each) + s);
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      if (columns > 1 && s + k >= points) continue;
      Piece* to = place(at, s + k);
      HALOCLINE_UNROLLED(12)
      for (int piece = 0; piece < pieces; ++piece) {
        Piece out;
        HALOCLINE_UNROLLED(4)
        for (int i = 0; i < in_piece; ++i) {
          const int number = piece * in_piece + i, spin = number / 2 % 4;
          const auto& z = sum[k].at[number / 8][spin];
          out.at[i] = (spin < 2 ? output.upper_scale : output.lower_scale) * (number % 2 == 0 ? z.re : z.im);
        }
        to[piece * at.threads_x] = out;
      }
    }
  }

  /// The matrix, the sum and the store.
  HALOCLINE_INLINE void second(const gpu::Point& p, const gpu::ThreadPlace& at) const {
    const int each = threads_of_site(points), s = columns * (p.y % each), site = static_cast<int>(p.x);
    Real sum[columns][spinor_reals];
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      HALOCLINE_UNROLLED(24)
      for (int number = 0; number < spinor_reals; ++number) sum[k][number] = 0;
    }
    const Real* row[columns];
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) row[k] = matrix + 2 * points * (s + k < points ? s + k : s);
    HALOCLINE_UNROLLED(2)
    for (int from = 0; from < points; ++from) {
      Real weight[columns][2];
      HALOCLINE_UNROLL_COLUMNS
      for (int k = 0; k < columns; ++k) {
        weight[k][0] = row[k][2 * from];
        weight[k][1] = row[k][2 * from + 1];
      }
      const Piece* at_from = place(at, from);
      HALOCLINE_UNROLLED(12)
      for (int piece = 0; piece < pieces; ++piece) {
        const Piece psi = at_from[piece * at.threads_x];
        HALOCLINE_UNROLLED(4)
        for (int i = 0; i < in_piece; ++i) {
          const int number = piece * in_piece + i;
          HALOCLINE_UNROLL_COLUMNS
          for (int k = 0; k < columns; ++k) sum[k][number] += weight[k][number / 2 % 4 < 2 ? 0 : 1] * psi.at[i];
        }
      }
    }
    const int start = points * (p.y / each);
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      if (columns > 1 && s + k >= points) continue;
      const int column = start + s + k;
      Spinor<Real> psi;
      HALOCLINE_UNROLLED(24)
      for (int number = 0; number < spinor_reals; number += 2)
        psi.at[number / 8][number / 2 % 4] = {sum[k][number], sum[k][number + 1]};
      if (output.add.data != nullptr) {
        const Spinor<Real> added = load_written(output.add, site, column);
        HALOCLINE_UNROLLED(3)
        for (int colour = 0; colour < 3; ++colour) {
          HALOCLINE_UNROLLED(4)
          for (int spin = 0; spin < 4; ++spin) psi.at[colour][spin] += output.add_scale * added.at[colour][spin];
        }
      }
      output.out.store(site, column, psi, output.streams);
    }
  }
};

}  // namespace halocline::qcd::device
