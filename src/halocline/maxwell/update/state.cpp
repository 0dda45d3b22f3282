// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/update/state.hpp"

#include <algorithm>
#include <cmath>

namespace halocline::maxwell {

namespace {

/// Depth in the absorbing layers of a place along an axis: 0 outside, 1 at a wall. Places count steps from node 0.
double depth_of(const YeeGrid& grid, int axis, double place) {
  const auto& [lower, upper] = grid.ends[at(axis)];
  const double layer = grid.layer.cells;
  const double above = place - (static_cast<double>(grid.cells[at(axis)]) - layer);
  double depth = 0;
  if (lower == Boundary::absorbing) depth = std::max(depth, (layer - place) / layer);
  if (upper == Boundary::absorbing) depth = std::max(depth, above / layer);
  return std::clamp(depth, 0.0, 1.0);
}

/// The points of the grid that lie in a layer at one end of an axis, other axes whole.
Box layer_box(const YeeGrid& grid, int axis, bool upper) {
  Box box;
  for (int a = 0; a < 3; ++a) box.upper[at(a)] = grid.cells[at(a)] + (grid.periodic(a) ? 0 : 1);
  const std::int64_t cells = grid.cells[at(axis)];
  if (upper)
    box.lower[at(axis)] = cells - grid.layer.cells;
  else
    box.upper[at(axis)] = grid.layer.cells + 1;
  return box;
}

/// The integral of the conductivity of the layer at the rim of a cylindrical grid, up to node x or half a step behind.
double rim_at(const YeeGrid& grid, std::int64_t x, int half) {
  if (!grid.cylindrical || grid.ends[0][1] != Boundary::absorbing) return 0;
  const double depth = depth_of(grid, 0, static_cast<double>(x) + 0.5 * half);
  const AbsorbingLayer& layer = grid.layer;
  // sigma = depth^order conductivity 0.8 (order + 1) / step, over the layer's cells times the step.
  return std::pow(depth, layer.order + 1) * layer.conductivity * 0.8 * layer.cells;
}

}  // namespace

template <class T>
State<T>::State(const Part& part, const Matter& matter, bool smooth) : part_(part), memory_(part.memory()) {
  matter.check(part.grid());
  fields_.resize(part.grid().complex_fields() ? 2 : 1);
  for (auto& copy : fields_)
    for (auto& array : copy) array = BoxArray<T>(memory_);
  set_profiles();
  set_magnetic_gains();
  set_coefficients(matter, smooth);
  set_layers();
}

template <class T>
void State<T>::set_profiles() {
  const YeeGrid& grid = part_.grid();
  for (int kind = 0; kind < 2; ++kind)
    for (int a = 0; a < 3; ++a) {
      AxisProfiles<T>& profiles = profiles_[at(kind)][at(a)];
      const std::int64_t lower = memory_.lower[at(a)], upper = memory_.upper[at(a)] + 1;
      const double step = grid.step[at(a)];
      profiles.r = Profile<T>(lower, upper, static_cast<T>(grid.flat(a) ? 0 : 1 / step));
      profiles.b = profiles.c = Profile<T>(lower, upper, T(0));
      for (std::int64_t i = lower; i < upper; ++i) {
        const double depth = depth_of(grid, a, static_cast<double>(i + part_.first()[at(a)]) + (kind == 1 ? 0.5 : 0.0));
        if (depth == 0) continue;
        const AbsorbingLayer& layer = grid.layer;
        const double growth = std::pow(depth, layer.order);
        const double sigma = growth * layer.conductivity * 0.8 * (layer.order + 1) / step;
        const double kappa = 1 + (layer.stretch - 1) * growth;
        const double alpha = layer.shift / step * (1 - depth);
        const double b = std::exp(-(sigma / kappa + alpha) * grid.time_step);
        profiles.r[i] = static_cast<T>(1 / (kappa * step));
        profiles.b[i] = static_cast<T>(b);
        profiles.c[i] = static_cast<T>(sigma == 0 ? 0 : sigma / (kappa * (sigma + kappa * alpha)) * (b - 1) / step);
      }
    }
}

template <class T>
void State<T>::set_magnetic_gains() {
  const YeeGrid& grid = part_.grid();
  if (!grid.cylindrical) return;
  const bool has_rim = grid.ends[0][1] == Boundary::absorbing;
  const std::int64_t lower = memory_.lower[0], upper = memory_.upper[0] + 1;
  for (int half = 0; half < 2 && has_rim; ++half) {
    rim_[at(half)] = radius_[at(half)] = Profile<T>(lower, upper, T(0));
    for (std::int64_t x = lower; x < upper; ++x) {
      rim_[at(half)][x] = static_cast<T>(rim_at(grid, x + part_.first()[0], half));
      radius_[at(half)][x] = static_cast<T>((static_cast<double>(x + part_.first()[0]) + 0.5 * half) * grid.step[0]);
    }
  }
  for (int a = 0; a < 3; ++a) {
    magnetic_[at(a)] = Profile<T>(lower, upper, T(0));
    if (has_rim) magnetic_decay_[at(a)] = Profile<T>(lower, upper, T(1));
    for (std::int64_t x = lower; x < upper; ++x) {
      const std::int64_t place = x + part_.first()[0];
      const double metric = grid.metric(3 + a, place);
      const double loss = a == 1 ? 0 : rim_at(grid, place, between(3 + a, 0) ? 1 : 0) * metric * grid.time_step / 2;
      magnetic_[at(a)][x] = static_cast<T>(-grid.time_step * metric / (1 + loss));
      if (has_rim) magnetic_decay_[at(a)][x] = static_cast<T>((1 - loss) / (1 + loss));
    }
  }
}

template <class T>
void State<T>::set_coefficients(const Matter& matter, bool smooth) {
  const YeeGrid& grid = part_.grid();
  const double dt = grid.time_step;
  const auto coefficients_of = [dt](const Matter::Local& local, double more = 0) {
    const double loss = (local.conductivity + more) * dt / 2 * local.inverse_permittivity;
    return std::array<double, 2>{dt * local.inverse_permittivity / (1 + loss), (1 - loss) / (1 + loss)};
  };
  const std::size_t poles = matter.poles().size();
  const std::int64_t rows = memory_.extent(1) * memory_.extent(2);
  const auto row_count = static_cast<std::size_t>(rows);
  for (int component = 0; component < 3; ++component) {
    Coefficients<T>& coefficients = coefficients_[at(component)];
    const std::array<Factor<T>*, 2> factors{&coefficients.gain, &coefficients.decay};
    const auto background = coefficients_of(matter.local(grid, component, {0, 0, 0}));
    for (std::size_t f = 0; f < 2; ++f) {
      factors[f]->of_row.assign(row_count, static_cast<T>(background[f]));
      factors[f]->varies.assign(row_count, 0);
    }
    if (matter.uniform() && poles == 0 && !grid.cylindrical) continue;
    std::array<BoxArray<T>, 2> arrays{BoxArray<T>(memory_), BoxArray<T>(memory_)};
    std::vector<BoxArray<T>> strengths;
    for (std::size_t p = 0; p < poles; ++p) strengths.emplace_back(memory_);
    std::vector<std::uint8_t> row_strong(row_count * std::max<std::size_t>(poles, 1), 0);
#pragma omp parallel for schedule(dynamic, 4)
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto r = static_cast<std::size_t>(row);
      const std::int64_t y = memory_.lower[1] + row % memory_.extent(1), z = memory_.lower[2] + row / memory_.extent(1);
      for (std::int64_t x = memory_.lower[0]; x < memory_.upper[0]; ++x) {
        Index3 point = part_.global({x, y, z});
        for (int a = 0; a < 3; ++a)  // ghosts across a periodic end are points of the other end
          if (grid.periodic(a)) point[at(a)] = (point[at(a)] + grid.cells[at(a)]) % grid.cells[at(a)];
        const Matter::Local local = matter.local(grid, component, point, smooth);
        const double metric = grid.metric(component, point[0]);
        const double rim = component == 1 ? 0 : rim_at(grid, point[0], between(component, 0) ? 1 : 0);
        auto numbers = coefficients_of(local, rim * metric / local.inverse_permittivity);
        numbers[0] *= metric;
        for (std::size_t f = 0; f < 2; ++f) {
          const T number = static_cast<T>(numbers[f]);
          arrays[f].at(x, y, z) = number;
          if (x == memory_.lower[0]) factors[f]->of_row[r] = number;
          if (number != factors[f]->of_row[r]) factors[f]->varies[r] = 1;
        }
        for (std::size_t p = 0; p < poles; ++p) {
          const double strength = metric == 0 ? 0 : local.strengths[p] / metric;
          strengths[p].at(x, y, z) = static_cast<T>(strength);
          if (strength != 0) row_strong[p * row_count + r] = 1;
        }
      }
    }
    for (std::size_t f = 0; f < 2; ++f)
      if (std::find(factors[f]->varies.begin(), factors[f]->varies.end(), 1) != factors[f]->varies.end())
        factors[f]->array = std::move(arrays[f]);

    for (std::size_t p = 0; p < poles; ++p) {
      const Pole& pole = matter.poles()[p];
      const double loss = pole.damping * dt / 2;
      Polarisation<T> polarisation;
      polarisation.component = component;
      polarisation.keep = static_cast<T>((1 - loss) / (1 + loss));
      polarisation.push = static_cast<T>(dt / (1 + loss));
      polarisation.spring = static_cast<T>(pole.resonance * pole.resonance);
      // The smallest box around the pole's matter.
      Box box{memory_.upper, memory_.lower};
      for (std::int64_t row = 0; row < rows; ++row) {
        if (!row_strong[p * row_count + static_cast<std::size_t>(row)]) continue;
        const std::int64_t y = memory_.lower[1] + row % memory_.extent(1),
                           z = memory_.lower[2] + row / memory_.extent(1);
        for (std::int64_t x = memory_.lower[0]; x < memory_.upper[0]; ++x) {
          if (strengths[p].at(x, y, z) == 0) continue;
          const Index3 point{x, y, z};
          for (std::size_t a = 0; a < 3; ++a) {
            box.lower[a] = std::min(box.lower[a], point[a]);
            box.upper[a] = std::max(box.upper[a], point[a] + 1);
          }
        }
      }
      if (!box.empty()) {
        polarisation.strength = BoxArray<T>(box);
        for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
          for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y) {
            std::array<std::int32_t, 2> span{0, 0};
            for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
              const T strength = strengths[p].at(x, y, z);
              polarisation.strength.at(x, y, z) = strength;
              if (strength == 0) continue;
              if (span[0] == span[1]) span[0] = static_cast<std::int32_t>(x);
              span[1] = static_cast<std::int32_t>(x + 1);
            }
            polarisation.span.push_back(span);
          }
        for (int copy = 0; copy < copies(); ++copy) {
          polarisation.p.emplace_back(box);
          polarisation.j.emplace_back(box);
        }
      } else {
        polarisation.p.resize(at(copies()));
        polarisation.j.resize(at(copies()));
      }
      polarisations_[at(component)].push_back(std::move(polarisation));
    }
  }
}

