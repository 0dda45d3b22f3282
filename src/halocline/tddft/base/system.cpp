// SPDX-License-Identifier: Apache-2.0
/// @file
/// Makes meshes of k-points, and refuses systems that cannot be computed.

#include "halocline/tddft/base/system.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/coulomb_cut.hpp"
#include "halocline/tddft/base/directions.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numbers>

namespace halocline::tddft {
namespace {

constexpr std::int64_t fewest_points = 5;  // of an axis, so that a point is not its own fourth neighbour
constexpr double overlap = 0.5;            // [bohr]; the shortest bond, that of H2, is 1.40

constexpr std::array axis_names{'x', 'y', 'z'};

void validate_open(const Grid& grid) {
  const int open = open_axes(grid);
  if (open == 0) return;
  if (grid.boundary == Boundary::isolated || open == 3)
    throw core::InvalidArgument("a box that is open along all axes was given as a crystal with open axes; it is an "
                                "isolated box");
  for (std::size_t a = 0; a < 3; ++a)
    for (std::size_t b = 0; b < 3; ++b)
      if (grid.open[a] && a != b && std::abs(dot(grid.axes[a], grid.axes[b])) > 1e-9)
        throw core::InvalidArgument(
            fmt::format("the open edge {} of the cell of a slab or wire is not at right angles to edge {}; turn it so",
                        "abc"[a], "abc"[b]));
}

void validate_grid(const Grid& grid) {
  for (int axis = 0; axis < 3; ++axis) {
    if (grid.extent[at(axis)] < fewest_points)
      throw core::InvalidArgument(fmt::format(
          "the grid has {} points along {}; at least {} are needed, for the stencil reaches four neighbours each way",
          grid.extent[at(axis)], axis_names[at(axis)], fewest_points));
    if (!(grid.spacing[at(axis)] > 0) || !std::isfinite(grid.spacing[at(axis)]))
      throw core::InvalidArgument(fmt::format("the grid spacing along {} is {} bohr; give a positive one",
                                              axis_names[at(axis)], grid.spacing[at(axis)]));
  }
  validate_open(grid);
  if (!grid.skew()) return;
  if (grid.boundary == Boundary::isolated)
    throw core::InvalidArgument("an isolated box with oblique edges was given; its edges must be parallel to x, y, z");
  laplacian_directions(grid);
}

void validate_atoms(const System& system) {
  for (std::size_t i = 0; i < system.atoms.size(); ++i) {
    const Atom& atom = system.atoms[i];
    if (atom.species < 0 || atom.species >= static_cast<int>(system.species.size()))
      throw core::InvalidArgument(fmt::format("atom {} is of species {}, but there are {} species, numbered from 0", i,
                                              atom.species, system.species.size()));
    for (int axis = 0; axis < 3; ++axis) {
      const double r = atom.position[at(axis)];
      if (!std::isfinite(r))
        throw core::InvalidArgument(
            fmt::format("the position of atom {} is not finite along {}", i, axis_names[at(axis)]));
      const double half = 0.5 * system.grid.length(axis);
      if (system.grid.boundary == Boundary::isolated && std::abs(r) > half)
        throw core::InvalidArgument(
            fmt::format("atom {} stands at {} = {:.4f} bohr, outside the isolated box, which reaches from {:.4f} to "
                        "{:.4f}; move it or take a larger box (the centre of the box is the origin)",
                        i, axis_names[at(axis)], r, -half, half));
    }
    for (std::size_t j = 0; j < i; ++j) {
      const double d = distance(system.grid, atom.position, system.atoms[j].position);
      if (d < overlap)
        throw core::InvalidArgument(fmt::format(
            "atoms {} and {} are {:.4f} bohr apart, nearer than any bond; check the positions and their unit", j, i,
            d));
    }
  }
}

void validate_electrons(const System& system, bool odd_allowed) {
  if (system.spins != 1 && system.spins != 2)
    throw core::InvalidArgument(
        fmt::format("{} spins given; 1 (every state holds two electrons) or 2 expected", system.spins));
  if (system.channels.empty() || system.channels.size() % static_cast<std::size_t>(system.spins) != 0)
    throw core::InvalidArgument(
        fmt::format("{} channels (k-points times spins) given for {} spins; every spin needs the "
                    "same k-points",
                    system.channels.size(), system.spins));
  std::vector<double> weight(at(system.spins), 0.0);
  for (const Channel& channel : system.channels) {
    if (channel.spin < 0 || channel.spin >= system.spins)
      throw core::InvalidArgument(
          fmt::format("a channel has spin {}; there are {} spins, numbered from 0", channel.spin, system.spins));
    weight[at(channel.spin)] += channel.weight;
    if (system.grid.boundary == Boundary::isolated && channel.k != Vec3{})
      throw core::InvalidArgument(
          "a k-point other than zero was given for an isolated box; k-points belong to periodic "
          "cells");
  }
  for (const double sum : weight)
    if (std::abs(sum - 1) > 1e-10)
      throw core::InvalidArgument(fmt::format("the weights of the k-points add up to {}, not to 1", sum));
  if (!(system.electrons > 0) || !std::isfinite(system.electrons))
    throw core::InvalidArgument(fmt::format("{} electrons given; a positive number expected", system.electrons));
  if (system.states < 1)
    throw core::InvalidArgument(fmt::format("{} states given; at least 1 expected", system.states));
  const double room = system.full() * system.states * system.spins;
  if (system.electrons > room + 1e-9) {
    const auto needed = static_cast<int>(std::ceil(system.electrons / (system.full() * system.spins) - 1e-9));
    throw core::InvalidArgument(fmt::format("{:g} electrons do not fit {} states, which hold {:g}; take at least {} "
                                            "states",
                                            system.electrons, system.states, room, needed));
  }
  const double pairs = system.electrons / 2;
  if (system.spins == 1 && !odd_allowed && std::abs(pairs - std::round(pairs)) > 1e-9)
    throw core::InvalidArgument(
        fmt::format("{:g} electrons cannot be paired; ask for two spins, or for smearing", system.electrons));
}

/// The shortest of the k-points that differ by reciprocal vectors; `k` itself if no other is shorter. There the error
/// of the stencil is least, and k-points that a symmetry relates remain so, but for those at the border of the zone.
Vec3 shortest(const Vec3& k, const std::array<Vec3, 3>& reciprocal) {
  Vec3 best = k;
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x) {
        const double turn = 2 * std::numbers::pi;
        const Vec3 g = combined({turn * x, turn * y, turn * z}, reciprocal);
        const Vec3 other{k[0] + g[0], k[1] + g[1], k[2] + g[2]};
        if (dot(other, other) < dot(best, best) * (1 - 1e-9)) best = other;
      }
  return best;
}

}  // namespace

