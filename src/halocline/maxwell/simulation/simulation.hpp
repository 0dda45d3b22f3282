// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Maxwell's equations in the time domain: a grid, the matter in it, sources and what is measured.

#include "halocline/maxwell/halo/field_halo.hpp"
#include "halocline/maxwell/measure/energy.hpp"
#include "halocline/maxwell/measure/spectrum.hpp"
#include "halocline/maxwell/source/plane_wave.hpp"
#include "halocline/maxwell/source/sheet.hpp"
#include "halocline/maxwell/update/update.hpp"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halocline::maxwell {

struct SimulationOptions {
  int depth = 0;                   ///< steps of a sweep; 0: as many as keep the planes of a sweep in cache
  std::string transport = "auto";  ///< of the halo exchange
  bool smooth = true;              ///< means over cells that surfaces cut (matter.hpp)
};

/// Steps of a sweep that keep the planes of a strip in the cache of a core, at most 8, and few beside the cells of
/// exchanged axes.
int depth_for_cache(const YeeGrid& grid, const comm::ProcessGrid& processes, std::size_t number_bytes);

/// @tparam T  float or double
template <class T>
class Simulation {
public:
  /// @throws InvalidArgument  on every rank, for a grid, matter or division that does not fit
  /// Collective: yes.  Cost: memory of 6 numbers a point and of what State adds.
  Simulation(const YeeGrid& grid, Matter matter, const comm::ProcessGrid& processes,
             const SimulationOptions& options = {});
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  const YeeGrid& grid() const noexcept { return state_.part().grid(); }
  const Part& part() const noexcept { return state_.part(); }
  State<T>& state() noexcept { return state_; }
  const State<T>& state() const noexcept { return state_; }

  /// Adds a source or a measurement; the same on every rank, before the first step.
  /// @return its number among those of its kind
  std::size_t add_plane_wave(const PlaneWaveSpec& spec, std::vector<double> frequencies = {});
  /// A current along E's component at one point: its moment changes with time as the waveform's integral. The current
  /// is that of the waveform, of a cell with the thickness 1 along flat axes.
  std::size_t add_current(int component, const Index3& point, const Waveform& waveform);
  /// Light through a plane.
  void add_sheet(const SheetSpec& spec);
  /// A uniform field along a vector that acts for no time: the integral of E over time is the vector. Currents of poles
  /// jump by it times their strengths; the field that matter sends out is the only one on the grid.
  /// @throws InvalidArgument  on every rank: matter with a permittivity other than 1 or a conductivity, whose answer
  ///                          would itself last no time
  void kick(const Vector3& strength);
  /// Keeps the sum of all polarisations, their dipole moment, every so many steps; a second call changes that number.
  void keep_dipole(int every);
  /// Shape (samples, 3), after steps every, 2 every, ...: integral of P of the poles over the grid, of a layer of one
  /// step along flat axes. Collective: yes.
  std::vector<double> dipole() const;
  int dipole_every() const noexcept { return dipole_every_; }
  /// Cells whose matter is somewhere else: it is told E after each step, and gives the current for the next one. A cell
  /// is a point of each component of E with the same coordinates.
  /// @param cells  a box of points of the grid
  /// @throws InvalidArgument  on every rank: a box outside of the grid, sweeps of several steps where an axis is
  ///                          exchanged, complex fields, a second call
  void add_cells(const Box& cells);
  /// The currents of the next step, charge current density times 4 pi / c in Gaussian units: shape (cells, 3), x
  /// fastest; those that this process does not hold are ignored. Collective: no.
  void set_currents(std::span<const double> currents);
  /// E at the cells after the last step, shape (cells, 3). @param everywhere  on every rank, then collective; otherwise
  /// zero at cells of other processes
  std::vector<double> cell_fields(bool everywhere = true) const;
  /// Keeps a component at a point after every step.
  std::size_t add_probe(int component, const Index3& point);
  std::size_t add_spectrum(const Box& box, std::vector<int> kept, std::vector<double> frequencies, int every);

