// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/propagate/observables.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

namespace halocline::tddft {
namespace {

/// exp(i p r) along each axis of a box.
std::array<std::vector<std::complex<double>>, 3> phases(const Decomposition& decomposition, const Vec3& p) {
  std::array<std::vector<std::complex<double>>, 3> along;
  for (int axis = 0; axis < 3; ++axis) {
    const auto a = size(axis);
    for (std::int64_t i = 0; i < decomposition.box().extent[a]; ++i)
      along[a].push_back(
          std::polar(1.0, p[a] * decomposition.grid().position(axis, decomposition.box().offset[a] + i)));
  }
  return along;
}

/// Number of a channel's first states, over all processes of the orbital division, up to the last occupied one.
std::int64_t occupied_states(const State& state, std::size_t channel, int states) {
  const double* f = state.occupations.data() + channel * size(states);
  const double largest = *std::max_element(f, f + states);
  std::int64_t last = 0;
  for (int i = 0; i < states; ++i)
    if (f[i] > 1e-6 * largest && f[i] > 0) last = i + 1;
  return last;
}

}  // namespace

void CurrentSum::add(std::int64_t channel, const double* psi, std::int64_t blocks, std::span<const double> weights) {
  core::Region region("tddft/current");
  Hamiltonian& h = model_->hamiltonian();
  const Decomposition& decomposition = model_->decomposition();
  scratch_.resize(size(blocks * orbital_lanes * 3));
  const auto collect = [&](double factor) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      for (std::size_t axis = 0; axis < 3; ++axis) sum_[axis] += factor * weights[i] * scratch_[3 * i + axis];
  };
  // The stencil runs while the sums of the projections are in transit.
  const bool projectors = !h.nonlocal().empty();
  if (projectors) h.nonlocal().begin(channel, psi, blocks);
  h.stencil().current(psi, blocks, scratch_);
  collect(decomposition.grid().point_volume());
  if (!projectors) return;
  h.nonlocal().finish_velocity(scratch_);
  collect(1);
}

void CurrentSum::add_drift(std::int64_t channel, double electrons) {
  const Vec3 q = model_->hamiltonian().momentum(channel);
  for (std::size_t axis = 0; axis < 3; ++axis) sum_[axis] += q[axis] * electrons;
}

Moments moments(const Decomposition& decomposition, std::span<const double> density) {
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  const bool isolated = grid.boundary == Boundary::isolated;
  const std::int64_t spins = static_cast<std::int64_t>(density.size()) / std::max<std::int64_t>(box.points(), 1);
  Moments sum;
  for (std::int64_t spin = 0; spin < spins; ++spin) {
    const double sign = spins == 1 ? 0 : spin == 0 ? 1 : -1;
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y) {
        double row = 0, moment = 0;
        for (std::int64_t x = 0; x < box.extent[0]; ++x) {
          const double n = density[size(spin * box.points() + box.index(x, y, z))];
          row += n;
          moment += n * grid.position(0, box.offset[0] + x);
        }
        sum.electrons += row;
        sum.moment += sign * row;
        if (!isolated) continue;
        const Vec3 of_row{moment, row * grid.position(1, box.offset[1] + y), row * grid.position(2, box.offset[2] + z)};
        for (std::size_t axis = 0; axis < 3; ++axis) {
          sum.dipole[axis] += of_row[axis];
          sum.spin_dipole[axis] += sign * of_row[axis];
        }
      }
  }
  const double volume = grid.point_volume();
  sum.electrons *= volume;
  sum.moment *= volume;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sum.dipole[axis] *= volume;
    sum.spin_dipole[axis] *= volume;
  }
  return sum;
}

void boost(Orbitals& orbitals, const Decomposition& decomposition, const Vec3& p) {
  boost(orbitals, decomposition, std::vector<Vec3>(size(orbitals.channels()), p));
}

