// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/update/update.hpp"

#include "halocline/core/team_barrier.hpp"
#include "halocline/maxwell/update/detail/rows.hpp"

#include <omp.h>

#include <algorithm>
#include <limits>

namespace halocline::maxwell {

using detail::Uniform;

namespace {

/// Points of a process below which a second thread does not pay.
constexpr std::int64_t points_of_a_thread = 4096;

/// Calls action(gain) with a number where a row has one, and with the row of the array where it varies.
template <class T, class Action>
void with_factor(const Factor<T>& factor, std::size_t row, std::int64_t y, std::int64_t z, Action&& action) {
  if (factor.varies[row])
    action(factor.array.row(y, z));
  else
    action(Uniform<T>{factor.of_row[row]});
}

}  // namespace

template <class T>
Update<T>::Update(State<T>& state) : state_(state) {
  slow_ = state.part().grid().flat(2) ? 1 : 2;
  middle_ = 3 - slow_;
  active_.fill(true);
}

template <class T>
void Update<T>::set_active(std::array<bool, components> seeds) {
  const YeeGrid& grid = state_.part().grid();
  for (bool grown = true; grown;) {
    grown = false;
    for (int c = 0; c < components; ++c)
      for (int axis = 0; axis < 3; ++axis) {
        if (axis == axis_of(c) || grid.flat(axis)) continue;
        const int other = 3 - axis - axis_of(c);  // the derivative along `axis` of this component of the other field
        if (seeds[at(partner(c, other))] && !seeds[at(c)]) grown = seeds[at(c)] = true;
      }
  }
  active_ = seeds;
}

template <class T>
void Update<T>::mirror(int component, int copy, std::int64_t y, std::int64_t z, std::int64_t x_lower,
                       std::int64_t x_upper) {
  // A tangential H of a magnetic wall is the negative of itself behind it.
  const Part& part = state_.part();
  const YeeGrid& grid = part.grid();
  BoxArray<T>& field = state_.field(component, copy);
  const Index3 row{0, y, z};
  for (int a = 0; a < 3; ++a) {
    if (a == axis_of(component)) continue;
    const std::int64_t last = grid.cells[at(a)] - 1 - part.first()[at(a)];
    const std::array<std::array<std::int64_t, 2>, 2> ends{
        {{-part.first()[at(a)], -part.first()[at(a)] - 1}, {last, last + 1}}};
    for (std::size_t side = 0; side < 2; ++side) {
      if (grid.ends[at(a)][side] != Boundary::magnetic) continue;
      const auto [inside, behind] = ends[side];
      if (a == 0) {
        if (inside >= x_lower && inside < x_upper) field.at(behind, y, z) = -field.at(inside, y, z);
      } else if (row[at(a)] == inside) {
        T* __restrict to = a == 1 ? field.row(behind, z) : field.row(y, behind);
        const T* __restrict from = field.row(y, z);
        for (std::int64_t x = x_lower; x < x_upper; ++x) to[x] = -from[x];
      }
    }
  }
}

template <class T>
void Update<T>::row_of_copy(int component, int copy, const Stage& stage, std::int64_t y, std::int64_t z,
                            std::int64_t begin, std::int64_t end) {
  const YeeGrid& grid = state_.part().grid();
  const bool is_electric = electric(component);
  const T dt = static_cast<T>(grid.time_step);
  const std::size_t row_number = state_.row_number(y, z);
  T* out = state_.field(component, copy).row(y, z);

  // The two derivatives of the curl: of component 2 along axis 1, minus that of component 1 along axis 2.
  const std::array<int, 2> axes{(axis_of(component) + 1) % 3, (axis_of(component) + 2) % 3};
  std::array<const T*, 2> upper, lower;
  std::array<const AxisProfiles<T>*, 2> profiles;
  std::array<T, 2> r{};
  for (std::size_t d = 0; d < 2; ++d) {
    const int axis = axes[d];
    const BoxArray<T>& other = state_.field(partner(component, axes[1 - d]), copy);
    const std::int64_t next = grid.flat(axis) ? 0 : other.stride(axis);
    const T* here = other.row(y, z);
    upper[d] = is_electric ? here : here + next;
    lower[d] = is_electric ? here - next : here;
    profiles[d] = &state_.derivative(component, axis);
    if (axis != 0) r[d] = profiles[d]->r[axis == 1 ? y : z];
  }

  const auto update = [&](const auto gain) {
    if (axes[0] == 0)
      detail::curl_row(out, gain, upper[0], lower[0], profiles[0]->r.origin(), upper[1], lower[1], Uniform<T>{r[1]},
                       begin, end);
    else if (axes[1] == 0)
      detail::curl_row(out, gain, upper[0], lower[0], Uniform<T>{r[0]}, upper[1], lower[1], profiles[1]->r.origin(),
                       begin, end);
    else
      detail::curl_row(out, gain, upper[0], lower[0], Uniform<T>{r[0]}, upper[1], lower[1], Uniform<T>{r[1]}, begin,
                       end);
    for (LayerMemory<T>& layer : state_.layers(component)) {
      const Box& box = layer.box;
      if (y < box.lower[1] || y >= box.upper[1] || z < box.lower[2] || z >= box.upper[2]) continue;
      const std::size_t d = layer.axis == axes[0] ? 0 : 1;
      const std::int64_t from = std::max(begin, box.lower[0]), to = std::min(end, box.upper[0]);
      T* psi = layer.psi[at(copy)].row(y, z);
      const T sign = d == 0 ? T(1) : T(-1);
      const AxisProfiles<T>& of = *profiles[d];
      if (layer.axis == 0)
        detail::layer_row(out, psi, gain, sign, upper[d], lower[d], of.b.origin(), of.c.origin(), from, to);
      else {
        const std::int64_t place = layer.axis == 1 ? y : z;
        detail::layer_row(out, psi, gain, sign, upper[d], lower[d], Uniform<T>{of.b[place]}, Uniform<T>{of.c[place]},
                          from, to);
      }
    }
    for (const Drive<T>& drive : drives_[at(component)]) {
      const Box& box = drive.box;
      const T turn = drive.turn[at(copy)];
      if (turn == 0 || y < box.lower[1] || y >= box.upper[1] || z < box.lower[2] || z >= box.upper[2]) continue;
      const std::int64_t from = std::max(begin, box.lower[0]), to = std::min(end, box.upper[0]);
      const T* table = (*stage.tables)[at(drive.table)].origin;
      const T scale = drive.scale * turn;
      if (drive.axis == 0)
        detail::drive_row(out, gain, scale, table + drive.shift, from, to);
      else {
        const std::int64_t place = (drive.axis < 0 ? 0 : drive.axis == 1 ? y : z) + drive.shift;
        detail::drive_row(out, gain, scale, Uniform<T>{table[place]}, from, to);
      }
    }
  };

  if (!is_electric) {
    // H loses the curl of E.
    update(Uniform<T>{-dt});
    mirror(component, copy, y, z, begin, end);
  } else {
    const Coefficients<T>& coefficients = state_.coefficients(component);
    std::vector<Polarisation<T>>& poles = state_.polarisations(component);
    const auto with_span = [&](Polarisation<T>& pole, const auto& action) {
      const Box& box = pole.strength.box();
      if (pole.span.empty() || y < box.lower[1] || y >= box.upper[1] || z < box.lower[2] || z >= box.upper[2]) return;
      const auto& span = pole.span[static_cast<std::size_t>((z - box.lower[2]) * box.extent(1) + y - box.lower[1])];
      action(std::max<std::int64_t>(begin, span[0]), std::min<std::int64_t>(end, span[1]));
    };
    for (Polarisation<T>& pole : poles)
      with_span(pole, [&](std::int64_t from, std::int64_t to) {
        detail::polarise_row(pole.j[at(copy)].row(y, z), pole.p[at(copy)].row(y, z), out, pole.strength.row(y, z),
                             pole.keep, pole.push, pole.spring, dt, from, to);
      });
    if (coefficients.decay.varies[row_number] || coefficients.decay.of_row[row_number] != T(1))
      with_factor(coefficients.decay, row_number, y, z, [&](const auto decay) {
        for (std::int64_t x = begin; x < end; ++x) out[x] *= decay[x];
      });
    with_factor(coefficients.gain, row_number, y, z, [&](const auto gain) {
      update(gain);
      for (Polarisation<T>& pole : poles)
        with_span(pole, [&](std::int64_t from, std::int64_t to) {
          detail::drive_row(out, gain, T(-1), static_cast<const T*>(pole.j[at(copy)].row(y, z)), from, to);
        });
    });
  }
  for (const Tap<T>& tap : taps_[at(component)])
    if (tap.copy == copy && tap.point[1] == y && tap.point[2] == z && tap.point[0] >= begin && tap.point[0] < end)
      tap.values->push_back(out[tap.point[0]]);
}

template <class T>
void Update<T>::row(int component, const Stage& stage, std::int64_t y, std::int64_t z, std::int64_t x_lower,
                    std::int64_t x_upper) {
  const Box& box = stage.box[at(component)];
  if (y < box.lower[1] || y >= box.upper[1] || z < box.lower[2] || z >= box.upper[2]) return;
  const std::int64_t begin = std::max(box.lower[0], x_lower), end = std::min(box.upper[0], x_upper);
  if (begin >= end) return;
  for (int copy = 0; copy < state_.copies(); ++copy) row_of_copy(component, copy, stage, y, z, begin, end);
}

template <class T>
void Update<T>::planes(const std::vector<Stage>& stages, bool of_e, std::int64_t wave, const Piece& piece) {
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int64_t plane = wave - 2 * static_cast<std::int64_t>(s);
    for (std::int64_t middle = piece.middle_lower; middle < piece.middle_upper; ++middle) {
      const std::int64_t y = slow_ == 2 ? middle : plane, z = slow_ == 2 ? plane : middle;
      for (int axis = 0; axis < 3; ++axis) {
        const int component = of_e ? axis : 3 + axis;
        if (active_[at(component)]) row(component, stages[s], y, z, piece.x_lower, piece.x_upper);
      }
    }
  }
}

