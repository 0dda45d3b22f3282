// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The numbers of a spinor in an order, from those of another numbering and in another basis: each is a sum of at most
/// two.
///
/// A row of V has one entry +-1, or two entries +-1/sqrt(2); so has a row of V^dagger (field/basis.hpp).

#include <array>
#include <cmath>

#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/order/order.hpp"

namespace halocline::qcd::order::detail {

/// number = factor[0] of[0] + factor[1] of[1], of the other numbering.
struct Term {
  std::array<int, 2> of{};
  std::array<double, 2> factor{};
};

/// Numbering of the 24 reals of a site: 2 (3 spin + colour) + part, or 2 (4 colour + spin) + part.
constexpr int number_of(Inside inside, int spin, int colour, int part) {
  return 2 * (inside == Inside::spin_colour ? 3 * spin + colour : 4 * colour + spin) + part;
}

struct Rotation {
  std::array<Term, spinor_reals> terms{};
  bool plain = true;  ///< every number is one of the other numbering, with its sign: no arithmetic
  bool sums = false;  ///< some numbers are sums of two
};

/// Numbers in `to` numbering of a DeGrand-Rossi spinor in `from` numbering: V psi; or with `inverse` V^dagger psi.
inline Rotation rotation(const SpinBasis& basis, bool inverse, Inside to, Inside from) {
  Rotation all;
  const double scale = 1 / std::sqrt(static_cast<double>(basis.norm));
  for (int spin = 0; spin < 4; ++spin)
    for (int colour = 0; colour < colours; ++colour)
      for (int part = 0; part < 2; ++part) {
        Term& term = all.terms[static_cast<std::size_t>(number_of(to, spin, colour, part))];
        std::size_t count = 0;
        for (int k = 0; k < 4; ++k) {
          const auto row = static_cast<std::size_t>(inverse ? k : spin),
                     column = static_cast<std::size_t>(inverse ? spin : k);
          if (basis.numerators[row][column] == 0) continue;
          term.of[count] = number_of(from, k, colour, part);
          term.factor[count++] =
              basis.norm == 1 ? basis.numerators[row][column] : scale * basis.numerators[row][column];
        }
        if (count == 2) all.sums = true;
        if (count == 1) term.of[1] = term.of[0];
        if (count == 2 || term.factor[0] != 1) all.plain = false;
      }
  return all;
}

}  // namespace halocline::qcd::order::detail