double distance(const Grid& grid, const Vec3& a, const Vec3& b) {
  Vec3 apart{a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  if (grid.boundary == Boundary::isolated) return norm(apart);
  const std::array<Vec3, 3> edges = grid.edges(), inverse = dual(edges);
  Vec3 numbers{};
  for (std::size_t i = 0; i < 3; ++i) {
    numbers[i] = dot(apart, inverse[i]);
    numbers[i] -= std::round(numbers[i]);
  }
  double least = std::numeric_limits<double>::infinity();
  for (int z = -1; z <= 1; ++z)
    for (int y = -1; y <= 1; ++y)
      for (int x = -1; x <= 1; ++x)
        least = std::min(least, norm(combined({numbers[0] + x, numbers[1] + y, numbers[2] + z}, edges)));
  return least;
}

std::vector<Channel> monkhorst_pack(const Grid& grid, std::array<int, 3> counts, Vec3 shift, bool gamma_centred,
                                    int spins) {
  for (int axis = 0; axis < 3; ++axis) {
    const int n = counts[at(axis)];
    if (n < 1)
      throw core::InvalidArgument(
          fmt::format("{} k-points along {} asked for; at least 1 expected", n, axis_names[at(axis)]));
    if (grid.boundary == Boundary::isolated && n > 1)
      throw core::InvalidArgument(fmt::format("{} k-points along {} asked for in an isolated box; only periodic cells "
                                              "have them",
                                              n, axis_names[at(axis)]));
  }
  if (grid.boundary == Boundary::isolated) shift = {};
  const auto component = [&](int axis, int i) {
    const int n = counts[at(axis)];
    const double move = shift[at(axis)] + (gamma_centred && n % 2 == 0 ? 0.5 : 0.0);
    return 2 * std::numbers::pi * ((i + 0.5 + move) / n - 0.5);
  };
  const std::array<Vec3, 3> reciprocal = dual(grid.edges());
  const auto point = [&](int x, int y, int z) {
    const Vec3 k = combined({component(0, x), component(1, y), component(2, z)}, reciprocal);
    return grid.skew() ? shortest(k, reciprocal) : k;
  };
  const double weight = 1.0 / (static_cast<double>(counts[0]) * counts[1] * counts[2]);
  std::vector<Channel> channels;
  for (int spin = 0; spin < spins; ++spin)
    for (int z = 0; z < counts[2]; ++z)
      for (int y = 0; y < counts[1]; ++y)
        for (int x = 0; x < counts[0]; ++x) channels.push_back({point(x, y, z), weight, spin});
  return channels;
}

void validate(const System& system, bool odd_allowed) {
  validate_grid(system.grid);
  if (system.jellium && system.grid.skew())
    throw core::InvalidArgument("a jellium sphere in a cell with oblique edges was given; take an orthogonal cell");
  if (system.jellium.has_value() == !system.atoms.empty())
    throw core::InvalidArgument(system.jellium ? "both atoms and a jellium sphere were given; give one of them"
                                               : "neither atoms nor a jellium sphere were given; give one of them");
  if (system.jellium && (!(system.jellium->charge > 0) || !(system.jellium->radius_per_charge > 0)))
    throw core::InvalidArgument(fmt::format("a jellium sphere of charge {} and r_s = {} bohr was given; both must be "
                                            "positive",
                                            system.jellium->charge, system.jellium->radius_per_charge));
  validate_atoms(system);
  validate_electrons(system, odd_allowed);
}

}  // namespace halocline::tddft
