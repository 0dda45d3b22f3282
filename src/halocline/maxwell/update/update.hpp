// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Steps of Yee's scheme, several of them in one sweep through the grid.
///
/// One step updates H at all points and then E. A sweep updates H and E of one plane after the other, and while a plane
/// is in cache, the planes behind it do the next step: with step s two planes behind step s - 1, all that it reads is
/// done and nothing that is still read has been overwritten. So `depth` steps move each number through memory once. The
/// arithmetic at a point is the same in any order, and so are the bits.
///
/// The threads share the rows of a plane, or parts of the rows where there are few, and meet twice a plane: when H of
/// all steps is done there, and when E is.
///
/// Cost of a step in empty space, of a point: 36 flops; 18 numbers move through memory step by step, and 12 / depth in
/// sweeps whose planes stay in cache.

#include "halocline/maxwell/update/state.hpp"

#include <cstdint>
#include <vector>

namespace halocline::maxwell {

/// Numbers of sources at the time of one half step: index i is that of point i of the grid along the source's axis.
template <class T>
struct DriveTable {
  const T* origin = nullptr;
};

/// Adds gain * scale * table[entry] to a component at the points of a box. The gain of H is minus the time step.
template <class T>
struct Drive {
  int component;
  Box box;  ///< of the process
  T scale;
  std::array<T, 2> turn{1, 0};  ///< factor of the real and of the imaginary copy
  int table;                    ///< which of a stage's tables
  int axis;                     ///< along which the table is read; -1: the entry is `shift` everywhere
  std::int64_t shift;           ///< added to the coordinate of the process to find the entry
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

  void add(const Drive<T>& drive) { drives_[at(drive.component)].push_back(drive); }
  void add(const Tap<T>& tap) { taps_[at(tap.component)].push_back(tap); }
  /// Components that never leave zero are not updated: those that no source and no start value reaches. All are at
  /// first; the argument replaces them, closed under the curls of this grid.
  void set_active(std::array<bool, components> seeds);
  const std::array<bool, components>& active() const noexcept { return active_; }

  /// Does steps. At the start, ghosts of exchanged axes hold the neighbours' points.
  /// @param tables  shape (steps, number of tables): for each step, the tables that drives read
  /// @param steps   at most the depth of the part, where an axis is exchanged
  /// Collective: no.
  void advance(const std::vector<std::vector<DriveTable<T>>>& tables, int steps);

private:
  struct Stage {
    std::array<Box, components> box;
    const std::vector<DriveTable<T>>* tables;
  };
  /// What one thread does of a plane: rows of the middle axis, and points along x.
  struct Piece {
    std::int64_t middle_lower, middle_upper, x_lower, x_upper;
  };

  void planes(const std::vector<Stage>& stages, bool electric, std::int64_t wave, const Piece& piece);
  void row(int component, const Stage& stage, std::int64_t y, std::int64_t z, std::int64_t x_lower,
           std::int64_t x_upper);
  void row_of_copy(int component, int copy, const Stage& stage, std::int64_t y, std::int64_t z, std::int64_t x_lower,
                   std::int64_t x_upper);
  void mirror(int component, int copy, std::int64_t y, std::int64_t z, std::int64_t x_lower, std::int64_t x_upper);

  State<T>& state_;
  int slow_, middle_;  ///< axes of the sweep and of the rows of a plane
  std::array<bool, components> active_;
  std::array<std::vector<Drive<T>>, components> drives_;
  std::array<std::vector<Tap<T>>, components> taps_;
};

}  // namespace halocline::maxwell
