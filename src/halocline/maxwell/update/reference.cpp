// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/update/reference.hpp"

namespace halocline::maxwell {

namespace {

template <class Action>
void for_each(const Box& box, Action&& action) {
  for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
    for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
      for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) action(Index3{x, y, z});
}

/// The field at a point, and behind magnetic walls the mirror image of a tangential H.
template <class T>
T value(const State<T>& state, int component, int copy, Index3 p) {
  const Part& part = state.part();
  T sign = 1;
  if (!electric(component))
    for (int a = 0; a < 3; ++a) {
      const std::int64_t n = part.grid().cells[at(a)], place = p[at(a)] + part.first()[at(a)];
      if (a == axis_of(component)) continue;
      if (place == -1 && part.grid().ends[at(a)][0] == Boundary::magnetic) {
        ++p[at(a)];
        sign = -sign;
      } else if (place == n && part.grid().ends[at(a)][1] == Boundary::magnetic) {
        --p[at(a)];
        sign = -sign;
      }
    }
  return sign * state.field(component, copy).at(p[0], p[1], p[2]);
}

/// The derivative along an axis that the curl at a point takes, with the layer's memory of it brought up to date.
template <class T>
T derivative(State<T>& state, int component, int copy, int axis, int other, const Index3& p) {
  const YeeGrid& grid = state.part().grid();
  if (axis == 1 && grid.azimuthal != 0) {
    // cos(m y) has the derivative -m sin(m y), and sin(m y) m cos(m y).
    const bool cosine = electric(other) == (axis_of(other) != 1);
    return static_cast<T>(cosine ? -grid.azimuthal : grid.azimuthal) * value(state, other, copy, p);
  }
  if (grid.flat(axis)) return 0;
  Index3 upper = p, lower = p;
  if (electric(component))
    --lower[at(axis)];
  else
    ++upper[at(axis)];
  const T change = value(state, other, copy, upper) - value(state, other, copy, lower);
  const AxisProfiles<T>& profile = state.derivative(component, axis);
  T result = profile.r[p[at(axis)]] * change;
  for (LayerMemory<T>& layer : state.layers(component))
    if (layer.axis == axis && layer.box.contains(p)) {
      T& psi = layer.psi[at(copy)].at(p[0], p[1], p[2]);
      psi = profile.b[p[at(axis)]] * psi + profile.c[p[at(axis)]] * change;
      result += psi;
    }
  return result;
}

/// In the layer at the rim of a cylindrical grid, E and H about the axis with their integral over time.
template <class T>
void stretch(State<T>& state, int component, int copy, const Index3& p) {
  const T* rim = state.rim(component);
  if (axis_of(component) != 1 || rim == nullptr) return;
  const T dt = static_cast<T>(state.part().grid().time_step);
  for (LayerMemory<T>& layer : state.layers(component)) {
    if (layer.axis != 1 || !layer.box.contains(p)) continue;
    T &scaled = state.field(component, copy).at(p[0], p[1], p[2]), &sum = layer.psi[at(copy)].at(p[0], p[1], p[2]);
    const T field = (scaled - rim[p[0]] * sum) / state.radius(component)[p[0]];
    sum += dt * field;
    scaled += rim[p[0]] * dt * field;
  }
}

template <class T>
T factor(const State<T>& state, const Factor<T>& of, const Index3& p) {
  const std::size_t row = state.row_number(p[1], p[2]);
  return of.varies[row] ? of.array.at(p[0], p[1], p[2]) : of.of_row[row];
}

}  // namespace

template <class T>
void reference_step(State<T>& state) {
  const Part& part = state.part();
  const T dt = static_cast<T>(part.grid().time_step);
  for (int copy = 0; copy < state.copies(); ++copy) {
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      for_each(part.changing(3 + a, 1, 0), [&](const Index3& p) {
        const T curl = derivative(state, 3 + a, copy, b, c, p) - derivative(state, 3 + a, copy, c, b, p);
        const T *gain = state.magnetic_gain(a), *decay = state.magnetic_decay(a);
        T& h = state.field(3 + a, copy).at(p[0], p[1], p[2]);
        h = (decay != nullptr ? decay[p[0]] : T(1)) * h + (gain != nullptr ? gain[p[0]] : -dt) * curl;
        stretch(state, 3 + a, copy, p);
      });
    }
    for (int a = 0; a < 3; ++a) {
      const int b = (a + 1) % 3, c = (a + 2) % 3;
      for_each(part.changing(a, 0, 0), [&](const Index3& p) {
        T& e = state.field(a, copy).at(p[0], p[1], p[2]);
        T current = 0;
        for (Polarisation<T>& pole : state.polarisations(a)) {
          if (!pole.strength.box().contains(p)) continue;
          T& j = pole.j[at(copy)].at(p[0], p[1], p[2]);
          T& position = pole.p[at(copy)].at(p[0], p[1], p[2]);
          j = pole.keep * j + pole.push * (pole.strength.at(p[0], p[1], p[2]) * e - pole.spring * position);
          position += dt * j;
          current += j;
        }
        const T curl = derivative(state, a, copy, b, 3 + c, p) - derivative(state, a, copy, c, 3 + b, p);
        e = factor(state, state.coefficients(a).decay, p) * e +
            factor(state, state.coefficients(a).gain, p) * (curl - current);
        stretch(state, a, copy, p);
      });
    }
  }
}

template void reference_step(State<float>&);
template void reference_step(State<double>&);

}  // namespace halocline::maxwell
