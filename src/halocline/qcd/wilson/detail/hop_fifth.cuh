// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hop of all points s of a fifth dimension, and matrices along s, in one kernel.
///
/// A block of threads has all points of its sites, so that it can multiply by a matrix what never leaves the
/// multiprocessor: the results of the hop, and the field that is added, go to its shared memory. A matrix with a
/// recursion (DeviceFifth::chain) is applied there in place: a thread follows it for 16 bytes of a spinor, along all
/// points of a site. By any other matrix a thread multiplies for its own points, and reads all points of its site. It
/// has one or two points; with two it reads shared memory half as often. Compiled where common_storage<S, reals>, for
/// real matrices.

#include <cstddef>

#include "halocline/gpu/launch_shared.cuh"
#include "halocline/qcd/dirac/cuda_fifth.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

/// out = F (hop_scale hop) + G (add_scale add). Point x is the site; y counts the threads of a site, those of one
/// right-hand side after another.
template <class S, int reals, int columns>
struct HopFifthSite {
  using Real = RealOf<S>;
  static constexpr int max_threads = 128;
  static constexpr int in_piece = 16 / static_cast<int>(sizeof(Real)), pieces = spinor_reals / in_piece;

  struct alignas(16) Piece {
    Real at[in_piece];
  };

  HopInput<S, reals, false> input;
  HopOutput<S> output;
  const Real *f, *g;                  ///< [s][s'][chirality]; null for one
  FifthChain<Real> f_chain, g_chain;  ///< of f and g, if they have one
  int points;

  HALOCLINE_INLINE static int threads_of_site(int points) { return (points + columns - 1) / columns; }
  /// Shared memory is [hop, add][s][piece][site], so that the threads of a warp touch consecutive pieces. The second
  /// half is there for a G.
  std::size_t shared_bytes(const gpu::Block& block) const {
    return sizeof(Real) * spinor_reals * static_cast<std::size_t>(points) * static_cast<std::size_t>(block.x) *
           (g != nullptr ? 2 : 1);
  }
  HALOCLINE_INLINE Piece* place(const gpu::ThreadPlace& at, bool of_add, int s) const {
    return static_cast<Piece*>(at.memory) + ((of_add ? points : 0) + s) * pieces * at.threads_x + at.x;
  }
  HALOCLINE_INLINE static void put(Piece* to, int step, Real upper, Real lower, const Spinor<Real>& psi) {
    HALOCLINE_UNROLLED(12)
    for (int piece = 0; piece < pieces; ++piece) {
      Piece out;
      HALOCLINE_UNROLLED(4)
      for (int i = 0; i < in_piece; ++i) {
        const int number = piece * in_piece + i, spin = number / 2 % 4;
        const auto& z = psi.at[number / 8][spin];
        out.at[i] = (spin < 2 ? upper : lower) * (number % 2 == 0 ? z.re : z.im);
      }
      to[piece * step] = out;
    }
  }

