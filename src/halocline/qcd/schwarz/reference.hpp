// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Schwarz preconditioner in plain loops over canonical arrays, in double: the oracle of the fast one.
///
/// It evaluates the formula of schwarz.hpp step by step, on whole vectors, and keeps r as defined there. No work is
/// left out, deferred or reused. It knows no tiles and no faces. The domain of a site follows from its global
/// coordinates: block coordinate b_mu = x_mu / extent_mu of the block, colour = sum of b mod 2. A step to a neighbour
/// is inside if it stays within the block. The hopping term uses the same per-site source as wilson/reference.hpp, with
/// the excluded steps left out.
///
///   D' = 1 - B hop,   D_in = 1 - B hop_in,   D_out = D' - D_in = -B hop_out,   B = A^-1 / 2
///
///   J r, Jacobi:            x = r;                   `steps` times:  x <- r + (x - D_in x)
///   J r, even-odd:          x = r;                   `steps` times, for odd, then even sites of the domain:
///                                                                    x <- r + (x - D_in x) there
///   J r, minimal residual:  x = 0, r' = r;           `steps` times:  q = D_in r',  w = <q, r'> / <q, q>,
///                                                                    x += w r',  r' -= w q
///                           the sums over one domain, w complex; w = 0 where q vanishes
///   K b:                    r = b, x = 0;  nsap + 1 times, for c = 0, 1:  z = J r on the domains of colour c, 0 on the
///                                                                        others;  x += z,  r -= D' z
///   D' K b:                 b - r at the end of the same

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::schwarz {

/// All vectors: the local box, shape [t][z][y][x][spin 4][colour 3].
/// @throws InvalidArgument  from every function, for a vector of wrong length, on each rank where its length is wrong
class Reference {
public:
  using Vector = std::vector<std::complex<double>>;
  using View = std::span<const std::complex<double>>;

  /// @param gauge       links with ghosts filled; must live as long as this
  /// @param parameters  nsap, inner, steps and blocks are used; blocks must be given
  /// @throws InvalidArgument  for impossible parameters, or where the blocks do not divide the local box
  /// Collective: yes.
  Reference(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters);

  Vector apply(View in) const;                    ///< D' in. Collective: yes.
  Vector apply_inside(View in) const;             ///< D_in in, all domains. Collective: yes.
  Vector apply_outside(View in) const;            ///< D_out in. Collective: yes.
  Vector invert_inside(View in) const;            ///< J in, all domains. Collective: yes.
  Vector precondition(View in) const;             ///< K in. Collective: yes.
  Vector apply_preconditioned(View in) const;     ///< D' K in. Collective: yes.
  Vector multiply_inverse_clover(View in) const;  ///< A^-1 in. Collective: no.
  Vector on_colour(View in, int colour) const;    ///< in on the domains of this colour, 0 elsewhere. Collective: no.

  /// Colour of the domain of a site, and the number of that domain within this process.
  /// @param x  local coordinates
  int colour(const lattice::Coordinates<4>& x) const noexcept;
  std::int64_t domain(const lattice::Coordinates<4>& x) const noexcept;

private:
  enum class Steps { all, inside, outside };
  struct Sweeps;
  struct CutAccessor;

  void check(View in) const;
  Vector scaled_hop(View in, Steps steps) const;
  Vector jacobi(View r) const;
  Vector even_odd(View r) const;
  Vector minimal_residual(View r) const;
  Sweeps sweep(View b) const;

  const GaugeField* gauge_;
  WilsonCloverAction action_;
  Parameters parameters_;
  lattice::Coordinates<4> block_{};     ///< sites of a domain along each axis
  std::vector<double> inverse_clover_;  ///< 72 reals a site, in the order of site/clover_block.hpp
};

}  // namespace halocline::qcd::schwarz
