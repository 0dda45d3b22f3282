// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/matter/medium.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <cmath>

namespace halocline::maxwell {

std::complex<double> Medium::epsilon(double omega) const {
  std::complex<double> sum(permittivity, omega == 0 ? 0 : conductivity / omega);
  for (const Pole& p : poles)
    sum += p.strength / std::complex<double>(p.resonance * p.resonance - omega * omega, -p.damping * omega);
  return sum;
}

std::complex<double> Medium::epsilon_of_scheme(double omega, double dt) const {
  // Central differences of a wave: d/dt is -i s, a mean over two half steps is c, with s = sin(omega dt / 2) / (dt /
  // 2).
  const double s = std::sin(omega * dt / 2) / (dt / 2);
  const double c = std::cos(omega * dt / 2);
  std::complex<double> sum(permittivity, s == 0 ? 0 : conductivity * c / s);
  for (const Pole& p : poles)
    sum += p.strength / std::complex<double>(p.resonance * p.resonance - s * s, -p.damping * s * c);
  return sum;
}

void Medium::check(double dt, double limit) const {
  if (!(permittivity > 0) || !std::isfinite(permittivity))
    throw core::InvalidArgument(
        fmt::format("a permittivity of {} was given; it must be positive at frequencies above all "
                    "poles. A metal has permittivity 1 or more and a Drude pole",
                    permittivity));
  if (!(conductivity >= 0) || !std::isfinite(conductivity))
    throw core::InvalidArgument(
        fmt::format("a conductivity of {} was given; matter here absorbs, so it is at least 0", conductivity));
  double sum = 0;
  for (const Pole& p : poles) {
    if (!(p.strength >= 0) || !(p.damping >= 0) || !(p.resonance >= 0) ||
        !std::isfinite(p.strength + p.damping + p.resonance))
      throw core::InvalidArgument(fmt::format("a pole with resonance {}, damping {} and strength {} was given; all are "
                                              "finite and at least 0, because matter "
                                              "here does not amplify",
                                              p.resonance, p.damping, p.strength));
    sum += p.resonance * p.resonance + p.strength / permittivity;
  }
  const double used = dt * dt / (limit * limit) / permittivity + dt * dt / 4 * sum;
  if (used >= 1)
    throw core::InvalidArgument(
        fmt::format("a time step of {:.6g} is unstable in matter with permittivity {:.4g} and resonances and plasma "
                    "frequencies of up to {:.4g}: take one below {:.6g}",
                    dt, permittivity, std::sqrt(sum), dt / std::sqrt(used)));
}

}  // namespace halocline::maxwell
