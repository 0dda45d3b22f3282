// SPDX-License-Identifier: Apache-2.0

#include "halocline/tddft/propagate/observables.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <type_traits>

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

template <class T>
void boost_channel(Orbitals& orbitals, std::int64_t channel, const Box& box,
                   const std::array<std::vector<std::complex<double>>, 3>& along) {
  for (std::int64_t block = 0; block < orbitals.blocks<T>(); ++block) {
    T* psi = orbitals.block<T>(channel, block);
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        for (std::int64_t x = 0; x < box.extent[0]; ++x) {
          const std::complex<double> phase = along[0][size(x)] * along[1][size(y)] * along[2][size(z)];
          for (int lane = 0; lane < lanes_of<T>; ++lane, psi += 2) {
            const std::complex<double> turned = phase * std::complex<double>(psi[0], psi[1]);
            psi[0] = static_cast<T>(turned.real());
            psi[1] = static_cast<T>(turned.imag());
          }
        }
  }
}

}  // namespace

/// Adds factor times the weighted sum over orbitals of values of shape (orbitals, 3).
void CurrentSum::collect(std::int64_t channel, std::span<const double> values, std::span<const double> weights,
                         double factor) {
  const double of_spin = model_->hamiltonian().spin(channel) == 0 ? factor : -factor;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double sum = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) sum += weights[i] * values[3 * i + axis];
    sum_[axis] += factor * sum;
    spin_[axis] += of_spin * sum;
  }
}

/// Adds the nonlocal velocity of the blocks for which Nonlocal::begin() was called.
template <class T>
void CurrentSum::finish_nonlocal(std::int64_t channel, std::span<const double> weights) {
  of_orbitals_.resize(3 * weights.size());
  turned_.resize(turning_ ? 3 * weights.size() : 0);
  model_->hamiltonian().nonlocal().finish_velocity<T>(of_orbitals_, turned_);
  collect(channel, of_orbitals_, weights, 1);
  if (!turning_) return;
  for (std::size_t i = 0; i < turned_.size(); ++i) turn_[i % 3] += weights[i / 3] * turned_[i];
}

void CurrentSum::add_known(std::int64_t channel, const double* psi, std::span<const double> gradient,
                           std::span<const double> weights) {
  core::Region region("tddft/current");
  collect(channel, gradient, weights, model_->decomposition().grid().point_volume());
  if (Nonlocal& nonlocal = model_->hamiltonian().nonlocal(); !nonlocal.empty()) {
    nonlocal.begin(channel, psi, 1);
    finish_nonlocal<double>(channel, weights);
  }
  if (turning_) add_turning(psi, weights);
}

template <class T>
void CurrentSum::add(std::int64_t channel, const T* psi, std::int64_t blocks, std::span<const double> weights,
                     const std::function<void()>& between) {
  core::Region region("tddft/current");
  Hamiltonian& h = model_->hamiltonian();
  const Decomposition& decomposition = model_->decomposition();
  of_orbitals_.resize(3 * weights.size());
  // The stencil runs while the sums of the projections are in transit.
  const bool projectors = !h.nonlocal().empty();
  if (projectors) h.nonlocal().begin(channel, psi, blocks);
  h.stencil().current(psi, blocks, of_orbitals_, between);
  collect(channel, of_orbitals_, weights, decomposition.grid().point_volume());
  if (projectors) finish_nonlocal<T>(channel, weights);
  if (!turning_) return;
  const std::int64_t points = decomposition.box().points();
  for (std::int64_t block = 0; block < blocks; ++block) {
    const T* of_block = psi + block * points * numbers_per_point<T>;
    const std::span<const double> of_lanes = weights.subspan(size(block * lanes_of<T>), lanes_of<T>);
    if constexpr (std::is_same_v<T, double>) {
      add_turning(of_block, of_lanes);
    } else {
      const std::int64_t doubles = points * doubles_per_point;
      if (converted_.size() < 2 * doubles) converted_ = core::AlignedArray<double>(2 * doubles);
      to_doubles(converted_.data(), converted_.data() + doubles, of_block, points);
      for (std::int64_t half : {0, 1})
        add_turning(converted_.data() + half * doubles, of_lanes.subspan(size(half * orbital_lanes), orbital_lanes));
    }
  }
}
template void CurrentSum::add(std::int64_t, const double*, std::int64_t, std::span<const double>,
                              const std::function<void()>&);
template void CurrentSum::add(std::int64_t, const float*, std::int64_t, std::span<const double>,
                              const std::function<void()>&);

/// Adds integral r x Im(psi* grad psi) of a block.
void CurrentSum::add_turning(const double* psi, std::span<const double> weights) {
  const Decomposition& decomposition = model_->decomposition();
  const Grid& grid = decomposition.grid();
  const Box& box = decomposition.box();
  const std::int64_t points = box.points(), component = points * doubles_per_point;
  // The sweep that adds gradients of the density stores the slopes of the orbitals; the gradients are not needed here.
  std::vector<double> unused(size(3 * points));
  slopes_.resize(size(3 * component));
  const std::vector<Range> whole(size(box.extent[1] * box.extent[2]), Range{0, box.extent[0]});
  const std::array<double, orbital_lanes> none{};
  model_->hamiltonian().stencil().add_density_gradient(unused, slopes_.data(), psi, none, whole);
  std::int64_t p = 0;
  for (std::int64_t z = 0; z < box.extent[2]; ++z)
    for (std::int64_t y = 0; y < box.extent[1]; ++y)
      for (std::int64_t x = 0; x < box.extent[0]; ++x, p += doubles_per_point) {
        Vec3 current{};
        for (std::int64_t axis = 0; axis < 3; ++axis) {
          const double* slope = slopes_.data() + axis * component + p;
          for (std::int64_t i = 0; i < orbital_lanes; ++i)
            current[size(axis)] +=
                weights[size(i)] * (psi[p + 2 * i] * slope[2 * i + 1] - psi[p + 2 * i + 1] * slope[2 * i]);
        }
        const Vec3 turned = cross({grid.position(0, box.offset[0] + x), grid.position(1, box.offset[1] + y),
                                   grid.position(2, box.offset[2] + z)},
                                  current);
        for (std::size_t axis = 0; axis < 3; ++axis) turn_[axis] += grid.point_volume() * turned[axis];
      }
}

void CurrentSum::add_drift(std::int64_t channel, double electrons) {
  const Vec3 q = model_->hamiltonian().momentum(channel);
  const double sign = model_->hamiltonian().spin(channel) == 0 ? 1.0 : -1.0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    sum_[axis] += q[axis] * electrons;
    spin_[axis] += sign * q[axis] * electrons;
  }
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
    if (orbitals.precision() == Precision::float32)
      boost_channel<float>(orbitals, channel, box, along);
    else
      boost_channel<double>(orbitals, channel, box, along);
  }
}

}  // namespace halocline::tddft
