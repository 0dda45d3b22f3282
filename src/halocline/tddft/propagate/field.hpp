// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The light: a kick, pulses, or a table, uniform in space. Velocity gauge: A(t) in the Hamiltonian, E = -dA/dt.
/// Length gauge: + E(t) . r in the potential.

#include "halocline/tddft/grid.hpp"

#include <string>
#include <vector>

namespace halocline::tddft {

enum class Gauge { length, velocity };

/// One pulse of linear polarisation.
struct Pulse {
  std::string shape = "cos2";  ///< "cos2": A ~ cos^2(pi (t - t0) / duration) within +- duration/2, "gaussian"
  double amplitude = 0;        ///< peak electric field [a.u.]
  double frequency = 0;        ///< [hartree]
  double duration = 0;         ///< full length of cos2; full width at half maximum of the intensity for gaussian [a.u.]
  double centre = 0;           ///< t0 [a.u.]
  double phase = 0;            ///< carrier-envelope phase [rad]
  Vec3 direction{0, 0, 1};     ///< need not be normalised
};

struct Field {
  Gauge gauge = Gauge::velocity;
  Vec3 kick{};  ///< momentum given to every electron [1/bohr]
  std::vector<Pulse> pulses;
  /// A table of the electric field, linear between its times, zero outside; empty for none.
  std::vector<double> table_times;
  std::vector<Vec3> table_fields;

  /// A(t) of pulses and table, and of the kick for t > 0 in the velocity gauge. A of a pulse is exact; of a table the
  /// integral of its straight lines.
  Vec3 vector_potential(double t) const;
  Vec3 electric_field(double t) const;  ///< without the kick's delta function
};

}  // namespace halocline::tddft
