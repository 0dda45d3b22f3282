// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A plane wave that enters a box: total field inside, scattered field outside.
///
/// The wave travels along an axis of the grid. It is a solution of the scheme in one dimension, on a line of the same
/// step and time step, and therefore the box has no error of its own: outside of it an empty grid stays at rounding.
/// The line begins with a node that follows the waveform, and ends in an absorbing layer (Taflove and Hagness,
/// Computational Electrodynamics, 3rd edition, section 5.8). The background is a medium without poles and conductivity.
/// In a cylindrical grid with m = 1 it travels along z with E along x, and the box is a can about the axis.

#include "halocline/maxwell/source/waveform.hpp"
#include "halocline/maxwell/update/update.hpp"

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::maxwell {

struct PlaneWaveSpec {
  int axis = 0;
  int direction = 1;       ///< +1 or -1 along the axis
  Vector3 polarisation{};  ///< of E, at right angles to the axis; its length is the amplitude
  /// Nodes of the total field, both ends included. On axes that it covers from end to end of a periodic or flat axis it
  /// has no faces. Where the wave leaves the grid, the box may reach beyond its end (upper >= cells, or lower <= 0 of a
  /// wave that travels down): then there is no face, and the matter there may be another than the background.
  Index3 lower{}, upper{};
  Waveform waveform;  ///< E at the node before the first face
};

template <class T>
class PlaneWave {
public:
  /// @param frequencies  at which the incident field is summed; may be empty
  /// @throws InvalidArgument  a polarisation along the axis or zero, a box outside of the grid or inside an absorbing
  ///                          layer, matter with poles or conductivity
  PlaneWave(const YeeGrid& grid, const Medium& background, const PlaneWaveSpec& spec,
            std::vector<double> frequencies = {});

  /// The drives of its faces, for the tables with these two numbers: E and H of the line.
  std::vector<Drive<T>> drives(const Part& part, int table_of_e, int table_of_h) const;

  /// Lets the line do steps, and keeps what the drives need of each of them.
  void advance(int steps);
  DriveTable<T> e(int step) const noexcept { return {kept_[at(2 * step)].data() - first_}; }
  DriveTable<T> h(int step) const noexcept { return {kept_[at(2 * step + 1)].data() - first_}; }

  /// The wave's field at a node of the grid after the last step, over the polarisation.
  double at_node(std::int64_t node) const noexcept { return e_[static_cast<std::size_t>(node - first_)]; }

  /// Energy through a unit of area at each frequency, of the wave in the scheme: Re(E H*) / 2 of the sums over time,
  /// times the time step squared, positive along its direction.
  std::vector<double> flux() const;
  /// Sum over time of E exp(i omega t) dt at the first node of the total field.
  const std::vector<std::complex<double>>& spectrum() const noexcept { return sum_e_; }

  /// Everything that changes with time, for a restart.
  std::vector<double> state() const;
  void set_state(std::span<const double> numbers);

private:
  YeeGrid grid_;
  PlaneWaveSpec spec_;
  double permittivity_;
  std::int64_t first_ = 0, last_ = 0;  ///< nodes of the line
  std::int64_t source_ = 0, entry_ = 0;
  std::int64_t done_ = 0;
  std::vector<double> e_, h_, psi_e_, psi_h_;
  std::vector<double> b_e_, c_e_, b_h_, c_h_;
  std::vector<std::vector<T>> kept_;
  std::vector<double> frequencies_;
  std::vector<std::complex<double>> sum_e_, sum_h_;
};

}  // namespace halocline::maxwell
