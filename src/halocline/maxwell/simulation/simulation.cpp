// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/simulation/simulation.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>

namespace halocline::maxwell {

namespace {

constexpr std::int64_t cache_of_a_core = std::int64_t{1} << 20;  ///< bytes of it that a sweep may use
constexpr std::int64_t least_rows = 4;                           ///< of a strip
constexpr int deepest = 8;

void check_point(const YeeGrid& grid, const char* what, int component, const Index3& point) {
  if (component < 0 || component >= components)
    throw core::InvalidArgument(
        fmt::format("a {} of component {} was asked for; E has 0 to 2 and H 3 to 5", what, component));
  for (int a = 0; a < 3; ++a) {
    const std::int64_t past = grid.cells[at(a)] + (grid.periodic(a) || between(component, a) ? 0 : 1);
    if (point[at(a)] < 0 || point[at(a)] >= past)
      throw core::InvalidArgument(
          fmt::format("a {} at point {} of axis {} was asked for; the grid has points 0 to {} there", what,
                      point[at(a)], a, past - 1));
  }
}

}  // namespace

int depth_for_cache(const YeeGrid& grid, const comm::ProcessGrid& processes, std::size_t number_bytes) {
  std::int64_t row = components * static_cast<std::int64_t>(number_bytes) * (grid.complex_fields() ? 2 : 1);
  std::int64_t thinnest = deepest;
  for (int a = 0; a < 3; ++a) {
    const std::int64_t cells = grid.cells[at(a)] / std::max(processes.dims()[at(a)], 1);
    if (a == 0) row *= cells + 1;
    if (processes.dims()[at(a)] > 1 || (grid.periodic(a) && !grid.flat(a)))
      thinnest = std::min(thinnest, std::max<std::int64_t>(1, cells / 16));  // ghosts are computed, too
  }
  return static_cast<int>(std::clamp<std::int64_t>(cache_of_a_core / (least_rows * row) - 2, 1, thinnest));
}

template <class T>
Simulation<T>::Simulation(const YeeGrid& grid, Matter matter, const comm::ProcessGrid& processes,
                          const SimulationOptions& options)
    : matter_(std::move(matter)),
      processes_(processes),
      state_(Part(grid, processes, options.depth > 0 ? options.depth : depth_for_cache(grid, processes, sizeof(T))),
             matter_, options.smooth),
      update_(state_),
      halo_(state_, processes_, options.transport) {}

template <class T>
std::size_t Simulation<T>::add_plane_wave(const PlaneWaveSpec& spec, std::vector<double> frequencies) {
  waves_.emplace_back(grid(), matter_.background(), spec, std::move(frequencies));
  wave_tables_.push_back(tables_);
  for (const Drive<T>& drive : waves_.back().drives(part(), tables_, tables_ + 1)) update_.add(drive);
  tables_ += 2;
  for (int a = 0; a < 3; ++a)
    if (spec.polarisation[at(a)] != 0) seeds_[at(a)] = true;
  return waves_.size() - 1;
}

template <class T>
std::size_t Simulation<T>::add_current(int component, const Index3& point, const Waveform& waveform) {
  check_point(grid(), "current", component, point);
  if (!electric(component))
    throw core::InvalidArgument("a current along a component of H was asked for; currents drive E, components 0 to 2");
  double cell = 1;
  for (int a = 0; a < 3; ++a)
    if (!grid().flat(a)) cell *= grid().step[at(a)];
  if (grid().cylindrical) {
    // A ring, or on the axis half of one.
    const bool on_axis = point[0] == 0 && component != 0;
    if (grid().metric(component, point[0]) == 0)
      throw core::InvalidArgument(fmt::format(
          "a current along component {} on the axis was asked for, where it is zero for m = {}; give another place",
          component, grid().azimuthal));
    cell *= 2 * std::numbers::pi * (on_axis ? 0.5 : 1);
    if (component == 1) cell *= static_cast<double>(point[0]) * grid().step[0];
  }
  Box box{point, point};
  for (std::int64_t& upper : box.upper) ++upper;
  for (const Part::Image& image : part().images(box, part().memory())) {
    double phase = 0;
    for (int a = 0; a < 3; ++a)
      if (grid().periodic(a)) {
        const Index3 p = part().global(image.box.lower);
        if (p[at(a)] != point[at(a)]) phase += (p[at(a)] > point[at(a)] ? 1 : -1) * grid().bloch[at(a)];
      }
    update_.add(Drive<T>{component,
                         image.box,
                         static_cast<T>(-1 / cell),
                         {static_cast<T>(std::cos(phase)), static_cast<T>(std::sin(phase))},
                         tables_,
                         -1,
                         0});
  }
  signals_.push_back({waveform, tables_++, 0.5, {}});
  seeds_[at(component)] = true;
  return currents_++;
}

template <class T>
void Simulation<T>::add_sheet(const SheetSpec& spec) {
  check_sheet(grid(), spec);
  if (grid().cylindrical)
    throw core::InvalidArgument("light through a plane was asked for in a cylindrical grid, which takes plane waves, "
                                "currents and kicks");
  for (const Drive<T>& drive : drives_of<T>(spec, part(), tables_, tables_ + 1)) update_.add(drive);
  for (const double after : {0.0, 0.5}) signals_.push_back({spec.waveform, tables_++, after, {}});
  for (int c = 0; c < components; ++c)
    if (axis_of(c) != spec.axis) seeds_[at(c)] = true;
}

template <class T>
void Simulation<T>::kick(const Vector3& strength) {
  for (const Medium& medium : matter_.media())
    if (medium.permittivity != 1 || medium.conductivity != 0)
      throw core::InvalidArgument(
          fmt::format("a kick was asked for, with matter of permittivity {} and conductivity {} at high frequencies, "
                      "which would answer it at once; describe all matter by poles, with permittivity = 1",
                      medium.permittivity, medium.conductivity));
  const YeeGrid& g = grid();
  const bool along = strength[0] == 0 && strength[1] == 0, across = strength[1] == 0 && strength[2] == 0;
  if (g.cylindrical && !(g.azimuthal == 0 && along) && !(g.azimuthal == 1 && across))
    throw core::InvalidArgument(
        fmt::format("a kick along ({}, {}, {}) was asked for in a cylindrical grid with m = {}; give z with m = 0, or "
                    "x with m = 1",
                    strength[0], strength[1], strength[2], g.azimuthal));
  const T dt = static_cast<T>(g.time_step);
  for (int c = 0; c < 3; ++c) {
    // Of one step. A field along x of a cylindrical grid is cos(y) along r and -sin(y) along the angle, times r.
    const bool turns = g.cylindrical && c == 1 && strength[0] != 0;
    const T field = static_cast<T>(turns ? -strength[0] : strength[at(c)]) / dt;
    if (field == 0) continue;
    seeds_[at(c)] = true;
    for (Polarisation<T>& pole : state_.polarisations(c)) {
      if (pole.strength.empty()) continue;
      const Box& box = pole.strength.box();
      // The next step makes keep j + push strength field of it.
      for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
        for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
          for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x)
            pole.j[0].at(x, y, z) +=
                pole.push / pole.keep * pole.strength.at(x, y, z) * field *
                (turns ? static_cast<T>(static_cast<double>(x + part().first()[0]) * g.step[0]) : T(1));
    }
  }
}

