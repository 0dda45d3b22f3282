// SPDX-License-Identifier: Apache-2.0
/// @file
/// The nonlocal part exactly as in the formula: for each atom and projector, over all points and all images.

#include "halocline/tddft/pseudopotential/nonlocal.hpp"

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"
#include "halocline/tddft/pseudopotential/spherical_harmonics.hpp"

#include <cmath>

namespace halocline::tddft::reference {
namespace {

using Complex = std::complex<double>;

/// P(r) = sum over images of p(r - R) Y(r - R) exp(-i q (r - R)) at all points of the grid.
std::vector<Complex> on_grid(const System& system, const Atom& atom, int l, int i, std::size_t m, const Vec3& q) {
  const Grid& grid = system.grid;
  const Pseudopotential& potential = *system.species[static_cast<std::size_t>(atom.species)];
  const double radius = potential.projector_radius(l);
  const std::array<Vec3, 3> edges = grid.edges(), inverse = dual(edges);
  std::array<int, 3> images{};
  if (grid.boundary == Boundary::periodic)
    for (int axis = 0; axis < 3; ++axis)
      images[static_cast<std::size_t>(axis)] = static_cast<int>(
          std::ceil((norm(atom.position) + radius) * norm(inverse[static_cast<std::size_t>(axis)]) + 1));
  std::vector<Complex> result;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) {
        Complex sum = 0;
        for (int nz = -images[2]; nz <= images[2]; ++nz)
          for (int ny = -images[1]; ny <= images[1]; ++ny)
            for (int nx = -images[0]; nx <= images[0]; ++nx) {
              Vec3 d = combined({double(nx), double(ny), double(nz)}, edges);
              for (std::size_t c = 0; c < 3; ++c) d[c] += grid.point({x, y, z})[c] - atom.position[c];
              const double r = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
              if (r >= radius * (1 - 1e-12)) continue;
              if (r < 1e-8 && l > 0) continue;
              const double harmonic = solid_harmonics(l, d).value[m] / std::pow(r, l);
              sum +=
                  potential.projector(l, i, r) * harmonic * std::polar(1.0, -(q[0] * d[0] + q[1] * d[1] + q[2] * d[2]));
            }
        result.push_back(sum);
      }
  return result;
}

}  // namespace

void apply_nonlocal(const System& system, double* out, const double* in, std::int64_t blocks, const Vec3& q) {
  const auto points = static_cast<std::size_t>(system.grid.points());
  for (const Atom& atom : system.atoms) {
    const Pseudopotential& potential = *system.species[static_cast<std::size_t>(atom.species)];
    for (int l = 0; l <= potential.largest_l(); ++l)
      for (std::size_t m = 0; m < static_cast<std::size_t>(2 * l + 1); ++m) {
        const int radial = potential.projectors(l);
        std::vector<std::vector<Complex>> projectors;
        for (int i = 0; i < radial; ++i) projectors.push_back(on_grid(system, atom, l, i, m, q));
        for (std::int64_t block = 0; block < blocks; ++block)
          for (std::size_t lane = 0; lane < orbital_lanes; ++lane) {
            const std::size_t start = static_cast<std::size_t>(block) * points * doubles_per_point + 2 * lane;
            std::vector<Complex> projections;
            for (const auto& p : projectors) {
              Complex sum = 0;
              for (std::size_t r = 0; r < points; ++r)
                sum +=
                    std::conj(p[r]) * Complex(in[start + r * doubles_per_point], in[start + r * doubles_per_point + 1]);
              projections.push_back(sum * system.grid.point_volume());
            }
            for (int i = 0; i < radial; ++i)
              for (int j = 0; j < radial; ++j) {
                const Complex c = potential.coupling(l, i, j) * projections[static_cast<std::size_t>(j)];
                for (std::size_t r = 0; r < points; ++r) {
                  const Complex v = projectors[static_cast<std::size_t>(i)][r] * c;
                  out[start + r * doubles_per_point] += v.real();
                  out[start + r * doubles_per_point + 1] += v.imag();
                }
              }
          }
      }
  }
}

}  // namespace halocline::tddft::reference