template <class T>
void Update<T>::advance(const std::vector<std::vector<DriveTable<T>>>& tables, int steps) {
  const Part& part = state_.part();
  const std::int64_t depth = part.depth();
  std::vector<Stage> stages(at(steps));
  std::int64_t first_wave = std::numeric_limits<std::int64_t>::max(), last_wave = -first_wave;
  for (int s = 0; s < steps; ++s) {
    Stage& stage = stages[at(s)];
    stage.tables = &tables[at(s)];
    for (int c = 0; c < components; ++c) {
      Box& box = stage.box[at(c)];
      box = part.changing(c, depth - s - (electric(c) ? 1 : 0), depth - 1 - s);
      first_wave = std::min(first_wave, box.lower[at(slow_)] + 2 * s);
      last_wave = std::max(last_wave, box.upper[at(slow_)] + 2 * s);
    }
  }

  const Box memory = part.memory();
  const int wanted =
      static_cast<int>(std::clamp<std::int64_t>(memory.points() / points_of_a_thread, 1, omp_get_max_threads()));
  core::TeamBarrier barrier;
#pragma omp parallel num_threads(wanted)
  {
    const int threads = omp_get_num_threads(), me = omp_get_thread_num();
    const bool rows = memory.extent(middle_) >= 2 * threads;
    const int split = rows ? middle_ : 0;
    const auto bound = [&](int thread) {
      const std::int64_t line = rows ? 1 : 64 / static_cast<std::int64_t>(sizeof(T));
      return memory.lower[at(split)] + (memory.extent(split) * thread / threads + line - 1) / line * line;
    };
    const std::int64_t lower = bound(me), upper = me + 1 == threads ? memory.upper[at(split)] : bound(me + 1);
    const Piece piece = rows ? Piece{lower, upper, memory.lower[0], memory.upper[0]}
                             : Piece{memory.lower[at(middle_)], memory.upper[at(middle_)], lower, upper};
    for (std::int64_t wave = first_wave; wave < last_wave; ++wave) {
      planes(stages, false, wave, piece);
      barrier.wait(threads);
      planes(stages, true, wave, piece);
      barrier.wait(threads);
    }
  }
}

template class Update<float>;
template class Update<double>;

}  // namespace halocline::maxwell
