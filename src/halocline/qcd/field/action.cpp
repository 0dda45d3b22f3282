// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/action.hpp"

#include <fmt/format.h>

#include <cmath>

#include "halocline/core/error.hpp"

namespace halocline::qcd {

void WilsonCloverAction::validate() const {
  for (auto [name, value] : {std::pair{"mass", mass}, {"csw", csw}, {"csw_t", csw_t.value_or(csw)}, {"nu", nu}})
    if (!std::isfinite(value)) throw core::InvalidArgument(fmt::format("{} is {}; give a finite number", name, value));
  if (!(xi0 > 0) || !std::isfinite(xi0))
    throw core::InvalidArgument(fmt::format("xi0 is {}; the anisotropy is a positive number, 1 for none", xi0));
  for (int axis = 0; axis < 4; ++axis)
    if (!(std::abs(std::abs(boundary[axis]) - 1) < 1e-12))
      throw core::InvalidArgument(
          fmt::format("the boundary phase of axis {} is {}{:+}i; give a phase of modulus one, such as 1 or -1", axis,
                      boundary[axis].real(), boundary[axis].imag()));
  if (!(diagonal() > 0))
    throw core::InvalidArgument(
        fmt::format("mass {} gives the diagonal {}, which must be positive; on an isotropic lattice give a mass above "
                    "-4, that is a positive kappa",
                    mass, diagonal()));
}

void TwistedCloverAction::validate() const {
  wilson.validate();
  if (!std::isfinite(mu)) throw core::InvalidArgument(fmt::format("mu is {}; give a finite twisted mass", mu));
}

const WilsonCloverAction& wilson_part(const Action& action) noexcept {
  if (const auto* twisted = std::get_if<TwistedCloverAction>(&action)) return twisted->wilson;
  return *std::get_if<WilsonCloverAction>(&action);
}

double twisted_mass(const Action& action) noexcept {
  const auto* twisted = std::get_if<TwistedCloverAction>(&action);
  return twisted != nullptr ? twisted->mu : 0;
}

void validate(const Action& action) {
  std::visit([](const auto& one) { one.validate(); }, action);
}

double kappa_from_mass(double mass) {
  if (mass == -4 || !std::isfinite(mass))
    throw core::InvalidArgument(fmt::format("mass {} has no kappa = 1/(8 + 2 mass); give another mass", mass));
  return 1 / (8 + 2 * mass);
}

double mass_from_kappa(double kappa) {
  if (!(kappa > 0) || !std::isfinite(kappa))
    throw core::InvalidArgument(
        fmt::format("kappa is {}; give a positive number, 0.125 is the free massless value", kappa));
  return 1 / (2 * kappa) - 4;
}

}  // namespace halocline::qcd
