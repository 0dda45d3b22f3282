// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Packing of the half spinors that neighbours need from the sites at the edges of our box.
///
/// A hop onto parity p in the neighbouring box reads our edge sites of parity 1 - p. A step +mu over its upper edge
/// leads to our lower end and needs (1 - gamma_mu) psi. A step -mu over its lower edge leads to our upper end and
/// needs (1 + gamma_mu) psi. For the hermitian conjugate, the signs of the lower spins are changed before, as in
/// device_accessor.cuh.
///
/// Projecting before sending halves the bytes. The bits are the same as if the receiver projected, because each
/// number of a projected spinor is one floating-point addition of two numbers.
///
/// Flops a slot and column: 12. Bytes: a spinor read, a half spinor written.

#include "halocline/gpu/face_signals.cuh"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/wilson/cuda_halo.cuh"

namespace halocline::qcd::device {

/// The arguments of packing, a plain value. Faces are numbered by comm::Face::index().
template <class S>
struct HaloPacker {
  using Real = RealOf<S>;
  Box box;
  int parity;  ///< of the sites that are sent
  SpinorReader<S> in;
  Real lower;  ///< sign of the lower spins: -1 for the hermitian conjugate
  std::byte* outbox[gpu::most_faces];
  int slots[gpu::most_faces];  ///< 0 for an inactive face

  template <int axis, int sign>
  HALOCLINE_INLINE HalfSpinor<Real> project_to(const Spinor<Real>& psi) const {
    return wilson::project<axis, sign, Real>(
        [&](int colour, int spin) { return spin < 2 ? psi.at[colour][spin] : lower * psi.at[colour][spin]; });
  }

  /// Packs one slot of one column of a face.
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

/// Assigns the packing to blocks of `threads` threads. A block packs slots of one column of one face.
struct PackBlocks {
  int first[gpu::most_faces + 1];        ///< block number at which a face begins
  int blocks_a_column[gpu::most_faces];  ///< for each face; 0 for an inactive face
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
  /// Called after the work of all threads of a block. The last block of a face raises the neighbour's flag.
  HALOCLINE_INLINE void end(const gpu::FaceSignals& signals, int block) const {
    const int f = face(block);
    gpu::count_packed(signals, f, static_cast<std::uint32_t>(first[f + 1] - first[f]));
  }
};

}  // namespace halocline::qcd::device
