// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Steps of Yee's scheme, several of them in one sweep through the grid.
///
/// One step updates H at all points and then E. A sweep does both row by row, one plane after the other, and while a
/// plane is in cache, the plane behind it does the next step: with step s one plane behind step s - 1, all that it
/// reads is done and nothing that is still read has been overwritten. The planes are cut into strips so narrow that the
/// planes of all steps stay in the cache of a core. A strip begins one row earlier for each step, so that it needs
/// nothing from the strip after it; the strip before it must be as far along the sweep. So a grid moves through memory
/// once in `depth` steps, and threads work on strips one behind the other, without barriers. The arithmetic at a point
/// is the same in any order, and so are the bits.
///
/// Cost of a step in empty space, of a point: 36 flops; 18 numbers move through memory step by step, and 12 / depth in
/// sweeps whose planes stay in cache.

#include "halocline/maxwell/update/state.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace halocline::maxwell {

/// Numbers of sources at the time of one half step: index i is that of point i of the grid along the source's axis.
template <class T>
struct DriveTable {
  const T* origin = nullptr;
};

/// Adds gain * scale * table[entry] to a component at the points of a box, times its profile where it has one. The gain
/// of H is minus the time step.
template <class T>
struct Drive {
  int component;
  Box box;  ///< of the process
  T scale;
  std::array<T, 2> turn{1, 0};                   ///< factor of the real and of the imaginary copy
  int table;                                     ///< which of a stage's tables
  int axis;                                      ///< along which the table is read; -1: the entry is `shift` everywhere
  std::int64_t shift;                            ///< added to the coordinate of the process to find the entry
  std::shared_ptr<const BoxArray<T>> profile{};  ///< over the box; with it the axis is -1
};

/// Currents along a component of E at the points of a box, set anew for each step: E gains -gain current.
template <class T>
struct Supply {
  int component;
  BoxArray<T> current;  ///< over a box of the process
};

/// A point whose value is kept after every step.
template <class T>
struct Tap {
  int component;
  Index3 point;  ///< of the process
  int copy;
  std::vector<T>* values;
};

template <class T>
class Update {
public:
  explicit Update(State<T>& state);

  void add(const Drive<T>& drive);
  void add(const Tap<T>& tap);
  /// @return where its currents are set
  std::size_t add(Supply<T> supply);
  BoxArray<T>& supply(std::size_t number) noexcept { return supplies_[number].current; }
  /// Components that never leave zero are not updated: those that no source and no start value reaches. All are at
  /// first; the argument replaces them, closed under the curls of this grid.
  void set_active(std::array<bool, components> seeds);

  /// Does steps. At the start, ghosts of exchanged axes hold the neighbours' points.
  /// @param tables  shape (steps, number of tables): for each step, the tables that drives read
  /// @param steps   at most the depth of the part, where an axis is exchanged
  /// Collective: no.
  void advance(const std::vector<std::vector<DriveTable<T>>>& tables, int steps);

private:
  using Range = std::array<std::int64_t, 2>;
  struct Stage {
    std::array<Box, components> box;
    const std::vector<DriveTable<T>>* tables;
  };
  /// Strips of rows of the middle axis, or of points along x where planes have one row.
  struct Strips {
    int axis;
    std::int64_t lower, width, count;
  };

  Strips strips_for(int steps, int threads) const;
  void strip(const std::vector<Stage>& stages, const Strips& strips, std::int64_t number, std::int64_t wave);
  /// Asks for a row that the sweep will come to.
  void fetch(std::int64_t y, std::int64_t z, Range x) const;
  void rows(bool of_e, const Stage& stage, std::int64_t y, std::int64_t z, Range x);
  bool curls_together(bool of_e, int copy, std::int64_t y, std::int64_t z, const std::array<Range, 3>& x);
  void before_curl(int component, int copy, std::int64_t y, std::int64_t z, Range x);
  void curl(int component, int copy, std::int64_t y, std::int64_t z, Range x);
  void after_curl(int component, int copy, const Stage& stage, std::int64_t y, std::int64_t z, Range x);
  void mirror(int component, int copy, std::int64_t y, std::int64_t z, Range x);
  /// Says that rows of a component that a box touches need after_curl.
  void mark(int component, const Box& box);

  template <class Action>
  void with_gain(int component, std::int64_t y, std::int64_t z, std::size_t row, Action&& action) const;
  template <class Action>
  void with_poles(int component, std::int64_t y, std::int64_t z, Range x, Action&& action);

  State<T>& state_;
  T dt_;
  T azimuthal_ = 0;                   ///< m of a cylindrical grid
  int slow_, middle_;                 ///< axes of the sweep and of the rows of a plane
  std::array<std::int64_t, 3> next_;  ///< distance of neighbours in memory; 0 along flat axes
  std::array<bool, components> active_;
  std::array<std::vector<std::uint8_t>, components> marked_;  ///< rows that need after_curl
  std::array<std::vector<std::uint8_t>, 3> answers_;          ///< rows that need before_curl
  std::array<std::vector<Drive<T>>, components> drives_;
  std::array<std::vector<Tap<T>>, components> taps_;
  std::vector<Supply<T>> supplies_;
};

}  // namespace halocline::maxwell
