// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/field/action.hpp"

#include <fmt/format.h>

#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/components.hpp"

namespace halocline::qcd {

namespace {

void require_phases(const std::array<std::complex<double>, 4>& boundary) {
  for (int axis = 0; axis < 4; ++axis)
    if (!(std::abs(std::abs(boundary[axis]) - 1) < 1e-12))
      throw core::InvalidArgument(
          fmt::format("the boundary phase of axis {} is {}{:+}i; give a phase of modulus one, such as 1 or -1", axis,
                      boundary[axis].real(), boundary[axis].imag()));
}

constexpr std::array staggered_names{"one-link", "asqtad", "hisq"};

}  // namespace

void WilsonCloverAction::validate() const {
  for (auto [name, value] : {std::pair{"mass", mass}, {"csw", csw}, {"csw_t", csw_t.value_or(csw)}, {"nu", nu}})
    if (!std::isfinite(value)) throw core::InvalidArgument(fmt::format("{} is {}; give a finite number", name, value));
  if (!(xi0 > 0) || !std::isfinite(xi0))
    throw core::InvalidArgument(fmt::format("xi0 is {}; the anisotropy is a positive number, 1 for none", xi0));
  require_phases(boundary);
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

void TwistedDoubletAction::validate() const {
  wilson.validate();
  if (!std::isfinite(mu) || !std::isfinite(epsilon))
    throw core::InvalidArgument(
        fmt::format("a twisted doublet has mu = {} and epsilon = {}; give finite numbers", mu, epsilon));
}

void DomainWallAction::validate() const {
  if (!std::isfinite(mass)) throw core::InvalidArgument(fmt::format("mass is {}; give a finite quark mass", mass));
  if (!(m5 > 0 && m5 < 2))
    throw core::InvalidArgument(
        fmt::format("M5 is {}; one light quark needs a wall height between 0 and 2, such as 1.8. M5 is positive here, "
                    "the Wilson operator inside has the mass -M5",
                    m5));
  if (ls < 4 || ls > 64 || ls % 2 != 0)
    throw core::InvalidArgument(fmt::format("Ls is {}; give an even number from 4 to 64", ls));
  for (auto [name, list] : {std::pair{"b", &b}, {"c", &c}}) {
    if (list->size() != 1 && list->size() != static_cast<std::size_t>(ls))
      throw core::InvalidArgument(fmt::format(
          "{} numbers {} were given for Ls = {}; give one number, or one for each s", list->size(), name, ls));
    for (const auto& z : *list)
      if (!std::isfinite(z.real()) || !std::isfinite(z.imag()))
        throw core::InvalidArgument(fmt::format("{} is {}{:+}i; give finite numbers", name, z.real(), z.imag()));
  }
  for (int s = 0; s < ls; ++s)
    if (b_at(s) == 0. && c_at(s) == 0.)
      throw core::InvalidArgument(fmt::format(
          "b and c are both zero at s = {}, which leaves no quark there; give b = 1, c = 0 for the action of Shamir",
          s));
  wilson().validate();
}

const char* name(StaggeredKind kind) noexcept { return staggered_names[static_cast<std::size_t>(kind)]; }

StaggeredKind staggered_kind(const std::string& name) {
  for (std::size_t i = 0; i < staggered_names.size(); ++i)
    if (name == staggered_names[i]) return static_cast<StaggeredKind>(i);
  throw core::InvalidArgument(
      fmt::format("the staggered action \"{}\" is not known; give \"one-link\", \"asqtad\" or \"hisq\"", name));
}

void StaggeredAction::validate() const {
  if (!(mass > 0) || !std::isfinite(mass))
    throw core::InvalidArgument(fmt::format(
        "mass is {}; give a positive mass of the staggered quark: its even-odd solver divides by the mass", mass));
  if (!std::isfinite(epsilon) || (epsilon != 0 && kind != StaggeredKind::hisq))
    throw core::InvalidArgument(fmt::format(
        "epsilon is {} for the action \"{}\"; only \"hisq\" has this correction, give 0", epsilon, name(kind)));
  if (!(u0 > 0 && u0 <= 1) || (u0 != 1 && kind != StaggeredKind::asqtad))
    throw core::InvalidArgument(fmt::format(
        "u0 is {} for the action \"{}\"; only \"asqtad\" has a tadpole factor, between 0 and 1; give 1 for none", u0,
        name(kind)));
  require_phases(boundary);
}

int components(const Action& action) noexcept { return is_staggered(action) ? colours : spinor_components; }

const WilsonCloverAction& wilson_part(const Action& action) {
  if (const auto* twisted = std::get_if<TwistedCloverAction>(&action)) return twisted->wilson;
  require_wilson_quarks(action, "this operation");
  return std::get<WilsonCloverAction>(action);
}

WilsonCloverAction hopping_part(const Action& action) {
  if (const auto* walls = std::get_if<DomainWallAction>(&action)) return walls->wilson();
  if (const auto* doublet = std::get_if<TwistedDoubletAction>(&action)) return doublet->wilson;
  return wilson_part(action);
}

int flavours(const Action& action) noexcept { return std::holds_alternative<TwistedDoubletAction>(action) ? 2 : 1; }

int points(const Action& action) noexcept {
  const auto* walls = std::get_if<DomainWallAction>(&action);
  return walls != nullptr ? walls->ls : flavours(action);
}

void require_wilson_quarks(const Action& action, const char* what) {
  if (is_staggered(action))
    throw core::InvalidArgument(fmt::format(
        "{} knows Wilson, Wilson-clover and twisted quarks, and was given a staggered action; solve it on the "
        "processor by \"cg\"",
        what));
  require_four_dimensions(action, what);
}

void require_four_dimensions(const Action& action, const char* what) {
  if (points(action) > 1)
    throw core::InvalidArgument(fmt::format(
        "{} knows Wilson, Wilson-clover and twisted quarks of one flavour, and was given {}; solve it on the processor "
        "by \"cg\"",
        what, flavours(action) == 2 ? "a twisted doublet" : "a domain-wall action"));
}

double twisted_mass(const Action& action) noexcept {
  const auto* twisted = std::get_if<TwistedCloverAction>(&action);
  return twisted != nullptr ? twisted->mu : 0;
}

std::optional<double> twisted_square(const Action& action) noexcept {
  if (const auto* doublet = std::get_if<TwistedDoubletAction>(&action))
    return doublet->mu * doublet->mu - doublet->epsilon * doublet->epsilon;
  const double mu = twisted_mass(action);
  return mu != 0 ? std::optional(mu * mu) : std::nullopt;
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
