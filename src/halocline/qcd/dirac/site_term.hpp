// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The diagonal block of a Dirac operator, or its inverse, at every site of one parity: y = (C + i tau gamma5) B x.
///
/// Or y = M x or M^dagger x with full matrices: the inverse of A + i mu gamma5 is one such matrix instead of a product,
/// and half of the work. Or, with a fifth dimension, y = F x, where F connects the columns of a site
/// (dirac/fifth_term.hpp).
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

  /// True if C is a block or tau is not zero. Otherwise the term is B alone, and `constant` is ignored.
  bool twisted() const noexcept { return second != nullptr || twist != 0; }
};

/// M psi, or M^dagger psi, for lanes of one tile.
/// @param place  offset of these lanes in blocks of 72 reals;  @tparam V  lanes of a tile
template <int V, class Real, class T>
HALOCLINE_INLINE wilson::Spinor<Real> apply_full(const SiteTerm<T>& term, std::int64_t place,
                                                 const wilson::Spinor<Real>& psi) {
  static_assert(clover::full_block_reals == 2 * clover::block_reals);
  const T* block = term.full + (2 * place - place % V);
  const auto load = [&](int i) { return core::load_held<Real>(block + i * V); };
  return term.adjoint ? clover::multiply_full_block<true, Real>(load, psi)
                      : clover::multiply_full_block<false, Real>(load, psi);
}

/// (C + i tau gamma5) psi for lanes of one tile.
/// @param place  offset of these lanes in the blocks;  @param stride  lanes of a tile
template <class Real, class T>
HALOCLINE_INLINE wilson::Spinor<Real> apply_twist(const SiteTerm<T>& term, std::int64_t place, int stride,
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

/// out = (C + i tau gamma5) B in, M in or F in, on the tiles of one parity, [tile][column][24][lane] each; out may be
/// in. Collective: no.  Cost: 504 flops a block, site and column; 72 reals a block and site, 48 a site and column.
template <class T>
void multiply(T* out, const T* in, const SiteTerm<T>& term, const lattice::TileLayout& layout, int columns);

}  // namespace halocline::qcd
