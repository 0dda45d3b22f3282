// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/update/update.hpp"

#include "halocline/core/pause.hpp"
#include "halocline/maxwell/update/detail/rows.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <thread>
#include <utility>

namespace halocline::maxwell {

using detail::Uniform;

namespace {

/// Points of a process below which a second thread does not pay.
constexpr std::int64_t points_of_a_thread = 4096;
/// Bytes of a core's cache that the planes of a strip may take.
constexpr std::int64_t cache_of_a_strip = 768 << 10;
/// A strip that a thread waits for is looked at so often before the thread gives way.
constexpr int looks = 2000;

struct alignas(64) Progress {
  std::atomic<std::int64_t> waves;  ///< all before this one are done
};

bool in_rows(const Box& box, std::int64_t y, std::int64_t z) noexcept {
  return y >= box.lower[1] && y < box.upper[1] && z >= box.lower[2] && z < box.upper[2];
}

}  // namespace

template <class T>
Update<T>::Update(State<T>& state) : state_(state), dt_(static_cast<T>(state.part().grid().time_step)) {
  const YeeGrid& grid = state.part().grid();
  slow_ = grid.flat(2) ? 1 : 2;
  middle_ = 3 - slow_;
  azimuthal_ = static_cast<T>(grid.azimuthal);
  active_.fill(true);
  for (int a = 0; a < 3; ++a) next_[at(a)] = grid.flat(a) ? 0 : state.field(0).stride(a);
  const Box memory = state.part().memory();
  for (int c = 0; c < components; ++c) {
    marked_[at(c)].assign(static_cast<std::size_t>(memory.extent(1) * memory.extent(2)), 0);
    for (const LayerMemory<T>& layer : state.layers(c)) mark(c, layer.box);
    if (azimuthal_ != 0 && axis_of(c) != 1) mark(c, memory);
    for (int a = 0; a < 3; ++a)
      for (int side = 0; side < 2; ++side)
        if (!electric(c) && grid.ends[at(a)][at(side)] == Boundary::magnetic) mark(c, memory);
    if (!electric(c)) continue;
    answers_[at(c)].assign(marked_[at(c)].size(), 0);
    for (std::int64_t z = memory.lower[2]; z < memory.upper[2]; ++z)
      for (std::int64_t y = memory.lower[1]; y < memory.upper[1]; ++y) {
        const std::size_t row = state.row_number(y, z);
        const Factor<T>& decay = state.coefficients(c).decay;
        bool answers = decay.varies[row] || decay.of_row[row] != T(1);
        for (const Polarisation<T>& pole : state.polarisations(c)) answers |= in_rows(pole.strength.box(), y, z);
        answers_[at(c)][row] = answers;
      }
  }
}

template <class T>
void Update<T>::mark(int component, const Box& box) {
  const Box rows = intersection(box, state_.part().memory());
  if (rows.empty()) return;
  for (std::int64_t z = rows.lower[2]; z < rows.upper[2]; ++z)
    for (std::int64_t y = rows.lower[1]; y < rows.upper[1]; ++y) marked_[at(component)][state_.row_number(y, z)] = 1;
}

template <class T>
void Update<T>::add(const Drive<T>& drive) {
  drives_[at(drive.component)].push_back(drive);
  mark(drive.component, drive.box);
}

template <class T>
void Update<T>::add(const Tap<T>& tap) {
  taps_[at(tap.component)].push_back(tap);
  Box box{tap.point, tap.point};
  for (std::int64_t& upper : box.upper) ++upper;
  mark(tap.component, box);
}

template <class T>
std::size_t Update<T>::add(Supply<T> supply) {
  mark(supply.component, supply.current.box());
  supplies_.push_back(std::move(supply));
  return supplies_.size() - 1;
}

template <class T>
void Update<T>::set_active(std::array<bool, components> seeds) {
  const YeeGrid& grid = state_.part().grid();
  for (bool grown = true; grown;) {
    grown = false;
    for (int c = 0; c < components; ++c)
      for (int axis = 0; axis < 3; ++axis) {
        if (axis == axis_of(c) || (grid.flat(axis) && (axis != 1 || azimuthal_ == 0))) continue;
        const int other = 3 - axis - axis_of(c);  // the derivative along `axis` of this component of the other field
        if (seeds[at(partner(c, other))] && !seeds[at(c)]) grown = seeds[at(c)] = true;
      }
  }
  active_ = seeds;
}

template <class T>
template <class Action>
void Update<T>::with_gain(int component, std::int64_t y, std::int64_t z, std::size_t row, Action&& action) const {
  // H loses the curl of E, E gains that of H.
  if (!electric(component)) {
    if (const T* gain = state_.magnetic_gain(axis_of(component))) return action(gain);
    return action(Uniform<T>{-dt_});
  }
  const Factor<T>& gain = state_.coefficients(component).gain;
  if (gain.varies[row])
    action(gain.array.row(y, z));
  else
    action(Uniform<T>{gain.of_row[row]});
}

template <class T>
template <class Action>
void Update<T>::with_poles(int component, std::int64_t y, std::int64_t z, Range x, Action&& action) {
  for (Polarisation<T>& pole : state_.polarisations(component)) {
    const Box& box = pole.strength.box();
    if (pole.span.empty() || !in_rows(box, y, z)) continue;
    const auto& span = pole.span[static_cast<std::size_t>((z - box.lower[2]) * box.extent(1) + y - box.lower[1])];
    action(pole, std::max<std::int64_t>(x[0], span[0]), std::min<std::int64_t>(x[1], span[1]));
  }
}

template <class T>
void Update<T>::mirror(int component, int copy, std::int64_t y, std::int64_t z, Range x) {
  // A tangential H of a magnetic wall is the negative of itself behind it.
  const Part& part = state_.part();
  const YeeGrid& grid = part.grid();
  BoxArray<T>& field = state_.field(component, copy);
  const Index3 row{0, y, z};
  for (int a = 0; a < 3; ++a) {
    if (a == axis_of(component)) continue;
    const std::int64_t first = -part.first()[at(a)], last = first + grid.cells[at(a)] - 1;
    const std::array<std::array<std::int64_t, 2>, 2> ends{{{first, first - 1}, {last, last + 1}}};
    for (std::size_t side = 0; side < 2; ++side) {
      if (grid.ends[at(a)][side] != Boundary::magnetic) continue;
      const auto [inside, behind] = ends[side];
      if (a == 0) {
        if (inside >= x[0] && inside < x[1]) field.at(behind, y, z) = -field.at(inside, y, z);
      } else if (row[at(a)] == inside) {
        T* __restrict to = a == 1 ? field.row(behind, z) : field.row(y, behind);
        const T* __restrict from = field.row(y, z);
        for (std::int64_t i = x[0]; i < x[1]; ++i) to[i] = -from[i];
      }
    }
  }
}

template <class T>
void Update<T>::before_curl(int component, int copy, std::int64_t y, std::int64_t z, Range x) {
  const Coefficients<T>& coefficients = state_.coefficients(component);
  const std::size_t row = state_.row_number(y, z);
  T* out = state_.field(component, copy).row(y, z);
  with_poles(component, y, z, x, [&](Polarisation<T>& pole, std::int64_t from, std::int64_t to) {
    detail::polarise_row(pole.j[at(copy)].row(y, z), pole.p[at(copy)].row(y, z), out, pole.strength.row(y, z),
                         pole.keep, pole.push, pole.spring, dt_, from, to);
  });
  if (coefficients.decay.varies[row]) {
    const T* decay = coefficients.decay.array.row(y, z);
    for (std::int64_t i = x[0]; i < x[1]; ++i) out[i] *= decay[i];
  } else if (coefficients.decay.of_row[row] != T(1)) {
    for (std::int64_t i = x[0]; i < x[1]; ++i) out[i] *= coefficients.decay.of_row[row];
  }
  with_gain(component, y, z, row, [&](const auto gain) {
    with_poles(component, y, z, x, [&](Polarisation<T>& pole, std::int64_t from, std::int64_t to) {
      detail::drive_row(out, gain, T(-1), static_cast<const T*>(pole.j[at(copy)].row(y, z)), from, to);
    });
  });
}

template <class T>
void Update<T>::curl(int component, int copy, std::int64_t y, std::int64_t z, Range x) {
  const bool upper = !electric(component);
  T* out = state_.field(component, copy).row(y, z);
  // The derivative of component 2 along axis 1, minus that of component 1 along axis 2.
  const std::array<int, 2> axes{(axis_of(component) + 1) % 3, (axis_of(component) + 2) % 3};
  std::array<const T*, 2> first, second;
  std::array<T, 2> r{};
  for (std::size_t d = 0; d < 2; ++d) {
    const T* here = state_.field(partner(component, axes[1 - d]), copy).row(y, z);
    first[d] = upper ? here + next_[at(axes[d])] : here;
    second[d] = upper ? here : here - next_[at(axes[d])];
    if (axes[d] != 0) r[d] = state_.derivative(component, axes[d]).r[axes[d] == 1 ? y : z];
  }
  const T* rx = state_.derivative(component, 0).r.origin();
  with_gain(component, y, z, state_.row_number(y, z), [&](const auto gain) {
    const auto of = [&](const auto r1, const auto r2) {
      detail::curl_row(out, gain, first[0], second[0], r1, first[1], second[1], r2, x[0], x[1]);
    };
    if (axes[0] == 0)
      of(rx, Uniform<T>{r[1]});
    else if (axes[1] == 0)
      of(Uniform<T>{r[0]}, rx);
    else
      of(Uniform<T>{r[0]}, Uniform<T>{r[1]});
  });
}

template <class T>
bool Update<T>::curls_together(bool of_e, int copy, std::int64_t y, std::int64_t z, const std::array<Range, 3>& x) {
  const std::size_t row = state_.row_number(y, z);
  const int first = of_e ? 0 : 3;
  int varying = 0;
  if (of_e)
    for (int a = 0; a < 3; ++a) varying += state_.coefficients(a).gain.varies[row];
  if (varying != 0 && varying != 3) return false;
  // Components between the nodes have a point more at a wall than those on them. The loop runs over all points, and
  // what does not change is put back.
  const std::int64_t begin = std::min({x[0][0], x[1][0], x[2][0]}), end = std::max({x[0][1], x[1][1], x[2][1]});
  for (int a = 0; a < 3; ++a)
    if (x[at(a)][0] > begin + 1 || x[at(a)][1] < end - 1) return false;

  std::array<T*, 3> out;
  std::array<const T*, 3> in;
  for (int a = 0; a < 3; ++a) {
    out[at(a)] = state_.field(first + a, copy).row(y, z);
    in[at(a)] = state_.field(3 - first + a, copy).row(y, z);
  }
  const T* rx = state_.derivative(first, 0).r.origin();
  const T ry = state_.derivative(first, 1).r[y], rz = state_.derivative(first, 2).r[z];
  std::array<std::array<T, 2>, 3> kept;
  for (int a = 0; a < 3; ++a) kept[at(a)] = {out[at(a)][begin], out[at(a)][end - 1]};
  const auto with = [&](const auto& gain) {
    if (of_e)
      detail::curl_rows<false>(out, in, gain, rx, ry, rz, next_, begin, end);
    else
      detail::curl_rows<true>(out, in, gain, rx, ry, rz, next_, begin, end);
  };
  if (varying == 3 || (!of_e && state_.magnetic_gain(0) != nullptr)) {
    std::array<const T*, 3> gain;
    for (int a = 0; a < 3; ++a)
      gain[at(a)] = of_e ? state_.coefficients(a).gain.array.row(y, z) : state_.magnetic_gain(a);
    with(gain);
  } else {
    std::array<Uniform<T>, 3> gain{{{-dt_}, {-dt_}, {-dt_}}};
    if (of_e)
      for (int a = 0; a < 3; ++a) gain[at(a)] = {state_.coefficients(a).gain.of_row[row]};
    with(gain);
  }
  for (int a = 0; a < 3; ++a) {
    if (x[at(a)][0] > begin) out[at(a)][begin] = kept[at(a)][0];
    if (x[at(a)][1] < end) out[at(a)][end - 1] = kept[at(a)][1];
  }
  return true;
}

template <class T>
void Update<T>::after_curl(int component, int copy, const Stage& stage, std::int64_t y, std::int64_t z, Range x) {
  const bool upper = !electric(component);
  T* out = state_.field(component, copy).row(y, z);
  with_gain(component, y, z, state_.row_number(y, z), [&](const auto gain) {
    for (LayerMemory<T>& layer : state_.layers(component)) {
      const Box& box = layer.box;
      const std::int64_t from = std::max(x[0], box.lower[0]), to = std::min(x[1], box.upper[0]);
      if (from >= to || !in_rows(box, y, z) || layer.axis == axis_of(component)) continue;
      const int axis = layer.axis, other = 3 - axis - axis_of(component);
      const T* here = state_.field(partner(component, other), copy).row(y, z);
      const T* first = upper ? here + next_[at(axis)] : here;
      const T* second = upper ? here : here - next_[at(axis)];
      T* psi = layer.psi[at(copy)].row(y, z);
      const T sign = (axis_of(component) + 1) % 3 == axis ? T(1) : T(-1);
      const AxisProfiles<T>& of = state_.derivative(component, axis);
      if (axis == 0)
        detail::layer_row(out, psi, gain, sign, first, second, of.b.origin(), of.c.origin(), from, to);
      else {
        const std::int64_t place = axis == 1 ? y : z;
        detail::layer_row(out, psi, gain, sign, first, second, Uniform<T>{of.b[place]}, Uniform<T>{of.c[place]}, from,
                          to);
      }
    }
    if (azimuthal_ != 0 && axis_of(component) != 1) {
      // The derivative along the angle of the component across, m times the field of the other kind.
      const int across = 2 - axis_of(component);
      const T scale = (electric(component) == (axis_of(component) == 0)) ? azimuthal_ : -azimuthal_;
      detail::drive_row(out, gain, scale,
                        static_cast<const T*>(state_.field(partner(component, across), copy).row(y, z)), x[0], x[1]);
    }
    for (const Drive<T>& drive : drives_[at(component)]) {
      const Box& box = drive.box;
      const std::int64_t from = std::max(x[0], box.lower[0]), to = std::min(x[1], box.upper[0]);
      const T turn = drive.turn[at(copy)];
      if (turn == 0 || from >= to || !in_rows(box, y, z)) continue;
      const T* table = (*stage.tables)[at(drive.table)].origin;
      const T scale = drive.scale * turn;
      if (drive.profile)
        detail::drive_row(out, gain, scale * table[drive.shift], drive.profile->row(y, z), from, to);
      else if (drive.axis == 0)
        detail::drive_row(out, gain, scale, table + drive.shift, from, to);
      else {
        const std::int64_t place = (drive.axis < 0 ? 0 : drive.axis == 1 ? y : z) + drive.shift;
        detail::drive_row(out, gain, scale, Uniform<T>{table[place]}, from, to);
      }
    }
    for (const Supply<T>& supply : supplies_) {
      const Box& box = supply.current.box();
      if (supply.component != component || copy != 0 || !in_rows(box, y, z)) continue;
      const std::int64_t from = std::max(x[0], box.lower[0]), to = std::min(x[1], box.upper[0]);
      if (from < to) detail::drive_row(out, gain, T(-1), static_cast<const T*>(supply.current.row(y, z)), from, to);
    }
  });
  if (axis_of(component) == 1 && state_.rim(component) != nullptr)
    for (LayerMemory<T>& layer : state_.layers(component)) {
      const std::int64_t from = std::max(x[0], layer.box.lower[0]), to = std::min(x[1], layer.box.upper[0]);
      if (layer.axis != 1 || from >= to || !in_rows(layer.box, y, z)) continue;
      detail::rim_row(out, layer.psi[at(copy)].row(y, z), state_.rim(component), state_.radius(component), dt_, from,
                      to);
    }
  if (upper) mirror(component, copy, y, z, x);
  for (const Tap<T>& tap : taps_[at(component)])
    if (tap.copy == copy && tap.point[1] == y && tap.point[2] == z && tap.point[0] >= x[0] && tap.point[0] < x[1])
      tap.values->push_back(out[tap.point[0]]);
}

template <class T>
void Update<T>::rows(bool of_e, const Stage& stage, std::int64_t y, std::int64_t z, Range x) {
  const int first = of_e ? 0 : 3;
  std::array<Range, 3> range;
  int present = 0;
  for (int a = 0; a < 3; ++a) {
    const Box& box = stage.box[at(first + a)];
    range[at(a)] = {std::max(box.lower[0], x[0]), std::min(box.upper[0], x[1])};
    if (!active_[at(first + a)] || !in_rows(box, y, z) || range[at(a)][0] >= range[at(a)][1])
      range[at(a)] = {0, 0};
    else
      ++present;
  }
  if (present == 0) return;
  const std::size_t row = state_.row_number(y, z);
  for (int copy = 0; copy < state_.copies(); ++copy) {
    if (!of_e && state_.magnetic_decay(0) != nullptr)
      for (const int a : {0, 2}) {
        T* out = state_.field(first + a, copy).row(y, z);
        const T* decay = state_.magnetic_decay(a);
        for (std::int64_t i = range[at(a)][0]; i < range[at(a)][1]; ++i) out[i] *= decay[i];
      }
    if (of_e)
      for (int a = 0; a < 3; ++a)
        if (range[at(a)][0] < range[at(a)][1] && answers_[at(a)][row]) before_curl(a, copy, y, z, range[at(a)]);
    if (present < 3 || !curls_together(of_e, copy, y, z, range))
      for (int a = 0; a < 3; ++a)
        if (range[at(a)][0] < range[at(a)][1]) curl(first + a, copy, y, z, range[at(a)]);
    for (int a = 0; a < 3; ++a)
      if (range[at(a)][0] < range[at(a)][1] && marked_[at(first + a)][row])
        after_curl(first + a, copy, stage, y, z, range[at(a)]);
  }
}

template <class T>
void Update<T>::strip(const std::vector<Stage>& stages, const Strips& strips, std::int64_t number, std::int64_t wave) {
  const Box memory = state_.part().memory();
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const std::int64_t plane = wave - static_cast<std::int64_t>(s);
    if (plane < memory.lower[at(slow_)] || plane >= memory.upper[at(slow_)]) continue;
    const std::int64_t begin = strips.lower + number * strips.width - static_cast<std::int64_t>(s);
    const Range mine{std::max(begin, memory.lower[at(strips.axis)]),
                     std::min(begin + strips.width, memory.upper[at(strips.axis)])};
    const bool parts = strips.axis == 0;
    const Range x = parts ? mine : Range{memory.lower[0], memory.upper[0]};
    const Range middle = parts ? Range{memory.lower[at(middle_)], memory.upper[at(middle_)]} : mine;
    for (std::int64_t m = middle[0]; m < middle[1]; ++m) {
      if (s == 0) fetch(slow_ == 2 ? m : plane + 2, slow_ == 2 ? plane + 2 : m, x);
      for (const bool of_e : {false, true}) rows(of_e, stages[s], slow_ == 2 ? m : plane, slow_ == 2 ? plane : m, x);
    }
  }
}

