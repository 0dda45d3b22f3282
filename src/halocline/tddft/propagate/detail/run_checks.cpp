// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/detail/run_checks.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/symmetry.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>
#include <vector>

#include <fmt/core.h>

namespace halocline::tddft::detail {
namespace {

using core::InvalidArgument;

void validate(const PropagateOptions& options) {
  if (options.scheme != "midpoint" && options.scheme != "taylor4" && options.scheme != "etrs")
    throw InvalidArgument(fmt::format("scheme '{}' given, 'midpoint', 'taylor4' or 'etrs' expected", options.scheme));
  if (!(options.time_step >= 0) || !std::isfinite(options.time_step))
    throw InvalidArgument(
        fmt::format("time step {} a.u. given, a positive one expected, or 0 for the default", options.time_step));
  if (options.precision != "double" && options.precision != "float")
    throw InvalidArgument(fmt::format("precision '{}' given, 'double' or 'float' expected", options.precision));
  if (options.energy_every < 0)
    throw InvalidArgument(fmt::format("energy_every = {} given, at least 0 expected", options.energy_every));
  if (!(options.exponential_tolerance >= 0) || !(options.correction_tolerance >= 0) || options.max_corrections < 0)
    throw InvalidArgument("exponential_tolerance, correction_tolerance and max_corrections must not be negative");
  if (options.scheme != "etrs" && (options.exponential_tolerance > 0 || options.correction_tolerance > 0))
    throw InvalidArgument(fmt::format("exponential_tolerance and correction_tolerance belong to the scheme 'etrs'; "
                                      "'{}' has four terms and no correction",
                                      options.scheme));
  if (options.exponential_tolerance > 0 && options.exponential_tolerance < 1e-17)
    throw InvalidArgument(fmt::format("exponential_tolerance = {} given, at least 1e-17 expected (or 0 for order 4)",
                                      options.exponential_tolerance));
}

/// Checks the kick. Waves on a grid of spacing h have momenta up to pi/h; larger ones alias, so the electrons would get
/// another kick.
void check_kick(const Field& field, const Grid& grid) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const double largest = std::numbers::pi / grid.spacing[axis], along = dot(field.kick, grid.axes[axis]);
    if (!(std::abs(along) < largest))
      throw InvalidArgument(
          fmt::format("a kick of {:g} 1/bohr along {} given, below pi/h = {:.4g} 1/bohr expected, the largest momentum "
                      "on a grid of spacing {:.4g} bohr; a linear spectrum takes about 0.01",
                      along, grid.skew() ? "abc"[axis] : "xyz"[axis], largest, grid.spacing[axis]));
  }
}

/// Refuses atoms that move without forces.
void check_forces(const Model& model, bool ions_move) {
  if (ions_move && model.xc().is_potential())
    throw InvalidArgument(
        fmt::format("atoms that move were asked for with the functional {}, which has no energy and so "
                    "no forces; take another functional",
                    model.xc().name()));
}

/// Checks that the field and the ions keep the symmetries by which the k-points are reduced.
void check_symmetries(const System& system, const Field& field, bool ions_move) {
  if (system.symmetries.empty()) return;
  if (ions_move)
    throw InvalidArgument("k-points reduced by symmetry were given for atoms that move, which breaks symmetries; give "
                          "all k-points");
  std::vector<Vec3> vectors{field.kick};
  for (const Pulse& pulse : field.pulses) std::ranges::copy(polarisation(pulse), std::back_inserter(vectors));
  vectors.insert(vectors.end(), field.table_fields.begin(), field.table_fields.end());
  const bool kept = std::ranges::all_of(vectors, [&](const Vec3& v) { return keep(system.symmetries, v); });
  if (!kept || system.time_reversal)
    throw InvalidArgument(
        "k-points reduced by symmetries that the field breaks were given; give all k-points, or reduce "
        "them by the symmetries that leave the field's direction alone");
}

/// Refuses what does not go with a vector potential that depends on the place.
void check_way(const Model& model, const Field& field, const PropagateOptions& options, bool ions_move) {
  if (!field.way) return;
  const Grid& grid = model.system().grid;
  const auto refuse = [](const std::string& what, const std::string& instead) {
    throw InvalidArgument(fmt::format(
        "light that depends on the place was asked for with {}, which it does not go with; {}", what, instead));
  };
  const int axis = field.way->axis;
  if (axis < 0 || axis > 2 || std::abs(field.way->direction) != 1)
    throw InvalidArgument(
        fmt::format("light along axis {} in direction {} asked for; give axis 0, 1 or 2 and direction "
                    "+1 or -1",
                    axis, field.way->direction));
  if (field.gauge != Gauge::velocity) refuse("the length gauge", "take the velocity gauge");
  if (field.has_kick()) refuse("a kick", "give a pulse, which has a beginning at the face of the cell");
  if (field.response.geometry != Response::Geometry::transverse)
    refuse("a response of the uniform field", "take the transverse response: this light answers by itself");
  if (options.precision != "double") refuse("orbitals in float", "take them in double");
  if (options.angular_momentum) refuse("the angular momentum", "leave it out");
  if (ions_move) refuse("atoms that move", "let them rest");
  if (model.has_kinetic()) refuse("a functional of the kinetic energy density", "take another functional");
  if (!model.system().symmetries.empty()) refuse("k-points reduced by symmetry", "give all k-points");
  if (grid.skew()) refuse("axes that are not orthogonal", "take an orthogonal cell");
  if (grid.boundary == Boundary::periodic &&
      std::ranges::count(grid.open, true) > (grid.open[static_cast<std::size_t>(axis)] ? 1 : 0))
    refuse("an open axis across its way", "let it travel along the open axis of a slab");
  std::vector<Vec3> vectors(field.table_fields);
  for (const Pulse& pulse : field.pulses) std::ranges::copy(polarisation(pulse), std::back_inserter(vectors));
  for (const Vec3& e : vectors)
    if (std::abs(e[static_cast<std::size_t>(axis)]) > 1e-12 * norm(e))
      throw InvalidArgument(fmt::format("light along {} with an electric field of ({:g}, {:g}, {:g}) asked for; give a "
                                        "field at right angles to its way",
                                        "xyz"[axis], e[0], e[1], e[2]));
}

}  // namespace

void check_run(const Model& model, const Field& field, const PropagateOptions& options, bool ions_move) {
  validate(options);
  validate(field, model.system().grid.boundary);
  validate(options.absorber, model.system().grid);
  if (options.angular_momentum && model.system().grid.boundary == Boundary::periodic)
    throw InvalidArgument("the angular momentum was asked for in a crystal, where the position has no meaning; it is "
                          "for isolated boxes");
  check_kick(field, model.system().grid);
  if (field.spin_kick && model.system().spins != 2)
    throw InvalidArgument("a spin kick given for electrons without spin; ask for two spins in the ground state");
  if (options.precision == "float" && model.has_kinetic())
    throw InvalidArgument(
        fmt::format("orbitals in float were asked for with the functional {}, whose kinetic energy density "
                    "needs them in double; leave precision at double, or take another functional",
                    model.xc().name()));
  check_symmetries(model.system(), field, ions_move);
  check_forces(model, ions_move);
  check_way(model, field, options, ions_move);
}

}  // namespace halocline::tddft::detail
