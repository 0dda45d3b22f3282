// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/measure/energy.hpp"

#include <numbers>
#include <vector>

namespace halocline::maxwell {

namespace {

/// Half of a cell on the nodes of walls across an axis.
double weight(const Part& part, int component, int axis, std::int64_t point) {
  if (part.grid().periodic(axis) || between(component, axis)) return 1;
  const std::int64_t node = point + part.first()[at(axis)];
  return node == 0 || node == part.grid().cells[at(axis)] ? 0.5 : 1;
}

double weight(const Part& part, int component, const Index3& point) {
  double w = 1;
  for (int a = 0; a < 3; ++a) w *= weight(part, component, a, point[at(a)]);
  return w;
}

template <class T, class Action>
void for_each_owned(const Part& part, int component, Action&& action) {
  const Box box = part.owned(component);
  for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
    for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
      for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) action(Index3{x, y, z});
}

/// The derivative of a component of E along an axis, upper neighbour minus this point.
template <class T>
double forward(const State<T>& state, int component, int copy, int axis, Index3 p) {
  const YeeGrid& grid = state.part().grid();
  const BoxArray<T>& field = state.field(component, copy);
  if (axis == 1 && grid.azimuthal != 0)
    return (component == 1 ? 1.0 : -1.0) * grid.azimuthal * static_cast<double>(field.at(p[0], p[1], p[2]));
  if (grid.flat(axis)) return 0;
  const double here = field.at(p[0], p[1], p[2]);
  ++p[at(axis)];
  return (static_cast<double>(field.at(p[0], p[1], p[2])) - here) / grid.step[at(axis)];
}

}  // namespace

template <class T>
Energy energy_of(const State<T>& state) {
  const Part& part = state.part();
  const YeeGrid& grid = part.grid();
  const double cell = grid.step[0] * grid.step[1] * grid.step[2], dt = grid.time_step;
  Energy energy;
  for (int copy = 0; copy < state.copies(); ++copy)
    for (int a = 0; a < 3; ++a) {
      const Coefficients<T>& coefficients = state.coefficients(a);
      const auto factor = [&](const Factor<T>& of, const Index3& p) -> double {
        const std::size_t row = state.row_number(p[1], p[2]);
        return of.varies[row] ? of.array.at(p[0], p[1], p[2]) : of.of_row[row];
      };
      for_each_owned<T>(part, a, [&](const Index3& p) {
        const double gain = factor(coefficients.gain, p);
        if (gain == 0) return;
        const double decay = factor(coefficients.decay, p);
        const double e = state.field(a, copy).at(p[0], p[1], p[2]);
        energy.electric += weight(part, a, p) * dt * (1 + decay) / 2 / gain * e * e / 2 * cell;
        for (const Polarisation<T>& pole : state.polarisations(a)) {
          if (!pole.strength.box().contains(p)) continue;
          const double strength = pole.strength.at(p[0], p[1], p[2]);
          if (strength == 0) continue;
          const double position = pole.p[at(copy)].at(p[0], p[1], p[2]), before = pole.j[at(copy)].at(p[0], p[1], p[2]);
          const double after = pole.keep * before + pole.push * (strength * e - pole.spring * position);
          energy.polarisation +=
              weight(part, a, p) * (before * after + pole.spring * position * position) / strength / 2 * cell;
        }
      });
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      for_each_owned<T>(part, 3 + a, [&](const Index3& p) {
        const double before = state.field(3 + a, copy).at(p[0], p[1], p[2]);
        const T* gains = state.magnetic_gain(a);
        const double gain = gains != nullptr ? gains[p[0]] : -dt;
        if (gain == 0) return;
        const double after = before + gain * (forward(state, c, copy, b, p) - forward(state, b, copy, c, p));
        energy.magnetic += weight(part, 3 + a, p) * before * after / 2 * cell * (-dt / gain);
      });
    }
  return energy;
}

template <class T>
std::array<double, 3> dipole_of(const State<T>& state) {
  const Part& part = state.part();
  const Vector3& step = part.grid().step;
  std::array<double, 3> moment{};
  for (int c = 0; c < 3; ++c) {
    for (const Polarisation<T>& pole : state.polarisations(c)) {
      const Box box = intersection(pole.strength.box(), part.owned(c));
      std::vector<double> along;
      for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
        // Of a cylindrical grid, P_r and P_z are times r, and P_y is itself.
        const bool about = part.grid().cylindrical && c == 1;
        const double r = about ? static_cast<double>(x + part.first()[0]) * step[0] : 1.0;
        along.push_back(weight(part, c, 0, x) * r);
      }
      for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
        for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y) {
          const T* row = pole.p[0].row(y, z) + box.lower[0];
          double sum = 0;
          for (std::size_t x = 0; x < along.size(); ++x) sum += along[x] * row[x];
          moment[at(c)] += weight(part, c, 1, y) * weight(part, c, 2, z) * sum;
        }
    }
    moment[at(c)] *= step[0] * step[1] * step[2];
  }
  if (part.grid().cylindrical) {
    // P along x is P_r cos^2 - P_y sin^2 of the angle, times the ring; without an angle only z is left.
    const double ring = std::numbers::pi / step[1];
    const int m = part.grid().azimuthal;
    return {m == 1 ? ring * (moment[0] - moment[1]) : 0, 0, m == 0 ? 2 * ring * moment[2] : 0};
  }
  return moment;
}

template std::array<double, 3> dipole_of(const State<float>&);
template std::array<double, 3> dipole_of(const State<double>&);
template Energy energy_of(const State<float>&);
template Energy energy_of(const State<double>&);

}  // namespace halocline::maxwell
