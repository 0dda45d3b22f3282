// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hopping term on one tile of a domain, one column.
///
/// Twenty-four sums, a half spinor and its product do not fit into 32 registers together. So the kernel passes over the
/// tile twice, once for each upper spin s of the half spinors. A pass has 18 sums (spin s, and the lower spins that get
/// i^n times it: one from x and y, the other from z and t), six numbers of the half spinor and six of the product. The
/// links are operands read from the first-level cache. Nothing is spilled in the loop over directions. In return, links
/// are read twice from the first-level cache; from beyond it they are read once.
///
/// A site keeps four links, U_mu(x). The step -mu reads the link of the neighbour, which the neighbour uses for its
/// step +mu. Across an edge of the domain the lanes move by one. For a step +mu, the lanes of the half spinor move
/// before the product; for a step -mu, the lanes of the product move. So each product takes spinor and link from one
/// tile. The contributions through a face are prepared beforehand: for +mu the projected neighbour, for -mu the product
/// of the projected neighbour with its link. Edges without a neighbour inside the domain are left out.
///
/// Flops a site: 168 a direction (12 projection, 132 product, 24 sum). Reals a site: 72 links (48 of two rows), 24 of
/// the spinor, which its neighbours find in a cache; 12 a face.

#include <array>
#include <cstdint>

#include "halocline/core/half.hpp"
#include "halocline/lattice/domain_layout.hpp"
#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/schwarz/detail/requests.hpp"

namespace halocline::qcd::schwarz {

using core::Complex;

inline constexpr int spinor_numbers = 24;
inline constexpr int half_numbers = 12;
inline constexpr int block_numbers = 72;

/// How the lanes of a layout move, in the form that the instruction set wants for these numbers. Entry d is direction
/// d.
template <class Real>
struct LaneTables {
  static constexpr int V = core::Lanes<Real>::count;
  using Index = typename core::LaneMoves<Real>::Index;
  using Chosen = typename core::LaneMoves<Real>::Chosen;
  alignas(64) Index moved[8][V];      ///< lane that moves in, by lane
  alignas(64) Index slot_lane[8][V];  ///< place in the slot, for lanes that look through the face
  std::array<Chosen, 8> inside;       ///< lanes that stay inside
  std::array<int, 4> face_lanes;      ///< V / T_mu

  /// @tparam Layout  lattice::DomainLayout, or what has the same tables
  template <class Layout>
  explicit LaneTables(const Layout& layout) {
    for (int d = 0; d < 8; ++d) {
      std::array<bool, V> in{};
      for (int lane = 0; lane < V; ++lane) {
        moved[d][lane] = static_cast<Index>(layout.moved(d)[lane]);
        slot_lane[d][lane] = 0;
        in[lane] = layout.stays_inside(d)[lane] != 0;
      }
      inside[d] = Chosen(in);
      Index place = 0;
      for (const int lane : layout.looking_lanes(d)) slot_lane[d][lane] = place++;
    }
    for (int mu = 0; mu < 4; ++mu) face_lanes[mu] = layout.face_lanes(mu);
  }
};

/// The data of a domain that one hop of one column reads.
template <class S>
struct DomainView {
  const S* spinor;           ///< first tile of the column
  std::int64_t spinor_tile;  ///< numbers from one tile to the next
  const S* links;            ///< `[tile][mu][row][column][re, im][lane]`
  const lattice::DomainNeighbour* table;
  std::array<const S*, 8> face;           ///< slots of the column, `[slot][colour][spin][re, im][lanes that look]`
  std::array<std::int64_t, 8> face_slot;  ///< numbers from one slot to the next
  unsigned faces = 0;                     ///< bit d: face d contributes
  std::array<float, 4> row_factor{1, 1, 1, 1};  ///< factor of conj(row0 x row1), for links of two rows
};

/// @tparam S     number type in memory
/// @tparam Real  pack type of the arithmetic, a tile wide: of floats, or of halves if S is half
template <class S, class Real, int rows>
struct TileHop {
  static constexpr int V = core::Lanes<Real>::count;
  using C = Complex<Real>;
  using Memory = core::Stored<S, Real>;
  using Sum = typename core::Lanes<Real>::Scalar;
  static constexpr int link_numbers = 6 * rows;

  const DomainView<S>& view;
  const LaneTables<Real>& lanes;
  const lattice::DomainNeighbour* neighbours;  ///< of this tile
  std::int64_t tile;
  const Requests<S>* requests = nullptr;  ///< for a later tile; null: none

