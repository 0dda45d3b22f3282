// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/ions/detail/skew_reciprocal.hpp"

#include "halocline/tddft/base/coulomb_cut.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/ions/detail/layers.hpp"
#include "halocline/tddft/ions/detail/reciprocal.hpp"
#include "halocline/tddft/ions/detail/wave_sums.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <cmath>
#include <numbers>

namespace halocline::tddft::detail {
namespace {

using std::numbers::pi;

constexpr double about_equal = 0.01;  // relative difference of squares at which a weight falls to 1/e
constexpr double negligible = 12;     // times this: the weight is 6e-6

/// exp(-i 2 pi n s) of an atom for each axis and n = -2 N ... 2 N, s its number along an edge.
class AtomPhases {
public:
  AtomPhases(const Grid& grid, const Vec3& position) {
    const std::array<Vec3, 3> inverse = dual(grid.edges());
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto most = static_cast<int>(2 * grid.extent[axis]);
      middle_[axis] = most;
      for (int n = -most; n <= most; ++n)
        table_[axis].push_back(std::polar(1.0, -2 * pi * n * dot(position, inverse[axis])));
    }
  }
  /// The sum over the waves of a class of coefficients times phases.
  Complex operator()(std::span<const ShortestWaves::Wave> waves, std::span<const double> coefficients) const noexcept {
    Complex sum = 0;
    for (std::size_t i = 0; i < waves.size(); ++i) {
      const auto& n = waves[i].numbers;
      sum += coefficients[i] * times(times(along(0, n[0]), along(1, n[1])), along(2, n[2]));
    }
    return sum;
  }

private:
  Complex along(std::size_t axis, int n) const noexcept { return table_[axis][at(n + middle_[axis])]; }

  std::array<int, 3> middle_{};
  std::array<std::vector<Complex>, 3> table_;
};

std::vector<AtomPhases> phases_of(const System& system) {
  std::vector<AtomPhases> phases;
  for (const Atom& atom : system.atoms) phases.emplace_back(system.grid, atom.position);
  return phases;
}

}  // namespace

ShortestWaves::ShortestWaves(const Grid& grid) : extent_(grid.extent), first_{0} {
  const std::array<Vec3, 3> inverse = dual(grid.edges());
  const auto centred = [&](std::size_t axis, std::int64_t k) {
    return static_cast<int>(2 * k <= extent_[axis] ? k : k - extent_[axis]);
  };
  std::array<Wave, 27> images;
  for (std::int64_t kz = 0; 2 * kz <= extent_[2]; ++kz)
    for (std::int64_t ky = 0; ky < extent_[1]; ++ky)
      for (std::int64_t kx = 0; kx < extent_[0]; ++kx) {
        const std::array<int, 3> k{centred(0, kx), centred(1, ky), centred(2, kz)};
        double least = std::numeric_limits<double>::infinity();
        for (int i = 0; i < 27; ++i) {
          const std::array<int, 3> cell{i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1};
          Wave& image = images[at(i)];
          for (std::size_t a = 0; a < 3; ++a) image.numbers[a] = k[a] + cell[a] * static_cast<int>(extent_[a]);
          const auto& n = image.numbers;
          const Vec3 g = combined({2 * pi * n[0], 2 * pi * n[1], 2 * pi * n[2]}, inverse);
          image.square = dot(g, g);
          least = std::min(least, image.square);
        }
        double sum = 0;
        const std::size_t first = waves_.size();
        for (Wave& image : images) {
          const double excess = least > 0          ? (image.square - least) / (about_equal * least)
                                : image.square > 0 ? 1e300
                                                   : 0;
          if (excess > negligible) continue;
          image.weight = std::exp(-excess);
          sum += image.weight;
          waves_.push_back(image);
        }
        for (std::size_t i = first; i < waves_.size(); ++i) waves_[i].weight /= sum;
        first_.push_back(waves_.size());
      }
}

SkewCoefficients::SkewCoefficients(const System& system) : waves_(system.grid) {
  const auto all = waves_.all();
  const std::array<Vec3, 3> inverse = dual(system.grid.edges());
  std::vector<double> squares, coulomb;
  for (const ShortestWaves::Wave& wave : all) {
    const auto& n = wave.numbers;
    squares.push_back(wave.square);
    coulomb.push_back(coulomb_in_waves(system.grid, combined({2 * pi * n[0], 2 * pi * n[1], 2 * pi * n[2]}, inverse)));
  }
  for (const auto& species : system.species) {
    values_.push_back(local_coefficients(*species, squares, coulomb, system.grid.volume()));
    for (std::size_t i = 0; i < all.size(); ++i) values_.back()[i] *= all[i].weight;
  }
}

std::vector<double> skew_potential(const System& system, const Decomposition& decomposition,
                                   const SkewCoefficients& local) {
  const WaveSums sums(system.grid, decomposition.box());
  const std::vector<AtomPhases> phases = phases_of(system);
  return sums.at_points(decomposition, [&](std::span<Complex> row, std::int64_t ky, std::int64_t kz) {
    for (std::size_t kx = 0; kx < row.size(); ++kx) {
      const std::size_t i = local.waves().index(static_cast<std::int64_t>(kx), ky, kz);
      Complex sum = 0;
      for (std::size_t a = 0; a < phases.size(); ++a)
        sum += phases[a](local.waves().of(i), local.of(at(system.atoms[a].species), i));
      row[kx] = sum;
    }
  });
}

std::vector<Vec3> skew_local_forces(const System& system, const Box& box, const SkewCoefficients& local,
                                    std::span<const double> gradient,
                                    const std::function<void(std::span<double>)>& sum_planes, int part, int parts) {
  const WaveSums sums(system.grid, box);
  const std::vector<AtomPhases> phases = phases_of(system);
  const std::int64_t nx = sums.count(0), ny = sums.count(1);
  std::vector<Vec3> forces(system.atoms.size());
  sums.of_field(gradient, sum_planes, [&](std::int64_t kz, std::span<const Complex> transforms) {
    if (kz % parts != part) return;
    const double weight = sums.weight(kz) * system.grid.point_volume();
    const auto atoms = static_cast<std::int64_t>(phases.size());
#pragma omp parallel for schedule(static) if (atoms * nx * ny >= points_for_threads)
    for (std::int64_t a = 0; a < atoms; ++a) {
      Vec3& force = forces[at(a)];
      for (std::int64_t ky = 0; ky < ny; ++ky)
        for (std::int64_t kx = 0; kx < nx; ++kx) {
          const std::size_t i = local.waves().index(kx, ky, kz);
          const Complex wave =
              weight * phases[at(a)](local.waves().of(i), local.of(at(system.atoms[at(a)].species), i));
          for (std::int64_t axis = 0; axis < 3; ++axis)
            force[at(axis)] -= times(wave, transforms[at((axis * ny + ky) * nx + kx)]).real();
        }
    }
  });
  return forces;
}

}  // namespace halocline::tddft::detail
