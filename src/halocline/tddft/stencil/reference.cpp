// SPDX-License-Identifier: Apache-2.0
/// @file
/// The stencil in plain loops over complex numbers: one point, one orbital, one neighbour at a time.
#include "halocline/tddft/stencil/coefficients.hpp"
#include "halocline/tddft/stencil/stencil.hpp"

namespace halocline::tddft::reference {
namespace {

using Complex = std::complex<double>;

/// One orbital of a block, including its values beyond the grid.
class Orbital {
public:
  Orbital(const Grid& grid, const double* block, int lane) : grid_(grid), block_(block), lane_(lane) {}

  Complex at(std::array<std::int64_t, 3> r) const {
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t n = grid_.extent[a];
      if (grid_.boundary == Boundary::periodic)
        r[a] = ((r[a] % n) + n) % n;
      else if (r[a] < 0 || r[a] >= n)
        return 0.0;
    }
    const double* value = block_ + element(r);
    return {value[0], value[1]};
  }
  std::int64_t element(const std::array<std::int64_t, 3>& r) const {
    return doubles_per_point * (r[0] + grid_.extent[0] * (r[1] + grid_.extent[1] * r[2])) + 2 * lane_;
  }

private:
  const Grid& grid_;
  const double* block_;
  int lane_;
};

std::array<std::int64_t, 3> moved(std::array<std::int64_t, 3> r, std::size_t axis, int by) {
  r[axis] += by;
  return r;
}

Complex slope(const Orbital& psi, const Grid& grid, const std::array<std::int64_t, 3>& r, std::size_t axis) {
  Complex sum = 0;
  for (int j = 1; j <= stencil_reach; ++j)
    sum += slope_weights[static_cast<std::size_t>(j - 1)] * (psi.at(moved(r, axis, j)) - psi.at(moved(r, axis, -j)));
  return sum / grid.spacing[axis];
}

Complex curvature(const Orbital& psi, const Grid& grid, const std::array<std::int64_t, 3>& r, std::size_t axis) {
  Complex sum = curvature_centre * psi.at(r);
  for (int j = 1; j <= stencil_reach; ++j)
    sum +=
        curvature_weights[static_cast<std::size_t>(j - 1)] * (psi.at(moved(r, axis, j)) + psi.at(moved(r, axis, -j)));
  return sum / (grid.spacing[axis] * grid.spacing[axis]);
}

template <class Action>
void for_each_point(const Grid& grid, Action&& action) {
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x) action(std::array<std::int64_t, 3>{x, y, z});
}

}  // namespace

void apply(const Grid& grid, double* out, const double* in, std::int64_t blocks, std::span<const double> v,
           const Vec3& q, const Combination& what) {
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t start = b * grid.points() * doubles_per_point;
    for (int lane = 0; lane < orbital_lanes; ++lane) {
      const Orbital psi(grid, in + start, lane);
      for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
        const std::int64_t point = r[0] + grid.extent[0] * (r[1] + grid.extent[1] * r[2]);
        Complex h = (v[static_cast<std::size_t>(point)] - what.shift) * psi.at(r);
        for (std::size_t a = 0; a < 3; ++a)
          h += 0.5 * q[a] * q[a] * psi.at(r) - Complex(0, q[a]) * slope(psi, grid, r, a) -
               0.5 * curvature(psi, grid, r, a);
        const std::int64_t element = start + psi.element(r);
        Complex result = what.factor * h;
        if (what.base != nullptr) result += what.base_factor * Complex(what.base[element], what.base[element + 1]);
        out[element] = result.real();
        out[element + 1] = result.imag();
      });
    }
  }
}

void current(const Grid& grid, const double* in, std::int64_t blocks, std::span<double> gradient) {
  for (std::int64_t b = 0; b < blocks; ++b)
    for (int lane = 0; lane < orbital_lanes; ++lane) {
      const Orbital psi(grid, in + b * grid.points() * doubles_per_point, lane);
      for (std::size_t a = 0; a < 3; ++a) {
        double sum = 0;
        for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
          sum += (std::conj(psi.at(r)) * slope(psi, grid, r, a)).imag();
        });
        gradient[static_cast<std::size_t>((b * orbital_lanes + lane) * 3) + a] = sum;
      }
    }
}

void slopes(const Grid& grid, double* out, const double* in) {
  for (int lane = 0; lane < orbital_lanes; ++lane) {
    const Orbital psi(grid, in, lane);
    for (std::size_t a = 0; a < 3; ++a)
      for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
        const Complex value = slope(psi, grid, r, a);
        double* to = out + static_cast<std::int64_t>(a) * grid.points() * doubles_per_point + psi.element(r);
        to[0] = value.real();
        to[1] = value.imag();
      });
  }
}

}  // namespace halocline::tddft::reference
