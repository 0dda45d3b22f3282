// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/moving_ions.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace halocline::tddft {
namespace {

using core::InvalidArgument;

double charge_of(const System& system, std::size_t atom) {
  return system.species[static_cast<std::size_t>(system.atoms[atom].species)]->valence();
}

bool is_number(const Vec3& v) {
  return std::ranges::all_of(v, [](double x) { return std::isfinite(x); });
}

void check_velocities(std::span<const Vec3> velocities, std::size_t atoms) {
  if (velocities.size() != atoms)
    throw InvalidArgument(
        fmt::format("{} velocities given for {} atoms; one of each expected", velocities.size(), atoms));
  const auto bad = std::ranges::find_if_not(velocities, is_number);
  if (bad != velocities.end())
    throw InvalidArgument(fmt::format("the velocity of atom {} is not finite", bad - velocities.begin()));
}

void validate(const System& system, const IonOptions& options) {
  const std::size_t atoms = system.atoms.size();
  if (atoms == 0) throw InvalidArgument("ions were to move in a system of jellium; only atoms can");
  if (options.masses.size() != atoms)
    throw InvalidArgument(
        fmt::format("{} masses given for {} atoms; one of each expected", options.masses.size(), atoms));
  for (std::size_t i = 0; i < atoms; ++i)
    if (!(options.masses[i] > 0))
      throw InvalidArgument(
          fmt::format("a mass of {} electron masses given for atom {}; a positive one expected", options.masses[i], i));
  check_velocities(options.velocities, atoms);
  if (options.every < 1)
    throw InvalidArgument(
        fmt::format("every = {} electron steps in an ion step given, at least 1 expected", options.every));
}

}  // namespace

MovingIons::MovingIons(Model& model, IonOptions options) : model_(&model), options_(std::move(options)) {
  comm::on_every_rank(model.decomposition().world(), [&] { validate(model.system(), options_); });
  for (const Atom& atom : model.system().atoms) positions_.push_back(atom.position);
  for (std::size_t i = 0; i < positions_.size(); ++i)
    if (std::isinf(options_.masses[i])) options_.velocities[i] = {};
}

void MovingIons::kick(const Vec3& kick) {
  const System& system = model_->system();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double charge = charge_of(system, i);
    for (std::size_t axis = 0; axis < 3; ++axis)
      options_.velocities[i][axis] -= charge * kick[axis] / options_.masses[i];
  }
}

void MovingIons::push(double time, const Vec3& field) {
  const System& system = model_->system();
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double charge = charge_of(system, i);
    for (std::size_t axis = 0; axis < 3; ++axis)
      options_.velocities[i][axis] += time * (forces_[i][axis] + charge * field[axis]) / options_.masses[i];
  }
}

void MovingIons::drift(double time) {
  for (std::size_t i = 0; i < positions_.size(); ++i)
    for (std::size_t axis = 0; axis < 3; ++axis) positions_[i][axis] += time * options_.velocities[i][axis];
  model_->move_atoms(positions_);
}

void MovingIons::need_forces(const State& state) {
  if (forces_known_) return;
  core::Region region("tddft/forces");
  forces_ = forces(*model_, state);
  forces_known_ = true;
}

void MovingIons::to_middle(const State& state, double length, const Vec3& field) {
  need_forces(state);
  push(0.5 * length, field);
  drift(0.5 * length);
}

void MovingIons::to_end(double length) {
  drift(0.5 * length);
  forces_known_ = false;
}

void MovingIons::finish(const State& state, const OrbitalForces& of_orbitals, double length, const Vec3& field) {
  {
    core::Region region("tddft/forces");
    forces_ = atom_forces(*model_, state, of_orbitals).on_atoms;
  }
  forces_known_ = true;
  push(0.5 * length, field);
}

void MovingIons::resume(std::span<const Vec3> positions, std::span<const Vec3> velocities) {
  comm::on_every_rank(model_->decomposition().world(), [&] {
    if (positions.size() != positions_.size())
      throw InvalidArgument(
          fmt::format("{} positions given for {} atoms; one of each expected", positions.size(), positions_.size()));
    check_velocities(velocities, positions_.size());
  });
  positions_.assign(positions.begin(), positions.end());
  options_.velocities.assign(velocities.begin(), velocities.end());
  model_->move_atoms(positions_);
  forces_known_ = false;
}

Vec3 MovingIons::charge_flow() const {
  const System& system = model_->system();
  Vec3 sum{};
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const double charge = charge_of(system, i);
    for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += charge * options_.velocities[i][axis];
  }
  return sum;
}

IonRecord MovingIons::record() const {
  IonRecord r{positions_, options_.velocities, forces_, 0};
  for (std::size_t i = 0; i < positions_.size(); ++i) {
    const Vec3& v = options_.velocities[i];
    if (std::isfinite(options_.masses[i]))
      r.kinetic += 0.5 * options_.masses[i] * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  return r;
}

}  // namespace halocline::tddft