  /// Requests a part of what the later tile reads.
  template <int part>
  HALOCLINE_INLINE void request() const {
    if (requests != nullptr)
      requests->template part_of<part, 4 * link_numbers * V, block_numbers * V, spinor_numbers * V>();
  }

  static HALOCLINE_INLINE C load(const S* at) { return {Memory::load(at), Memory::load(at + V)}; }

  static HALOCLINE_INLINE void clear(C (&v)[3]) {
#pragma GCC unroll 3
    for (int colour = 0; colour < 3; ++colour) v[colour] = {Real(0.0f), Real(0.0f)};
  }

  /// Component of spin s of the projected neighbour, three colours.
  template <int mu, int sign, int s>
  HALOCLINE_INLINE void project(C (&h)[3], const S* spinor) const {
    constexpr int turn = sign > 0 ? 0 : 2;
#pragma GCC unroll 3
    for (int colour = 0; colour < 3; ++colour)
      h[colour] = load(spinor + 2 * (4 * colour + s) * V) +
                  times_i_to<gamma[mu].power[s] + turn>(load(spinor + 2 * (4 * colour + gamma[mu].column[s]) * V));
  }

  /// Moves the lanes for a step over the edge; lanes without a neighbour inside the domain become zero.
  template <int d>
  HALOCLINE_INLINE void move(C (&h)[3]) const {
    if constexpr (V > 1) {
      const auto table = core::LaneMoves<Real>::table(lanes.moved[d]);
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        h[colour].re = core::permute_or_zero(h[colour].re, table, lanes.inside[d]);
        h[colour].im = core::permute_or_zero(h[colour].im, table, lanes.inside[d]);
      }
    }
  }