  /// The hop of this thread's points, and the field that is added there.
  HALOCLINE_INLINE void first(const gpu::Point& p, const gpu::ThreadPlace& at) const {
    const int each = threads_of_site(points), s = columns * (p.y % each), start = points * (p.y / each);
    Spinor<Real> sum[columns];
    hop<detail::Read::constant>(sum, input, input.lattice.place(input.target_parity, static_cast<int>(p.x)), start + s);
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      if (columns > 1 && s + k >= points) continue;
      put(place(at, false, s + k), at.threads_x, output.upper_scale, output.lower_scale, sum[k]);
      if (g != nullptr)
        put(place(at, true, s + k), at.threads_x, output.add_scale, output.add_scale,
            load_written(output.add, static_cast<int>(p.x), start + s + k));
    }
  }

  /// Follows the recursions, in place.
  HALOCLINE_INLINE void between(const gpu::Block& block, const gpu::ThreadPlace& at) const {
    if (f_chain.steps != nullptr) follow(f_chain, false, block, at);
    if (g_chain.steps != nullptr) follow(g_chain, true, block, at);
  }
  HALOCLINE_INLINE void follow(const FifthChain<Real>& chain, bool of_add, const gpu::Block& block,
                               const gpu::ThreadPlace& at) const {
    Piece* const all = static_cast<Piece*>(at.memory) + (of_add ? points * pieces * block.x : 0);
    for (int number = at.y * block.x + at.x; number < pieces * block.x; number += block.x * block.y) {
      const int lower_spins = number / block.x * in_piece / 2 % 4 / 2;
      const FifthStep<Real>* const steps = chain.steps + points * lower_spins;
      if (chain.only_solves)
        follow_piece<true>(all + number, pieces * block.x, steps);
      else
        follow_piece<false>(all + number, pieces * block.x, steps);
    }
  }
  /// @param psi  piece of s = 0; @param apart  from one s to the next
  template <bool only_solves>
  HALOCLINE_INLINE void follow_piece(Piece* psi, int apart, const FifthStep<Real>* steps) const {
    Piece y{}, x_before{};
    HALOCLINE_UNROLLED(2)
    for (int i = 0; i < points; ++i) {
      const Piece x = psi[steps[i].s * apart];
      HALOCLINE_UNROLLED(4)
      for (int r = 0; r < in_piece; ++r) y.at[r] += steps[i].corner * x.at[r];
    }
    if constexpr (!only_solves) x_before = psi[steps[points - 1].s * apart];
    HALOCLINE_UNROLLED(2)
    for (int i = 0; i < points; ++i) {
      const FifthStep<Real> step = steps[i];
      const Piece x = psi[step.s * apart];
      Piece result;
      HALOCLINE_UNROLLED(4)
      for (int r = 0; r < in_piece; ++r) {
        Real next = step.x * x.at[r];
        if constexpr (!only_solves) next += step.x_before * x_before.at[r];
        next += step.y_before * y.at[r];
        result.at[r] = only_solves ? next : step.near * next + step.far * y.at[r];
        y.at[r] = next;
      }
      if constexpr (!only_solves) x_before = x;
      psi[step.s * apart] = result;
    }
  }

  /// sum[k] += row s + k of the matrix times the spinors in shared memory
  HALOCLINE_INLINE void multiply(Real (&sum)[columns][spinor_reals], const Real* matrix, int s, bool of_add,
                                 const gpu::ThreadPlace& at) const {
    const Real* row[columns];
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) row[k] = matrix + 2 * points * (s + k < points ? s + k : s);
    HALOCLINE_UNROLLED(1)
    for (int from = 0; from < points; ++from) {
      Real weight[columns][2];
      bool any = false;
      HALOCLINE_UNROLL_COLUMNS
      for (int k = 0; k < columns; ++k) {
        weight[k][0] = row[k][2 * from];
        weight[k][1] = row[k][2 * from + 1];
        any = any || weight[k][0] != 0 || weight[k][1] != 0;
      }
      if (!any) continue;
      const Piece* there = place(at, of_add, from);
      HALOCLINE_UNROLLED(12)
      for (int piece = 0; piece < pieces; ++piece) {
        const Piece psi = there[piece * at.threads_x];
        HALOCLINE_UNROLLED(4)
        for (int i = 0; i < in_piece; ++i) {
          const int number = piece * in_piece + i;
          HALOCLINE_UNROLL_COLUMNS
          for (int k = 0; k < columns; ++k) sum[k][number] += weight[k][number / 2 % 4 < 2 ? 0 : 1] * psi.at[i];
        }
      }
    }
  }

  /// The other matrices, the sum and the store.
  HALOCLINE_INLINE void second(const gpu::Point& p, const gpu::ThreadPlace& at) const {
    const int each = threads_of_site(points), s = columns * (p.y % each), start = points * (p.y / each);
    const int site = static_cast<int>(p.x);
    Real sum[columns][spinor_reals];
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      const Piece* own = place(at, false, s + k < points ? s + k : s);
      HALOCLINE_UNROLLED(24)
      for (int number = 0; number < spinor_reals; ++number)
        sum[k][number] = f != nullptr && f_chain.steps == nullptr
                             ? Real(0)
                             : own[number / in_piece * at.threads_x].at[number % in_piece];
    }
    if (f != nullptr && f_chain.steps == nullptr) multiply(sum, f, s, false, at);
    if (g != nullptr && g_chain.steps == nullptr) multiply(sum, g, s, true, at);
    if (g_chain.steps != nullptr) {
      HALOCLINE_UNROLL_COLUMNS
      for (int k = 0; k < columns; ++k) {
        const Piece* own = place(at, true, s + k < points ? s + k : s);
        HALOCLINE_UNROLLED(24)
        for (int number = 0; number < spinor_reals; ++number)
          sum[k][number] += own[number / in_piece * at.threads_x].at[number % in_piece];
      }
    }
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      if (columns > 1 && s + k >= points) continue;
      const int column = start + s + k;
      Spinor<Real> psi;
      HALOCLINE_UNROLLED(24)
      for (int number = 0; number < spinor_reals; number += 2)
        psi.at[number / 8][number / 2 % 4] = {sum[k][number], sum[k][number + 1]};
      if (g == nullptr && output.add.data != nullptr) {
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
