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

std::array<std::int64_t, 3> moved(std::array<std::int64_t, 3> r, const std::array<int, 3>& steps, int by) {
  for (std::size_t a = 0; a < 3; ++a) r[a] += std::int64_t{steps[a]} * by;
  return r;
}

/// The derivative by the number of steps along a direction.
Complex slope(const Orbital& psi, const Direction& direction, const std::array<std::int64_t, 3>& r) {
  Complex sum = 0;
  for (int j = 1; j <= stencil_reach; ++j)
    sum += slope_weights[static_cast<std::size_t>(j - 1)] *
           (psi.at(moved(r, direction.steps, j)) - psi.at(moved(r, direction.steps, -j)));
  return sum;
}

/// Cartesian components: the sum over directions of weight times step times slope.
std::array<Complex, 3> gradient_at(const Orbital& psi, const Grid& grid, const std::vector<Direction>& directions,
                                   const std::array<std::int64_t, 3>& r) {
  std::array<Complex, 3> sum{};
  for (const Direction& direction : directions) {
    const auto& n = direction.steps;
    const Vec3 step = combined({double(n[0]), double(n[1]), double(n[2])}, grid.steps());
    const Complex along = direction.weight * slope(psi, direction, r);
    for (std::size_t c = 0; c < 3; ++c) sum[c] += step[c] * along;
  }
  return sum;
}

Complex curvature(const Orbital& psi, const Direction& direction, const std::array<std::int64_t, 3>& r) {
  Complex sum = curvature_centre * psi.at(r);
  for (int j = 1; j <= stencil_reach; ++j)
    sum += curvature_weights[static_cast<std::size_t>(j - 1)] *
           (psi.at(moved(r, direction.steps, j)) + psi.at(moved(r, direction.steps, -j)));
  return sum * direction.weight;
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
  const std::vector<Direction> directions = laplacian_directions(grid);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const std::int64_t start = b * grid.points() * doubles_per_point;
    for (int lane = 0; lane < orbital_lanes; ++lane) {
      const Orbital psi(grid, in + start, lane);
      for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
        const std::int64_t point = r[0] + grid.extent[0] * (r[1] + grid.extent[1] * r[2]);
        Complex h = (v[static_cast<std::size_t>(point)] - what.shift) * psi.at(r);
        const std::array<Complex, 3> gradient = gradient_at(psi, grid, directions, r);
        for (std::size_t a = 0; a < 3; ++a) h += 0.5 * q[a] * q[a] * psi.at(r) - Complex(0, q[a]) * gradient[a];
        for (const Direction& direction : directions) h -= 0.5 * curvature(psi, direction, r);
        const std::int64_t element = start + psi.element(r);
        Complex result = what.factor * h;
        if (what.base != nullptr) result += what.base_factor * Complex(what.base[element], what.base[element + 1]);
        out[element] = result.real();
        out[element + 1] = result.imag();
      });
    }
  }
}

void apply_local(const Grid& grid, double* out, const double* in, std::int64_t blocks, std::span<const double> v,
                 std::span<const double> q, const Combination& what) {
  // 1/2 sum_a (-i D_a + q_a)^2, with -laplacian/2 for the square of -i D_a.
  const std::vector<Direction> directions = laplacian_directions(grid);
  const auto points = static_cast<std::size_t>(grid.points());
  std::vector<double> scaled(points * doubles_per_point);
  for (std::int64_t b = 0; b < blocks; ++b) {
    const double* block = in + b * grid.points() * doubles_per_point;
    double* result = out + b * grid.points() * doubles_per_point;
    const double* base = what.base == nullptr ? nullptr : what.base + b * grid.points() * doubles_per_point;
    apply(grid, result, block, 1, v, {},
          {.factor = what.factor, .shift = what.shift, .base = base, .base_factor = what.base_factor});
    for (std::size_t a = 0; a < 3; ++a)
      for (int lane = 0; lane < orbital_lanes; ++lane) {
        const Orbital psi(grid, block, lane), of_scaled(grid, scaled.data(), lane);
        for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
          const auto element = static_cast<std::size_t>(psi.element(r));
          const double here = q[a * points + element / doubles_per_point];
          scaled[element] = here * psi.at(r).real();
          scaled[element + 1] = here * psi.at(r).imag();
        });
        for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
          const auto element = static_cast<std::size_t>(psi.element(r));
          const double here = q[a * points + element / doubles_per_point];
          const Complex h =
              0.5 * here * here * psi.at(r) - Complex(0, 0.5) * (here * gradient_at(psi, grid, directions, r)[a] +
                                                                 gradient_at(of_scaled, grid, directions, r)[a]);
          const Complex more = what.factor * h;
          result[element] += more.real();
          result[element + 1] += more.imag();
        });
      }
  }
}