  /// Loads the contribution through the face into the lanes that look through it.
  template <int d, int s>
  HALOCLINE_INLINE void take_face(C (&h)[3]) const {
    const int count = lanes.face_lanes[d % 4];
    const S* slot = view.face[d] + neighbours[d].slot * view.face_slot[d] + 2 * s * count;
    if (count == V) {
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) h[colour] = load(slot + 4 * colour * V);
    } else if constexpr (V > 1) {
      const auto table = core::LaneMoves<Real>::table(lanes.slot_lane[d]);
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        const S* at = slot + 4 * colour * count;
        h[colour].re = core::permute_or_keep(h[colour].re, Memory::load(at), table, lanes.inside[d]);
        h[colour].im = core::permute_or_keep(h[colour].im, Memory::load(at + count), table, lanes.inside[d]);
      }
    }
  }

  /// Link mu of a tile; with two rows the third is computed into `third`.
  template <int mu>
  HALOCLINE_INLINE const S* link(std::int64_t of_tile, C (&third)[3]) const {
    const S* u = view.links + (of_tile * 4 + mu) * (link_numbers * V);
    if constexpr (rows == 2) {
      const Real factor(view.row_factor[mu]);
#pragma GCC unroll 3
      for (int j = 0; j < 3; ++j) {
        const C a = load(u + 2 * ((j + 1) % 3) * V), b = load(u + 2 * (3 + (j + 2) % 3) * V);
        const C c = load(u + 2 * ((j + 2) % 3) * V), e = load(u + 2 * (3 + (j + 1) % 3) * V);
        third[j].re = factor * (a.re * b.re - a.im * b.im - c.re * e.re + c.im * e.im);
        third[j].im = factor * (c.re * e.im + c.im * e.re - a.re * b.im - a.im * b.re);
      }
    }
    return u;
  }
  static HALOCLINE_INLINE C element(const S* u, const C (&third)[3], int row, int column) {
    if constexpr (rows == 2)
      if (row == 2) return third[column];
    return load(u + 2 * (3 * row + column) * V);
  }

  /// chi = U h, or U^dagger h.
  template <bool adjoint>
  static HALOCLINE_INLINE void multiply(C (&chi)[3], const S* u, const C (&third)[3], const C (&h)[3]) {
#pragma GCC unroll 3
    for (int column = 0; column < 3; ++column)
#pragma GCC unroll 3
      for (int row = 0; row < 3; ++row) {
        const C e = adjoint ? element(u, third, column, row) : element(u, third, row, column);
        if constexpr (adjoint) {
          if (column == 0)
            chi[row] = core::conj_times(e, h[0]);
          else
            core::conj_multiply_add(chi[row], e, h[column]);
        } else {
          if (column == 0)
            chi[row] = e * h[0];
          else
            core::multiply_add(chi[row], e, h[column]);
        }
      }
  }

  /// Adds direction d to the sums of upper spin s: `upper` itself and the lower spin that gets i^n times it.
  template <int d, int s, bool own, bool through_faces>
  HALOCLINE_INLINE void add(C (&upper)[3], C (&lower)[3]) const {
    constexpr int mu = d % 4;
    constexpr int sign = d < 4 ? -1 : 1;
    const lattice::DomainNeighbour n = neighbours[d];
    const bool edge = n.slot != lattice::DomainNeighbour::inside;
    const bool inside = own && (!edge || lanes.face_lanes[mu] < V);
    const bool face = through_faces && edge && ((view.faces >> d) & 1u) != 0;
    if (!inside && !face) return;
    C h[3], chi[3], third[3];
    if constexpr (d < 4) {
      const S* u = link<mu>(tile, third);
      if (inside) {
        project<mu, sign, s>(h, view.spinor + n.tile * view.spinor_tile);
        if (edge) move<d>(h);
      } else {
        clear(h);
      }
      if (face) take_face<d, s>(h);
      multiply<false>(chi, u, third, h);
    } else {
      if (inside) {
        project<mu, sign, s>(h, view.spinor + n.tile * view.spinor_tile);
        const S* u = link<mu>(n.tile, third);
        multiply<true>(chi, u, third, h);
        if (edge) move<d>(chi);
      } else {
        clear(chi);
      }
      if (face) take_face<d, s>(chi);
    }
    // gamma_mu phi = sign phi gives the lower half back.
    constexpr int turn = sign > 0 ? 0 : 2;
    constexpr int below = mu < 2 ? 3 - s : 2 + s;
    static_assert(gamma[mu].column[below] == s);
#pragma GCC unroll 3
    for (int colour = 0; colour < 3; ++colour) {
      upper[colour] += chi[colour];
      lower[colour] += times_i_to<gamma[mu].power[below] + turn>(chi[colour]);
    }
  }

  template <int s, bool own, bool through_faces>
  HALOCLINE_INLINE void pass(C (&upper)[3], C (&lower_xy)[3], C (&lower_zt)[3]) const {
    request<8 * s + 0>();
    add<0, s, own, through_faces>(upper, lower_xy);
    request<8 * s + 1>();
    add<4, s, own, through_faces>(upper, lower_xy);
    request<8 * s + 2>();
    add<1, s, own, through_faces>(upper, lower_xy);
    request<8 * s + 3>();
    add<5, s, own, through_faces>(upper, lower_xy);
    request<8 * s + 4>();
    add<2, s, own, through_faces>(upper, lower_zt);
    request<8 * s + 5>();
    add<6, s, own, through_faces>(upper, lower_zt);
    request<8 * s + 6>();
    add<3, s, own, through_faces>(upper, lower_zt);
    request<8 * s + 7>();
    add<7, s, own, through_faces>(upper, lower_zt);
  }

  /// The sums, [colour][spin][re, im][lane].
  template <bool own, bool through_faces>
  HALOCLINE_INLINE void run(Sum* sum) const {
    using L = core::Lanes<Real>;
    const auto put = [&](int spin, const C(&v)[3]) {
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour) {
        L::store(sum + 2 * (4 * colour + spin) * V, v[colour].re);
        L::store(sum + (2 * (4 * colour + spin) + 1) * V, v[colour].im);
      }
    };
    const auto get = [&](int spin, C(&v)[3]) {
#pragma GCC unroll 3
      for (int colour = 0; colour < 3; ++colour)
        v[colour] = {L::load(sum + 2 * (4 * colour + spin) * V), L::load(sum + (2 * (4 * colour + spin) + 1) * V)};
    };
    C upper[3], lower_xy[3], lower_zt[3];
    clear(upper);
    clear(lower_xy);
    clear(lower_zt);
    pass<0, own, through_faces>(upper, lower_xy, lower_zt);
    put(0, upper);
    put(3, lower_xy);
    put(2, lower_zt);
    // Keeps the compiler from interleaving the passes: their sums together would not fit the registers.
    asm volatile("" ::: "memory");
    clear(upper);
    get(2, lower_xy);
    get(3, lower_zt);
    pass<1, own, through_faces>(upper, lower_xy, lower_zt);
    put(1, upper);
    put(2, lower_xy);
    put(3, lower_zt);
  }
};

}  // namespace halocline::qcd::schwarz