  /// Sets a component of a copy from a function of the place, at the owned points that are not on walls.
  template <class Function>
  void set_field(int component, int copy, Function&& value) {
    const Box box = part().changing(component, 0, 0);
    for (std::int64_t z = box.lower[2]; z < box.upper[2]; ++z)
      for (std::int64_t y = box.lower[1]; y < box.upper[1]; ++y)
        for (std::int64_t x = box.lower[0]; x < box.upper[0]; ++x)
          state_.field(component, copy).at(x, y, z) =
              static_cast<T>(value(place_of(grid(), component, part().global({x, y, z}))));
    seeds_[at(component)] = true;
  }
  /// Says that a component was set in other ways.
  void touch(int component) { seeds_[at(component)] = true; }

  /// Collective: yes.
  void run(std::int64_t steps);
  std::int64_t steps() const noexcept { return steps_; }
  double time() const noexcept { return static_cast<double>(steps_) * grid().time_step; }

  /// Everything that changes with time on this process, ghosts and sums too. A simulation that was made in the same way
  /// on the same division goes on from it with the same bits. Collective: no.
  std::vector<std::byte> checkpoint();
  /// @throws InvalidArgument  on this rank: bytes of another simulation or division. Collective: no.
  void resume(std::span<const std::byte> bytes);

  /// Of the whole grid. Collective: yes.
  Energy energy();
  /// Values of a probe after every step so far. Collective: yes.
  std::vector<std::complex<double>> probe(std::size_t number) const;
  /// Its value after the last step, of the real copy; 0 on processes that do not hold it. Collective: no.
  double probe_now(std::size_t number) const;
  const PlaneWave<T>& plane_wave(std::size_t number) const { return waves_[number]; }
  /// Sums of a component at a frequency over the box of a spectrum, cut to the points that the grid has: x fastest.
  /// Collective: yes.
  std::vector<std::complex<double>> spectrum(std::size_t number, int component, std::size_t frequency) const;
  Box spectrum_box(std::size_t number, int component) const;
  /// A component on the whole grid, x fastest, of a copy. Collective: yes.
  std::vector<double> field(int component, int copy = 0) const { return field(component, copy, points_of(component)); }
  /// The same in a box of the grid. Collective: yes.
  std::vector<double> field(int component, int copy, const Box& box) const;
  /// All points of a component.
  Box points_of(int component) const noexcept;

private:
  /// Calls action(bytes) for every piece of a checkpoint, in one order.
  template <class Action>
  void for_each_piece(Action&& action);
  template <class Value, class Fill>
  std::vector<Value> gathered(const Box& global, const Box& mine, const Fill& fill) const;

  Matter matter_;
  comm::ProcessGrid processes_;
  State<T> state_;
  Update<T> update_;
  FieldHalo<T> halo_;
  std::array<bool, components> seeds_{};
  std::int64_t steps_ = 0;
  int tables_ = 0;
  std::vector<PlaneWave<T>> waves_;
  std::vector<int> wave_tables_;
  /// A table with one entry, a waveform at so many steps after the beginning of a step.
  struct Signal {
    Waveform waveform;
    int table;
    double after;
    std::vector<T> values;
  };
  std::vector<Signal> signals_;
  std::size_t currents_ = 0;
  struct Probe {
    int component;
    Index3 point;
    std::array<std::vector<T>, 2> values;
    bool here = false;
  };
  std::vector<std::unique_ptr<Probe>> probes_;
  std::vector<Spectrum<T>> spectra_;
  int dipole_every_ = 0;                   ///< 0: none is kept
  std::vector<double> dipoles_;            ///< of this process
  Box cells_;                              ///< of the grid; empty: none
  std::array<std::size_t, 3> supplies_{};  ///< of each component, in the update
};

}  // namespace halocline::maxwell