void current(const Grid& grid, const double* in, std::int64_t blocks, std::span<double> gradient) {
  const std::vector<Direction> directions = laplacian_directions(grid);
  for (std::int64_t b = 0; b < blocks; ++b)
    for (int lane = 0; lane < orbital_lanes; ++lane) {
      const Orbital psi(grid, in + b * grid.points() * doubles_per_point, lane);
      for (std::size_t a = 0; a < 3; ++a) {
        double sum = 0;
        for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
          sum += (std::conj(psi.at(r)) * gradient_at(psi, grid, directions, r)[a]).imag();
        });
        gradient[static_cast<std::size_t>((b * orbital_lanes + lane) * 3) + a] = sum;
      }
    }
}

void slopes(const Grid& grid, double* out, const double* in) {
  const std::vector<Direction> directions = laplacian_directions(grid);
  for (int lane = 0; lane < orbital_lanes; ++lane) {
    const Orbital psi(grid, in, lane);
    for (std::size_t a = 0; a < 3; ++a)
      for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
        const Complex value = gradient_at(psi, grid, directions, r)[a];
        double* to = out + static_cast<std::int64_t>(a) * grid.points() * doubles_per_point + psi.element(r);
        to[0] = value.real();
        to[1] = value.imag();
      });
  }
}

void add_kinetic_operator(const Grid& grid, double* out, const double* in, std::span<const double> fields,
                          const Vec3& q, std::complex<double> factor) {
  const std::vector<Direction> directions = laplacian_directions(grid);
  const auto points = static_cast<std::size_t>(grid.points());
  std::vector<double> scaled(points * doubles_per_point);
  for (std::size_t a = 0; a < 3; ++a)
    for (int lane = 0; lane < orbital_lanes; ++lane) {
      // (D + i p) of an orbital at a point, along axis a.
      const auto slope = [&](const Orbital& of, const std::array<std::int64_t, 3>& r) {
        const auto point = static_cast<std::size_t>(of.element(r) / doubles_per_point);
        const double p = q[a] - fields[(4 + a) * points + point];
        return gradient_at(of, grid, directions, r)[a] + Complex(0, p) * of.at(r);
      };
      const Orbital psi(grid, in, lane), inner(grid, scaled.data(), lane);
      for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
        const auto element = static_cast<std::size_t>(psi.element(r));
        const std::size_t point = element / doubles_per_point;
        const Complex value = fields[point] * slope(psi, r) + 2 * fields[(1 + a) * points + point] * psi.at(r);
        scaled[element] = value.real();
        scaled[element + 1] = value.imag();
      });
      for_each_point(grid, [&](const std::array<std::int64_t, 3>& r) {
        const auto point = static_cast<std::size_t>(psi.element(r) / doubles_per_point);
        const Complex value = factor * (-0.5 * slope(inner, r) + fields[(1 + a) * points + point] * slope(psi, r));
        out[psi.element(r)] += value.real();
        out[psi.element(r) + 1] += value.imag();
      });
    }
}

}  // namespace halocline::tddft::reference
