// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/model/kinetic_defect.hpp"

#include "halocline/tddft/base/index.hpp"

#include <algorithm>
#include <array>

namespace halocline::tddft {
namespace {

/// Sums over the orbitals of a spin.
struct Sums {
  std::vector<double> force;   ///< 2 Re (D_a psi)* T psi, shape (3, points)
  std::vector<double> stress;  ///< Re (D_a psi)* G_b psi, shape (3, 3, points)
};

/// Adds a block. @param slopes  of the block, shape (3, points, 4, 2); applied  T psi
/// @param fields  t, w and u of the spin, shape (7, points); q  what u is subtracted from
void add_block(Sums& sums, const double* psi, const double* slopes, const double* applied,
               std::span<const double, orbital_lanes> factors, std::span<const double> fields, const Vec3& q) {
  const std::size_t points = sums.force.size() / 3, component = points * doubles_per_point;
  for (std::size_t i = 0; i < points; ++i)
    for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
      const std::size_t re = i * doubles_per_point + 2 * lane, im = re + 1;
      for (std::size_t a = 0; a < 3; ++a) {
        const double sr = factors[lane] * slopes[a * component + re], si = factors[lane] * slopes[a * component + im];
        sums.force[a * points + i] += 2 * (sr * applied[re] + si * applied[im]);
        for (std::size_t b = 0; b < 3; ++b) {
          const double p = q[b] - fields[(4 + b) * points + i];
          const double gr = slopes[b * component + re] - p * psi[im], gi = slopes[b * component + im] + p * psi[re];
          sums.stress[(3 * a + b) * points + i] += sr * gr + si * gi;
        }
      }
    }
}

}  // namespace

void add_kinetic_defect(std::span<double> field, Model& model, const State& state, std::span<const double> slopes,
                        bool whole) {
  const Decomposition& decomposition = model.decomposition();
  const Box& box = decomposition.box();
  Hamiltonian& h = model.hamiltonian();
  const std::size_t points = size(box.points()), spins = size(model.system().spins);
  std::vector<double> f(points), v(spins * points), t(v.size()), w(3 * v.size());
  model.xc_derivatives({.f = f, .v = v, .flux = w, .kinetic_slope = t}, state);

  // t, w and u of each spin, as for the Hamiltonian.
  const bool flowing = !state.kinetic.velocity.empty();
  std::vector<double> fields(spins * kinetic_fields * points, 0.0);
  for (std::size_t s = 0; s < spins; ++s) {
    const std::span<double> to = std::span(fields).subspan(s * kinetic_fields * points, kinetic_fields * points);
    std::copy_n(t.begin() + static_cast<std::ptrdiff_t>(s * points), points, to.begin());
    std::copy_n(w.begin() + static_cast<std::ptrdiff_t>(3 * s * points), 3 * points, to.subspan(points).begin());
    if (flowing)
      std::copy_n(state.kinetic.velocity.begin() + static_cast<std::ptrdiff_t>(3 * s * points), 3 * points,
                  to.subspan(4 * points).begin());
  }

  const std::int64_t doubles = state.orbitals.block_doubles();
  core::AlignedArray<double> slopes_of_block(3 * doubles), applied(doubles), scratch(4 * doubles);
  const std::vector<Range> everywhere(size(box.extent[1] * box.extent[2]), Range{0, box.extent[0]});
  const std::array<double, orbital_lanes> none{};
  std::vector<double> unused(3 * points);
  std::vector<Sums> of_spins(spins, Sums{std::vector<double>(3 * points), std::vector<double>(9 * points)});
  for (std::int64_t channel = 0; channel < state.orbitals.channels(); ++channel) {
    const std::vector<double> weights = model.weights(state, channel);
    const auto spin = size(h.spin(channel));
    const std::span<const double> of_spin =
        std::span<const double>(fields).subspan(spin * kinetic_fields * points, kinetic_fields * points);
    const Vec3 q =
        flowing ? model.system().channels[size(decomposition.channels().begin + channel)].k : h.momentum(channel);
    for (std::int64_t block = 0; block < state.orbitals.blocks(); ++block) {
      const std::span<const double, orbital_lanes> factors(weights.data() + block * orbital_lanes, orbital_lanes);
      if (std::ranges::all_of(factors, [](double factor) { return factor == 0; })) continue;
      const double* psi = state.orbitals.block(channel, block);
      h.stencil().add_density_gradient(unused, slopes_of_block.data(), psi, none, everywhere);
      std::ranges::fill(applied.span(), 0.0);
      h.stencil().add_kinetic_operator(applied.data(), psi, of_spin, q, 1.0, scratch.data());
      add_block(of_spins[spin], psi, slopes_of_block.data(), applied.data(), factors, of_spin, q);
    }
  }

  core::AlignedArray<double> block(doubles);
  std::vector<double> divergence(points), gradient(3 * points);
  for (std::size_t s = 0; s < spins; ++s)
    for (std::size_t a = 0; a < 3; ++a) {
      const double* slope = slopes.data() + (3 * s + a) * points;
      for (std::size_t i = 0; i < points; ++i)
        for (std::size_t b = 0; b < 3; ++b)
          block[static_cast<std::int64_t>(i * doubles_per_point + b)] =
              t[s * points + i] * of_spins[s].stress[(3 * a + b) * points + i] + w[(3 * s + b) * points + i] * slope[i];
      h.stencil().divergence(divergence, block.data(), 1);
      for (std::size_t i = 0; i < points; ++i)
        field[a * points + i] += v[s * points + i] * slope[i] + of_spins[s].force[a * points + i] + divergence[i];
    }
  for (std::size_t i = 0; i < points; ++i) block[static_cast<std::int64_t>(i) * doubles_per_point] = f[i];
  h.stencil().gradient(gradient, block.data(), 1);
  if (whole)
    for (std::size_t i = 0; i < gradient.size(); ++i) field[i] -= gradient[i];
}

}  // namespace halocline::tddft
