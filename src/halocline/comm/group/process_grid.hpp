// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The processes as points of an N-dimensional grid, and the choice of its shape.
///
/// Places of the grid are numbered lexicographically with axis 0 (x) fastest: place = c0 + d0 (c1 + d1 (c2 + ...)).
/// The rank at a place has the number of the place, unless the caller gives a permutation of the ranks. A permutation
/// puts neighbours of the grid on near nodes even if the machine started the processes in another order.
/// Each axis is periodic or ends. Along a periodic axis of one process, a process is its own neighbour on both faces.

#include "halocline/comm/group/communicator.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halocline::comm {

/// One of the 2 ndim sides of a process's part.
struct Face {
  int axis;
  int direction;  ///< -1 or +1

  /// 2 axis for the lower side, 2 axis + 1 for the upper.
  constexpr int index() const noexcept { return 2 * axis + (direction > 0 ? 1 : 0); }
  constexpr Face opposite() const noexcept { return {axis, -direction}; }
  static constexpr Face from_index(int index) noexcept { return {index / 2, index % 2 == 0 ? -1 : 1}; }
  friend constexpr bool operator==(const Face&, const Face&) = default;
};

namespace detail {
/// Ranks by place, and places by rank.
struct Permutation {
  std::vector<int> rank_at, place_of;
};
}  // namespace detail

/// Processes on a grid. A value; copies share the communicator and the permutation.
class ProcessGrid {
public:
  /// @param group     its ranks fill the grid exactly
  /// @param dims      processes along each axis; at least one axis
  /// @param periodic  shape (ndim,); empty: every axis is periodic
  /// @param ranks     shape (size,): the rank at each place, each rank once; empty: the rank equals the number of the
  ///                  place
  /// @throws InvalidArgument  on every rank: sizes that do not fit together, ranks that are no permutation, or grids
  ///                          or permutations that differ between ranks
  /// Collective: yes.
  ProcessGrid(Communicator group, std::vector<int> dims, std::vector<bool> periodic = {},
              std::span<const int> ranks = {});

  int ndim() const noexcept { return static_cast<int>(dims_.size()); }
  std::span<const int> dims() const noexcept { return dims_; }
  std::span<const int> coords() const noexcept { return coords_; }
  bool periodic(int axis) const noexcept { return periodic_[static_cast<std::size_t>(axis)]; }
  int rank() const noexcept { return group_.rank(); }
  int size() const noexcept { return group_.size(); }
  const Communicator& communicator() const noexcept { return group_; }

  /// Rank on the other side of a face; -1 at an open end.
  int neighbour(Face face) const;
  /// The same for any rank of the grid.
  int neighbour_of(int rank, Face face) const;

  /// @throws InvalidArgument  for coordinates outside the grid
  int rank_of(std::span<const int> coords) const;
  /// @throws InvalidArgument  for a rank outside the grid
  std::vector<int> coords_of(int rank) const;

private:
  Communicator group_;
  std::vector<int> dims_;
  std::vector<bool> periodic_;
  std::vector<int> coords_;
  std::shared_ptr<const detail::Permutation> order_;  ///< null: ranks run in order
};

/// The grid of `ranks` processes that moves the least halo. The candidates are all factorisations into one number per
/// axis whose local extents are multiples of `required_multiple`. The one with the smallest sum of face areas over
/// split axes wins; of equals, the one that splits the slowest axis most.
/// @param global_extents     sites along each axis, axis 0 first
/// @param required_multiple  shape (ndim,), of every local extent. Empty: 2 on every axis if any grid allows it, else
///                           2 on axis 0 and 1 on the others
/// @throws InvalidArgument  when no grid is possible; names the nearest possible numbers of processes
/// Collective: no; a pure function.  Cost: the number of divisors of the extents, multiplied over the axes.
std::vector<int> least_surface_grid(std::span<const std::int64_t> global_extents, int ranks,
                                    std::span<const std::int64_t> required_multiple = {});

/// Checks a grid that the caller chose.
/// @throws InvalidArgument  when dims do not multiply to `ranks`, or a local extent is no multiple of
///                          `required_multiple` (empty: 2 on axis 0, 1 elsewhere); lists the possible grids
void check_grid(std::span<const std::int64_t> global_extents, std::span<const int> dims, int ranks,
                std::span<const std::int64_t> required_multiple = {});

/// Every grid of `ranks` processes with local extents that are multiples of `required_multiple`, least surface first.
std::vector<std::vector<int>> possible_grids(std::span<const std::int64_t> global_extents, int ranks,
                                             std::span<const std::int64_t> required_multiple);

}  // namespace halocline::comm
