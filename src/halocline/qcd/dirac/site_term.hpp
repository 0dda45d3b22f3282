// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The diagonal block of a Dirac operator, or its inverse, at every site of one parity: y = (C + i tau gamma5) B x.
///
/// Or y = M x or M^dagger x with full matrices: the inverse of A + i mu gamma5 is one such matrix instead of a product,
/// and half of the work. Or, with a fifth dimension, y = F x, where F connects the columns of a site
/// (dirac/fifth_term.hpp). Or, on pairs of columns that are the flavours of a doublet, y = (C + i tau gamma5 tau_1 +
/// split tau_3) B x.
///
/// B and C are clover blocks (site/clover_block.hpp) or absent. An absent B is one, and an absent C is the number
/// `constant`. This form covers every term that the operators need. All of them are diagonal in chirality:
///
/// | term                           | B                   | C              | tau              |
/// |--------------------------------|---------------------|----------------|------------------|
/// | clover term A                  | A                   | 1              | 0                |
/// | its inverse                    | A^-1                | 1              | 0                |
/// | A + i mu gamma5                | 1                   | A              | mu               |
/// | its inverse (devices)          | (A^2 + mu^2)^-1     | A              | -mu              |
/// | d + i mu gamma5, d a number    | 1                   | d              | mu               |
/// | its inverse                    | 1                   | d/(d^2 + mu^2) | -mu/(d^2 + mu^2) |
/// | A + i mu gamma5 tau_1 + eps tau_3 | 1                | A              | mu, split eps    |
/// | its inverse                    | (A^2 + mu^2 - eps^2)^-1 | A          | -mu, split -eps  |

#include <cstdint>

#include "halocline/core/hold.hpp"
#include "halocline/lattice/tile_layout.hpp"
#include "halocline/qcd/dirac/fifth_term.hpp"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd {

template <class T>
struct SiteTerm {
  const T* first = nullptr;             ///< B, [tile][72][lane]; null for one
  const T* second = nullptr;            ///< C, the same; null for `constant`
  T constant = 1;                       ///< C if `second` is null
  T twist = 0;                          ///< tau
  const FifthTerm<T>* fifth = nullptr;  ///< F; then all others are ignored
  const T* full = nullptr;              ///< M, [tile][144][lane]; then all others are ignored but `adjoint`
  bool adjoint = false;                 ///< M^dagger instead of M
  bool doublet = false;                 ///< columns are pairs of flavours
  T split = 0;                          ///< of a doublet

  /// True if C is a block or tau is not zero. Otherwise the term is B alone, and `constant` is ignored.
  bool twisted() const noexcept { return second != nullptr || twist != 0; }
  /// Whether the term connects columns, so that it needs all of them at a site.
  bool connects_columns() const noexcept { return fifth != nullptr || doublet; }
  /// Columns that belong together.
  int extent() const noexcept { return fifth != nullptr ? fifth->extent() : doublet ? 2 : 1; }
};

/// M psi, or M^dagger psi, for lanes of one tile. While the matrices of the tile are read, those of the next one
/// are prefetched into the second-level cache.
/// @param place  offset of these lanes in blocks of 72 reals;  @tparam V  lanes of a tile
template <int V, class Real, class T>
HALOCLINE_INLINE wilson::Spinor<Real> apply_full(const SiteTerm<T>& term, std::int64_t place,
                                                 const wilson::Spinor<Real>& psi) {
  static_assert(clover::full_block_reals == 2 * clover::block_reals);
  const T* block = term.full + (2 * place - place % V);
  const auto load = [&](int i) {
    __builtin_prefetch(block + (clover::full_block_reals + i) * V, 0, 2);
    return core::load_held<Real>(block + i * V);
  };
  return term.adjoint ? clover::multiply_full_block<true, Real>(load, psi)
                      : clover::multiply_full_block<false, Real>(load, psi);
}

/// C psi for lanes of one tile.
/// @param place  offset of these lanes in the blocks;  @param stride  lanes of a tile
template <class Real, class T>
HALOCLINE_INLINE wilson::Spinor<Real> apply_second(const SiteTerm<T>& term, std::int64_t place, int stride,
                                                   const wilson::Spinor<Real>& psi) {
  wilson::Spinor<Real> out;
  if (term.second != nullptr) {
    const T* block = term.second + place;
    out = clover::multiply_block<Real>([&](int i) { return core::load_held<Real>(block + i * stride); }, psi);
  } else {
    const Real constant(term.constant);
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) out.at[colour][spin] = constant * psi.at[colour][spin];
  }
  return out;
}

/// (C + i tau gamma5) psi for lanes of one tile, as apply_second().
template <class Real, class T>
HALOCLINE_INLINE wilson::Spinor<Real> apply_twist(const SiteTerm<T>& term, std::int64_t place, int stride,
                                                  const wilson::Spinor<Real>& psi) {
  wilson::Spinor<Real> out = apply_second<Real>(term, place, stride, psi);
  const Real twist(term.twist), minus(-term.twist);
  for (int colour = 0; colour < 3; ++colour)
    for (int spin = 0; spin < 4; ++spin) {
      // gamma5 is diag(1, 1, -1, -1).
      const Real& tau = spin < 2 ? twist : minus;
      out.at[colour][spin].re = out.at[colour][spin].re - tau * psi.at[colour][spin].im;
      out.at[colour][spin].im = out.at[colour][spin].im + tau * psi.at[colour][spin].re;
    }
  return out;
}

/// (C + i tau gamma5 tau_1 + split tau_3) B of the two flavours psi, in place, for lanes of one tile.
/// @param place  offset of these lanes in the blocks;  @tparam V  lanes of a tile
template <int V, class Real, class T>
__attribute__((noinline)) void apply_doublet(const SiteTerm<T>& term, std::int64_t place,
                                             wilson::Spinor<Real> (&psi)[2]) {
  if (term.first != nullptr) {
    const T* block = term.first + place;
    for (auto& flavour : psi)
      flavour = clover::multiply_block<Real>([&](int i) { return core::load_held<Real>(block + i * V); }, flavour);
  }
  const wilson::Spinor<Real> first = apply_second<Real>(term, place, V, psi[0]);
  const wilson::Spinor<Real> second = apply_second<Real>(term, place, V, psi[1]);
  const Real twist(term.twist), minus(-term.twist), split(term.split);
  for (int colour = 0; colour < 3; ++colour)
    for (int spin = 0; spin < 4; ++spin) {
      const Real& tau = spin < 2 ? twist : minus;
      const auto a = psi[0].at[colour][spin], b = psi[1].at[colour][spin];
      auto& x = psi[0].at[colour][spin];
      auto& y = psi[1].at[colour][spin];
      x.re = first.at[colour][spin].re + split * a.re - tau * b.im;
      x.im = first.at[colour][spin].im + split * a.im + tau * b.re;
      y.re = second.at[colour][spin].re - split * b.re - tau * a.im;
      y.im = second.at[colour][spin].im - split * b.im + tau * a.re;
    }
}

/// out = (C + i tau gamma5) B in, M in or F in, on the tiles of one parity, [tile][column][24][lane] each; out may be
/// in. Collective: no.  Cost: 504 flops a block, site and column; 72 reals a block and site, 48 a site and column.
template <class T>
void multiply(T* out, const T* in, const SiteTerm<T>& term, const lattice::TileLayout& layout, int columns);

}  // namespace halocline::qcd