template <class T>
void Simulation<T>::keep_dipole(int every) {
  if (every < 1) throw core::InvalidArgument(fmt::format("a dipole every {} steps was asked for; at least 1", every));
  if (steps_ > 0) throw core::InvalidArgument("a dipole was asked for after the first step; ask before it");
  dipole_every_ = every;
}

template <class T>
std::vector<double> Simulation<T>::dipole() const {
  std::vector<double> sums = dipoles_;
  processes_.communicator().sum(sums);
  return sums;
}

template <class T>
void Simulation<T>::add_cells(const Box& cells) {
  if (!cells_.empty()) throw core::InvalidArgument("cells with matter outside were added twice; give one box of them");
  if (grid().cylindrical) throw core::InvalidArgument("cells with matter outside need a grid that is not cylindrical");
  if (grid().complex_fields())
    throw core::InvalidArgument("cells with matter outside need real fields: no Bloch phase");
  if (part().any_exchanged() && part().depth() > 1)
    throw core::InvalidArgument("cells with matter outside take one step at a time; give depth = 1");
  for (int a = 0; a < 3; ++a)
    if (cells.lower[at(a)] < 0 || cells.upper[at(a)] > grid().cells[at(a)] || cells.extent(a) == 0)
      throw core::InvalidArgument(fmt::format("cells {} to {} of axis {} were given; the grid has 0 to {} there",
                                              cells.lower[at(a)], cells.upper[at(a)] - 1, a, grid().cells[at(a)] - 1));
  cells_ = cells;
  const Index3& first = part().first();
  const Box mine = moved(cells, {-first[0], -first[1], -first[2]});
  for (int c = 0; c < 3; ++c) {
    supplies_[at(c)] = update_.add(Supply<T>{c, BoxArray<T>(intersection(mine, part().owned(c)))});
    seeds_[at(c)] = true;
  }
}