template <class T>
void Update<T>::fetch(std::int64_t y, std::int64_t z, Range x) const {
  if (!in_rows(state_.part().memory(), y, z)) return;
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  for (int copy = 0; copy < state_.copies(); ++copy)
    for (int c = 0; c < components; ++c) {
      if (!active_[at(c)]) continue;
      const T* row = state_.field(c, copy).row(y, z);
      for (std::int64_t i = x[0]; i < x[1]; i += line) __builtin_prefetch(row + i, 1, 2);
    }
}

template <class T>
typename Update<T>::Strips Update<T>::strips_for(int steps, int threads) const {
  const Box memory = state_.part().memory();
  Strips strips;
  strips.axis = memory.extent(middle_) > 1 ? middle_ : 0;
  strips.lower = memory.lower[at(strips.axis)];
  const std::int64_t whole = memory.extent(strips.axis) + steps - 1;  // a strip begins a row earlier for each step
  const std::int64_t line = memory.points() / memory.extent(slow_) / memory.extent(strips.axis);
  const std::int64_t bytes = line * (steps + 2) * components * static_cast<std::int64_t>(sizeof(T)) * state_.copies();
  const std::int64_t least = strips.axis == 0 ? 64 : 4;
  strips.width = std::max(cache_of_a_strip / std::max<std::int64_t>(bytes, 1), least);
  if (threads > 1) strips.width = std::min(strips.width, std::max(least, (whole + threads - 1) / threads));
  strips.count = (whole + strips.width - 1) / strips.width;
  strips.width = (whole + strips.count - 1) / strips.count;
  return strips;
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
      first_wave = std::min(first_wave, box.lower[at(slow_)] + s);
      last_wave = std::max(last_wave, box.upper[at(slow_)] + s);
    }
  }

  const auto wanted =
      static_cast<int>(std::clamp<std::int64_t>(part.memory().points() / points_of_a_thread, 1, omp_get_max_threads()));
  const Strips strips = strips_for(steps, wanted);
  const auto progress = std::make_unique<Progress[]>(static_cast<std::size_t>(strips.count));
  for (std::int64_t i = 0; i < strips.count; ++i)
    progress[static_cast<std::size_t>(i)].waves.store(first_wave, std::memory_order_relaxed);
#pragma omp parallel num_threads(wanted)
  {
    const int threads = omp_get_num_threads();
    for (std::int64_t number = omp_get_thread_num(); number < strips.count; number += threads)
      for (std::int64_t wave = first_wave; wave < last_wave; ++wave) {
        if (number > 0) {
          const auto& before = progress[static_cast<std::size_t>(number - 1)].waves;
          for (int look = 0; before.load(std::memory_order_acquire) <= wave; ++look) {
            if (look < looks)
              core::pause();
            else
              std::this_thread::yield();
          }
        }
        strip(stages, strips, number, wave);
        progress[static_cast<std::size_t>(number)].waves.store(wave + 1, std::memory_order_release);
      }
  }
}

template class Update<float>;
template class Update<double>;

}  // namespace halocline::maxwell
