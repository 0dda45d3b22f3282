// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the hopping kernel reads tiled fields on a CPU.
///
/// A tile of V sites goes through the kernel in V / W sub-packs of W lanes, W being what a register holds. A local
/// neighbour is loaded and projected in registers. A rotated one is permuted as it is loaded; a halo slot holds half
/// spinors that the sender projected already; both are the rare case and stand out of line.
///
/// The kernel reads links in the order of its arithmetic and spinors from eight places, which no hardware prefetcher
/// follows: where the fields outgrow the cache, it prefetches one tile ahead into the second level. Of the neighbours
/// those along z and t are worth it; along x and y they were read a moment ago. At 24^4 this is 4.7 -> 8.9 Gflop/s in
/// double and 19 -> 24 in float on one core; at 8^4 it costs float 4 % and gains double 3 %. Two tiles ahead, or into
/// the first level, is slower.

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "halocline/core/pack.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/wilson/detail/kernels.hpp"

namespace halocline::qcd::wilson {

inline constexpr int link_reals = 18;
inline constexpr int half_spinor_reals = 12;

/// Everything about one hop that is the same for all tiles.
template <class T, int V>
struct HopView {
  static constexpr int width = V < core::native_lanes<T> ? V : core::native_lanes<T>;
  using Real = core::Number<T, width>;
  using Index = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

  const T* in;     ///< spinor tiles of the source parity
  const T* links;  ///< of the target parity
  /// Lane tables and halo of each direction.
  alignas(64) Index rotation[8][V];
  std::array<const T*, 8> received;                   ///< slots, [slot][12][lanes that travel]
  std::array<const std::int32_t*, 8> received_lanes;  ///< where they go
  std::array<int, 8> received_count;                  ///< how many a slot has: V / T_mu
};

template <class T, int V>
struct TileAccessor {
  using View = HopView<T, V>;
  using Real = typename View::Real;
  static constexpr int width = View::width;

  /// Into the second-level cache, for reading.
  static HALOCLINE_INLINE void prefetch(const T* at) {
    __builtin_prefetch(at, 0, 2);
    __builtin_prefetch(at + V, 0, 2);
  }

  const View& view;
  const lattice::Neighbour* neighbours;
  const lattice::Neighbour* coming;  ///< of the tile that comes next
  const T* links;                    ///< of this tile, at this sub-pack
  int first_lane;                    ///< of this sub-pack
  T* far;                            ///< one spinor tile of this thread, zero in its lower two spins

  static HALOCLINE_INLINE Complex<Real> load(const T* spinor, int colour, int spin) {
    const T* at = spinor + 2 * (4 * colour + spin) * V;
    return {core::Lanes<Real>::load(at), core::Lanes<Real>::load(at + V)};
  }

  template <int d>
  HALOCLINE_INLINE Complex<Real> link(int row, int column) const {
    const T* at = links + (d * link_reals + 2 * (3 * column + row)) * V;
    prefetch(at + 8 * link_reals * V);
    return {core::Lanes<Real>::load(at), core::Lanes<Real>::load(at + V)};
  }

  template <int d, int sign>
  HALOCLINE_INLINE HalfSpinor<Real> half() const {
    const lattice::Neighbour n = neighbours[d];
    const T* spinor = view.in + std::int64_t(n.tile) * (24 * V) + first_lane;
    if (__builtin_expect(n.slot != lattice::Neighbour::local, 0)) spinor = fetch_far<d, sign>(n);
    const T* ahead = view.in + std::int64_t(coming[d].tile) * (24 * V) + first_lane;
    return project<d % 4, sign, Real>([&](int colour, int spin) {
      if constexpr (d % 4 >= 2) prefetch(ahead + 2 * (4 * colour + spin) * V);
      return load(spinor, colour, spin);
    });
  }

  /// Leaves the projected neighbour of a rotated or halo direction in the upper two spins of `far`, whose lower two
  /// are zero: projecting that once more changes nothing, and the hot path needs no second form of its data.
  template <int d, int sign>
  __attribute__((noinline)) const T* fetch_far(lattice::Neighbour n) const {
    const int count = view.received_count[d];
    T* to = far + first_lane;
    const auto place = [](int colour, int spin) { return 2 * (4 * colour + spin) * V; };
    if (n.slot >= 0 && count == V) {
      const T* slot = view.received[d] + std::int64_t(n.slot) * (half_spinor_reals * V) + first_lane;
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 2; ++spin)
          for (int part = 0; part < 2; ++part)
            core::Lanes<Real>::store(to + place(colour, spin) + part * V,
                                     core::Lanes<Real>::load(slot + (2 * (2 * colour + spin) + part) * V));
      return to;
    }
    const T* spinor = view.in + std::int64_t(n.tile) * (24 * V);
    const HalfSpinor<Real> h = project<d % 4, sign, Real>([&](int colour, int spin) {
      const T* at = spinor + place(colour, spin);
      return Complex<Real>{load_rotated<d>(at), load_rotated<d>(at + V)};
    });
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 2; ++spin) {
        core::Lanes<Real>::store(to + place(colour, spin), h.at[colour][spin].re);
        core::Lanes<Real>::store(to + place(colour, spin) + V, h.at[colour][spin].im);
      }
    if (n.slot < 0) return to;
    const T* slot = view.received[d] + std::int64_t(n.slot) * (half_spinor_reals * count);
    for (int i = 0; i < count; ++i) {
      const int lane = view.received_lanes[d][i];
      if (lane < first_lane || lane >= first_lane + width) continue;
      for (int colour = 0; colour < 3; ++colour)
        for (int spin = 0; spin < 2; ++spin)
          for (int part = 0; part < 2; ++part)
            far[place(colour, spin) + part * V + lane] = slot[(2 * (2 * colour + spin) + part) * count + i];
    }
    return to;
  }

  /// The sub-pack of V numbers whose lanes are rotated along the axis of direction d.
  template <int d>
  HALOCLINE_INLINE Real load_rotated(const T* numbers) const {
    if constexpr (V == 1) {
      return *numbers;
    } else if constexpr (V == width || V == 2 * width) {
      typename Real::Mask table;
      std::memcpy(&table, view.rotation[d] + first_lane, sizeof(table));
      if constexpr (V == width)
        return core::permute(Real::load(numbers), table);
      else
        return core::permute(Real::load(numbers), Real::load(numbers + width), table);
    } else {
      alignas(64) T lane[width];
      for (int i = 0; i < width; ++i) lane[i] = numbers[view.rotation[d][first_lane + i]];
      return core::Lanes<Real>::load(lane);
    }
  }
};

}  // namespace halocline::qcd::wilson