template <class T>
void Simulation<T>::set_currents(std::span<const double> currents) {
  if (static_cast<std::int64_t>(currents.size()) != 3 * cells_.points())
    throw core::InvalidArgument(
        fmt::format("{} currents were given for {} cells; there are three a cell", currents.size(), cells_.points()));
  const Index3& first = part().first();
  for (int c = 0; c < 3; ++c) {
    BoxArray<T>& supply = update_.supply(supplies_[at(c)]);
    const Box& box = supply.box();
    for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
      for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
        for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
          const std::int64_t cell =
              x + first[0] - cells_.lower[0] +
              cells_.extent(0) * (y + first[1] - cells_.lower[1] + cells_.extent(1) * (z + first[2] - cells_.lower[2]));
          supply.at(x, y, z) = static_cast<T>(currents[static_cast<std::size_t>(3 * cell + c)]);
        }
  }
}

template <class T>
std::vector<double> Simulation<T>::cell_fields(bool everywhere) const {
  std::vector<double> fields(static_cast<std::size_t>(3 * cells_.points()));
  const Index3& first = part().first();
  for (int c = 0; c < 3; ++c) {
    const Box box = intersection(moved(cells_, {-first[0], -first[1], -first[2]}), part().owned(c));
    for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
      for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
        for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x) {
          const std::int64_t cell =
              x + first[0] - cells_.lower[0] +
              cells_.extent(0) * (y + first[1] - cells_.lower[1] + cells_.extent(1) * (z + first[2] - cells_.lower[2]));
          fields[static_cast<std::size_t>(3 * cell + c)] = state_.field(c).at(x, y, z);
        }
  }
  if (everywhere) processes_.communicator().sum(fields);
  return fields;
}

template <class T>
std::size_t Simulation<T>::add_probe(int component, const Index3& point) {
  check_point(grid(), "probe", component, point);
  auto probe = std::make_unique<Probe>();
  probe->component = component;
  probe->point = point;
  const Index3& first = part().first();
  const Index3 here{point[0] - first[0], point[1] - first[1], point[2] - first[2]};
  probe->here = part().owned(component).contains(here);
  if (probe->here)
    for (int copy = 0; copy < state_.copies(); ++copy)
      update_.add(Tap<T>{component, here, copy, &probe->values[at(copy)]});
  probes_.push_back(std::move(probe));
  return probes_.size() - 1;
}

template <class T>
std::size_t Simulation<T>::add_spectrum(const Box& box, std::vector<int> kept, std::vector<double> frequencies,
                                        int every) {
  spectra_.emplace_back(state_, box, std::move(kept), std::move(frequencies), every);
  return spectra_.size() - 1;
}

template <class T>
void Simulation<T>::run(std::int64_t steps) {
  update_.set_active(seeds_);
  for (auto& probe : probes_)
    for (auto& values : probe->values) values.reserve(values.size() + static_cast<std::size_t>(steps));
  const std::int64_t end = steps_ + steps;
  while (steps_ < end) {
    std::int64_t block = std::min<std::int64_t>(cells_.empty() ? part().depth() : 1, end - steps_);
    for (const Spectrum<T>& spectrum : spectra_)
      block = std::min<std::int64_t>(block, spectrum.every() - steps_ % spectrum.every());
    if (dipole_every_ > 0) block = std::min<std::int64_t>(block, dipole_every_ - steps_ % dipole_every_);
    const int count = static_cast<int>(block);
    std::vector<std::vector<DriveTable<T>>> tables(at(count), std::vector<DriveTable<T>>(at(tables_)));
    {
      const core::Region region("maxwell/sources");
      for (std::size_t w = 0; w < waves_.size(); ++w) {
        waves_[w].advance(count);
        for (int s = 0; s < count; ++s) {
          tables[at(s)][at(wave_tables_[w])] = waves_[w].e(s);
          tables[at(s)][at(wave_tables_[w] + 1)] = waves_[w].h(s);
        }
      }
      for (Signal& signal : signals_) {
        signal.values.clear();
        for (int s = 0; s < count; ++s)
          signal.values.push_back(
              static_cast<T>(signal.waveform((static_cast<double>(steps_ + s) + signal.after) * grid().time_step)));
        for (int s = 0; s < count; ++s) tables[at(s)][at(signal.table)] = {signal.values.data() + s};
      }
    }
    {
      const core::Region region("maxwell/exchange");
      halo_.exchange();
    }
    {
      const core::Region region("maxwell/update");
      update_.advance(tables, count);
    }
    steps_ += count;
    const core::Region region("maxwell/spectra");
    for (Spectrum<T>& spectrum : spectra_)
      if (steps_ % spectrum.every() == 0) spectrum.sample(state_, steps_);
    if (dipole_every_ > 0 && steps_ % dipole_every_ == 0)
      for (const double moment : dipole_of(state_)) dipoles_.push_back(moment);
  }
}

