// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Packing: the half spinors that neighbours need of the sites at our edges.
///
/// A neighbour's target site of parity p that lacks its neighbour in direction d finds it here at the end of the box
/// that faces it: in direction mu at our lower end, in direction -mu at our upper one, among the sites of parity 1 - p.
/// It takes (1 - gamma_mu) psi of the former and (1 + gamma_mu) psi of the latter; for the hermitian conjugate the
/// lower spins have been turned before, as in device_accessor.cuh. Projected here it is half the bytes, and the same
/// bits as if projected there, for in floating point the projection is one addition of two numbers.
///
/// Flops a slot and column: 12. Bytes: a spinor read, a half spinor written.

#include "halocline/gpu/face_signals.cuh"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/wilson/cuda_halo.cuh"

namespace halocline::qcd::device {

/// What packing needs, a plain value. Faces are those of comm::Face::index().
template <class S>
struct HaloPacker {
  using Real = RealOf<S>;
  Box box;
  int parity;  ///< of the sites that are sent
  SpinorReader<S> in;
  Real lower;  ///< sign of the lower spins: -1 for the hermitian conjugate
  std::byte* outbox[gpu::most_faces];
  int slots[gpu::most_faces];  ///< 0 for a face that is not active

  template <int axis, int sign>
  HALOCLINE_INLINE HalfSpinor<Real> project_to(const Spinor<Real>& psi) const {
    return wilson::project<axis, sign, Real>(
        [&](int colour, int spin) { return spin < 2 ? psi.at[colour][spin] : lower * psi.at[colour][spin]; });
  }

  /// One slot of one column of a face.
  HALOCLINE_INLINE void pack(int face, int slot, int column) const {
    Coordinates c;
    if (!box.face_site(parity, face / 2, face % 2 != 0, slot, c)) return;
    const Spinor<Real> psi = in.load(box.index(c), column);
    HalfSpinor<Real> h;
    switch (face) {
    case 0:
      h = project_to<0, -1>(psi);
      break;
    case 1:
      h = project_to<0, 1>(psi);
      break;
    case 2:
      h = project_to<1, -1>(psi);
      break;
    case 3:
      h = project_to<1, 1>(psi);
      break;
    case 4:
      h = project_to<2, -1>(psi);
      break;
    case 5:
      h = project_to<2, 1>(psi);
      break;
    case 6:
      h = project_to<3, -1>(psi);
      break;
    default:
      h = project_to<3, 1>(psi);
      break;
    }
    store_half<S>(outbox[face], slots[face], in.columns, slot, column, h);
  }
};

/// Packing as blocks: which face a block of `threads` threads is for, and which slots and columns. A block takes slots
/// of one column of one face.
struct PackBlocks {
  int first[gpu::most_faces + 1];        ///< block number at which a face begins
  int blocks_a_column[gpu::most_faces];  ///< of a face; 0 for one that is not active
  int threads;

  /// @param slots  shape (most_faces,)
  static PackBlocks of(const int* slots, int columns, int threads) {
    PackBlocks b{};
    b.threads = threads;
    for (int face = 0; face < gpu::most_faces; ++face) {
      b.blocks_a_column[face] = (slots[face] + threads - 1) / threads;
      b.first[face + 1] = b.first[face] + columns * b.blocks_a_column[face];
    }
    return b;
  }
  int count() const { return first[gpu::most_faces]; }
  HALOCLINE_INLINE int face(int block) const {
    int f = 0;
    while (block >= first[f + 1]) ++f;
    return f;
  }
  /// The work of one thread.
  template <class S>
  HALOCLINE_INLINE void run(const HaloPacker<S>& packer, int block, int thread) const {
    const int f = face(block);
    const int inside = block - first[f];
    const int column = inside / blocks_a_column[f];
    const int slot = (inside - column * blocks_a_column[f]) * threads + thread;
    if (slot < packer.slots[f]) packer.pack(f, slot, column);
  }
  /// After the work of all threads of a block.
  HALOCLINE_INLINE void end(const gpu::FaceSignals& signals, int block) const {
    const int f = face(block);
    gpu::count_packed(signals, f, static_cast<std::uint32_t>(first[f + 1] - first[f]));
  }
};

}  // namespace halocline::qcd::device