void boost(Orbitals& orbitals, const Decomposition& decomposition, std::span<const Vec3> p) {
  const Box& box = decomposition.box();
  for (std::int64_t channel = 0; channel < orbitals.channels(); ++channel) {
    const auto along = phases(decomposition, p[size(channel)]);
    for (std::int64_t block = 0; block < orbitals.blocks(); ++block) {
      double* psi = orbitals.block(channel, block);
      for (std::int64_t z = 0; z < box.extent[2]; ++z)
        for (std::int64_t y = 0; y < box.extent[1]; ++y)
          for (std::int64_t x = 0; x < box.extent[0]; ++x) {
            const std::complex<double> phase = along[0][size(x)] * along[1][size(y)] * along[2][size(z)];
            for (int lane = 0; lane < orbital_lanes; ++lane, psi += 2) {
              const std::complex<double> turned = phase * std::complex<double>(psi[0], psi[1]);
              psi[0] = turned.real();
              psi[1] = turned.imag();
            }
          }
    }
  }
}

double excited_electrons(const Model& model, const State& now, const State& ground, const Vec3& a) {
  const Decomposition& decomposition = model.decomposition();
  const System& system = model.system();
  const std::int64_t points = decomposition.box().points();
  const std::int64_t doubles = points * doubles_per_point;
  const comm::Communicator& others = decomposition.orbitals();
  State moved;
  const Orbitals* reference = &ground.orbitals;
  if (system.grid.boundary == Boundary::isolated && a != Vec3{}) {
    moved.orbitals = ground.orbitals;
    boost(moved.orbitals, decomposition, {-a[0], -a[1], -a[2]});
    reference = &moved.orbitals;
  }

  double excited = 0;
  for (std::int64_t channel = 0; channel < now.orbitals.channels(); ++channel) {
    const auto global = size(decomposition.channels().begin + channel);
    const std::vector<double> weights = model.weights(now, channel);
    const std::int64_t states = occupied_states(ground, global, system.states);
    std::vector<double> remaining(weights.size(), 0.0);
    core::AlignedArray<double> visitor(doubles);
    for (std::int64_t block = 0; block * orbital_lanes < states; ++block) {
      const int owner = decomposition.orbital_part_of(block);
      if (owner == others.rank()) {
        const double* own = reference->block(channel, block - decomposition.blocks().begin);
        std::copy_n(own, doubles, visitor.data());
      }
      others.broadcast(std::as_writable_bytes(visitor.span()), owner);
      // Overlaps <ground_j|psi_i> of the broadcast block's four states with every state on this process.
      const std::int64_t own_blocks = now.orbitals.blocks();
      std::vector<double> overlap(size(own_blocks) * orbital_lanes * orbital_lanes * 2, 0.0);
      for (std::int64_t b = 0; b < own_blocks; ++b) {
        std::array<double, orbital_lanes * orbital_lanes * 2> sum{};
        const double* psi = now.orbitals.block(channel, b);
        for (std::int64_t p = 0; p < doubles; p += doubles_per_point)
          for (std::int64_t i = 0; i < orbital_lanes; ++i)
            for (std::int64_t j = 0; j < orbital_lanes; ++j) {
              const double gr = visitor[p + 2 * j], gi = visitor[p + 2 * j + 1];
              const double re = psi[p + 2 * i], im = psi[p + 2 * i + 1];
              sum[size(2 * (i * orbital_lanes + j))] += gr * re + gi * im;
              sum[size(2 * (i * orbital_lanes + j) + 1)] += gr * im - gi * re;
            }
        std::copy(sum.begin(), sum.end(), overlap.begin() + b * static_cast<std::int64_t>(sum.size()));
      }
      decomposition.space().sum(overlap);
      const double volume = decomposition.grid().point_volume();
      for (std::size_t i = 0; i < remaining.size(); ++i)
        for (std::int64_t j = 0; j < orbital_lanes && block * orbital_lanes + j < states; ++j) {
          const std::size_t at = 2 * (i * orbital_lanes + size(j));
          remaining[i] += volume * volume * (overlap[at] * overlap[at] + overlap[at + 1] * overlap[at + 1]);
        }
    }
    for (std::size_t i = 0; i < weights.size(); ++i) excited += weights[i] * (1 - remaining[i]);
  }
  decomposition.box_mates().sum(std::span(&excited, 1));
  return excited;
}

}  // namespace halocline::tddft