template <class T>
void State<T>::set_layers() {
  const YeeGrid& grid = part_.grid();
  for (int a = 0; a < 3; ++a)
    for (int side = 0; side < 2; ++side) {
      if (grid.ends[at(a)][at(side)] != Boundary::absorbing) continue;
      const Box global = layer_box(grid, a, side == 1);
      Box box = memory_;
      box.lower[at(a)] = std::max(box.lower[at(a)], global.lower[at(a)] - part_.first()[at(a)]);
      box.upper[at(a)] = std::min(box.upper[at(a)], global.upper[at(a)] - part_.first()[at(a)]);
      for (int component = 0; component < components; ++component) {
        if (axis_of(component) == a) continue;
        LayerMemory<T> layer{component, a, box.empty() ? Box{} : box, {}};
        for (int copy = 0; copy < copies(); ++copy) layer.psi.emplace_back(layer.box);
        layers_[at(component)].push_back(std::move(layer));
        if (grid.cylindrical && a == 0 && axis_of(component) == 1) {
          LayerMemory<T> rim{component, 1, box.empty() ? Box{} : box, {}};
          rim.psi.emplace_back(rim.box);
          layers_[at(component)].push_back(std::move(rim));
        }
      }
    }
}

template <class T>
std::vector<BoxArray<T>*> State<T>::changing(int copy) {
  std::vector<BoxArray<T>*> arrays;
  for (auto& array : fields_[at(copy)]) arrays.push_back(&array);
  for (auto& of_component : polarisations_)
    for (auto& polarisation : of_component) {
      arrays.push_back(&polarisation.p[at(copy)]);
      arrays.push_back(&polarisation.j[at(copy)]);
    }
  for (auto& of_component : layers_)
    for (auto& layer : of_component) arrays.push_back(&layer.psi[at(copy)]);
  return arrays;
}

template class State<float>;
template class State<double>;

}  // namespace halocline::maxwell