template <class T>
template <class Action>
void Simulation<T>::for_each_piece(Action&& action) {
  for (int copy = 0; copy < state_.copies(); ++copy)
    for (BoxArray<T>* array : state_.changing(copy)) action(std::as_writable_bytes(array->numbers()));
  for (Spectrum<T>& spectrum : spectra_)
    for (auto& sums : spectrum.all()) action(std::as_writable_bytes(std::span(sums)));
  action(std::as_writable_bytes(std::span(dipoles_)));
  for (auto& probe : probes_)
    for (auto& values : probe->values) {
      // Points on walls have no values.
      if (!values.empty()) values.resize(static_cast<std::size_t>(steps_));
      action(std::as_writable_bytes(std::span(values)));
    }
}

template <class T>
std::vector<std::byte> Simulation<T>::checkpoint() {
  std::vector<std::byte> bytes;
  const auto add = [&](std::span<const std::byte> piece) {
    const std::size_t at_end = bytes.size(), size = piece.size();
    bytes.resize(at_end + sizeof(std::size_t) + size);
    std::memcpy(bytes.data() + at_end, &size, sizeof(std::size_t));
    if (size > 0) std::memcpy(bytes.data() + at_end + sizeof(std::size_t), piece.data(), size);
  };
  add(std::as_bytes(std::span(&steps_, 1)));
  add(std::as_bytes(std::span(seeds_)));
  for (const PlaneWave<T>& wave : waves_) {
    const std::vector<double> numbers = wave.state();
    add(std::as_bytes(std::span(numbers)));
  }
  for_each_piece([&](std::span<std::byte> piece) { add(piece); });
  return bytes;
}

template <class T>
void Simulation<T>::resume(std::span<const std::byte> bytes) {
  std::size_t next = 0;
  const auto take = [&](std::size_t expected) {
    std::size_t size = 0;
    if (next + sizeof(size) <= bytes.size()) std::memcpy(&size, bytes.data() + next, sizeof(size));
    if (next + sizeof(size) + size > bytes.size() || (expected != std::size_t(-1) && size != expected))
      throw core::InvalidArgument(fmt::format(
          "a checkpoint of {} bytes was given that is of another simulation, or of another division over processes; go "
          "on with the same grid, sources and number of processes",
          bytes.size()));
    next += sizeof(size) + size;
    return bytes.subspan(next - size, size);
  };
  std::memcpy(&steps_, take(sizeof(steps_)).data(), sizeof(steps_));
  std::memcpy(seeds_.data(), take(sizeof(seeds_)).data(), sizeof(seeds_));
  for (PlaneWave<T>& wave : waves_) {
    const auto piece = take(wave.state().size() * sizeof(double));
    std::vector<double> numbers(piece.size() / sizeof(double));
    std::memcpy(numbers.data(), piece.data(), piece.size());
    wave.set_state(numbers);
  }
  dipoles_.assign(dipole_every_ > 0 ? static_cast<std::size_t>(3 * (steps_ / dipole_every_)) : 0, 0.0);
  for (auto& probe : probes_)
    for (int copy = 0; copy < state_.copies(); ++copy) {
      const Box changing = part().changing(probe->component, 0, 0);
      const Index3& first = part().first();
      const Index3 here{probe->point[0] - first[0], probe->point[1] - first[1], probe->point[2] - first[2]};
      const bool has = probe->here && changing.contains(here);
      probe->values[at(copy)].assign(has ? static_cast<std::size_t>(steps_) : 0, T(0));
    }
  for_each_piece([&](std::span<std::byte> piece) {
    const auto stored = take(piece.size());
    if (!piece.empty()) std::memcpy(piece.data(), stored.data(), piece.size());
  });
}

template <class T>
Energy Simulation<T>::energy() {
  halo_.exchange();
  const Energy mine = energy_of(state_);
  std::array<double, 3> sums{mine.electric, mine.magnetic, mine.polarisation};
  processes_.communicator().sum(sums);
  return {sums[0], sums[1], sums[2]};
}

