// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The local potential of an ion as a grid can carry it, for isolated boxes.
///
/// A local potential has waves that a grid of spacing h cannot carry: those above pi/h fold back to longer waves, by
/// how much depends on the place of the ion between the points, and the energy follows. In a periodic cell the sum over
/// the grid's reciprocal vectors leaves them out. Here the radial transform does the same (Tafipolsky and Schmid, J.
/// Chem. Phys. 124, 174102, 2006):
///   V(r) = -Z erf(r / (sqrt(2) s)) / r
///          + 1/(2 pi^2) integral w(q) [V_short(q) - 4 pi Z (1 - exp(-q^2 s^2 / 2)) / q^2] j_0(q r) q^2 dq,
/// with a window w that falls from 1 to 0 around pi/h, and s so wide that the first term has no waves there.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <cstdint>
#include <vector>

namespace halocline::tddft::detail {

class GridPotential {
public:
  /// @param species  must outlive this object. A potential whose tail is not known to be -Z/r (Pseudopotential::
  ///                 local_radius) is taken as it is
  /// @param spacing  the largest of the grid [bohr]; 0: the potential as it is
  /// Cost: some hundred transforms of the potential, once.
  GridPotential(const Pseudopotential& species, double spacing);

  double charge() const noexcept { return charge_; }
  /// From here on the potential is -Z/r [bohr].
  double radius() const noexcept { return radius_; }
  /// out[i] = V(sqrt(squares[i] + beside)) [hartree], for distances below radius().
  void fill(double* out, const double* squares, double beside, std::int64_t n) const;
  /// V [hartree] at one distance r below radius().
  double operator()(double r) const {
    const double square = r * r;
    double v = 0;
    fill(&v, &square, 0, 1);
    return v;
  }

private:
  const Pseudopotential* species_;
  double charge_, radius_ = 0, per_step_ = 0;
  std::vector<double> table_;  ///< coefficients of a cubic on each step
};

}  // namespace halocline::tddft::detail