template <class T>
template <class Value, class Fill>
std::vector<Value> Simulation<T>::gathered(const Box& global, const Box& mine, const Fill& fill) const {
  // Each process sends its box and its numbers; the boxes do not overlap.
  std::vector<std::byte> message(sizeof(Box) + static_cast<std::size_t>(mine.points()) * sizeof(Value));
  std::memcpy(message.data(), &mine, sizeof(Box));
  std::vector<Value> numbers;
  numbers.reserve(static_cast<std::size_t>(mine.points()));
  fill(numbers);
  if (!numbers.empty()) std::memcpy(message.data() + sizeof(Box), numbers.data(), numbers.size() * sizeof(Value));
  const std::vector<std::byte> all = processes_.communicator().allgather(message);
  std::vector<Value> whole(static_cast<std::size_t>(global.points()));
  for (std::size_t next = 0; next < all.size();) {
    Box box;
    std::memcpy(&box, all.data() + next, sizeof(Box));
    next += sizeof(Box);
    for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
      for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y) {
        const std::int64_t to = box.lower[0] - global.lower[0] +
                                global.extent(0) * (y - global.lower[1] + global.extent(1) * (z - global.lower[2]));
        const std::size_t bytes = static_cast<std::size_t>(box.extent(0)) * sizeof(Value);
        if (bytes == 0) continue;
        std::memcpy(whole.data() + to, all.data() + next, bytes);
        next += bytes;
      }
  }
  return whole;
}

template <class T>
std::vector<std::complex<double>> Simulation<T>::probe(std::size_t number) const {
  const Probe& probe = *probes_.at(number);
  const Box global{{0, 0, 0}, {steps_, 1, 1}};
  const Box mine = probe.here ? global : Box{};
  return gathered<std::complex<double>>(global, mine, [&](auto& numbers) {
    if (!probe.here) return;
    // Points on walls do not change and have no values: they are zero.
    for (std::int64_t i = 0; i < steps_; ++i) {
      const auto n = static_cast<std::size_t>(i);
      const auto value = [n](const std::vector<T>& values) {
        return n < values.size() ? static_cast<double>(values[n]) : 0;
      };
      numbers.emplace_back(value(probe.values[0]), value(probe.values[1]));
    }
  });
}

template <class T>
double Simulation<T>::probe_now(std::size_t number) const {
  const std::vector<T>& values = probes_.at(number)->values[0];
  return values.empty() ? 0.0 : static_cast<double>(values.back());
}

template <class T>
Box Simulation<T>::spectrum_box(std::size_t number, int component) const {
  return intersection(spectra_.at(number).box(), points_of(component));
}

template <class T>
std::vector<std::complex<double>> Simulation<T>::spectrum(std::size_t number, int component,
                                                          std::size_t frequency) const {
  const Spectrum<T>& spectrum = spectra_.at(number);
  const auto place = std::find(spectrum.kept().begin(), spectrum.kept().end(), component);
  if (place == spectrum.kept().end() || frequency >= spectrum.frequencies().size())
    throw core::InvalidArgument(
        fmt::format("component {} at frequency number {} was asked for; this spectrum has neither, "
                    "or one of them not",
                    component, frequency));
  const auto sums = spectrum.sums(static_cast<std::size_t>(place - spectrum.kept().begin()), frequency);
  return gathered<std::complex<double>>(spectrum_box(number, component), spectrum.held(component),
                                        [&](auto& numbers) { numbers.assign(sums.begin(), sums.end()); });
}

template <class T>
Box Simulation<T>::points_of(int component) const noexcept {
  Box whole;
  for (int a = 0; a < 3; ++a)
    whole.upper[at(a)] = grid().cells[at(a)] + (grid().periodic(a) || between(component, a) ? 0 : 1);
  return whole;
}

template <class T>
std::vector<double> Simulation<T>::field(int component, int copy, const Box& box) const {
  const Index3& first = part().first();
  const Box mine = intersection(moved(box, {-first[0], -first[1], -first[2]}), part().owned(component));
  return gathered<double>(box, moved(mine, first), [&](auto& numbers) {
    if (mine.empty()) return;
    for (std::int64_t z = mine.lower[2]; z < mine.upper[2]; ++z)
      for (std::int64_t y = mine.lower[1]; y < mine.upper[1]; ++y) {
        const T* row = state_.field(component, copy).row(y, z);
        numbers.insert(numbers.end(), row + mine.lower[0], row + mine.upper[0]);
      }
  });
}

template class Simulation<float>;
template class Simulation<double>;

}  // namespace halocline::maxwell
