// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The division of channels, orbitals and grid points among the processes.
///
/// The processes form a grid over channels, orbitals and the three axes of space. Space varies fastest, x first, so
/// that processes that exchange halos have neighbouring ranks. Orbitals are distributed in blocks of `orbital_lanes`
/// (orbitals.hpp). The points of an axis are distributed as evenly as possible; on a split axis each process has at
/// least four (the reach of the stencil).
///
/// This defines four groups of processes:
///   world()     all processes
///   space()     the same channels and orbitals: together they hold whole orbitals. Inner products, halos, atoms
///   orbitals()  the same channels and the same box. Orthogonality between orbitals
///   box_mates() the same box: all channels and orbitals. The density is a sum over exactly this group

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/tddft/base/system.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Number of processes along each direction of the division.
struct ProcessCounts {
  int channels = 1;
  int orbitals = 1;
  std::array<int, 3> space{1, 1, 1};

  int ranks() const noexcept { return channels * orbitals * space[0] * space[1] * space[2]; }
  /// "k 2 x orbitals 1 x space 1 1 2"
  std::string text() const;
};

/// The default division. It minimises, in this order: the largest work of a process; the number of processes over
/// space; the halo points (x counts double); the number of processes over orbitals. Channels come first because only
/// the density needs their communication, then blocks of orbitals, then space, with the slowest axis preferred.
/// @throws InvalidArgument  no division into `ranks` processes exists; names the nearest smaller number that has one
ProcessCounts choose_counts(int ranks, const System& system);

class Decomposition {
public:
  /// @throws InvalidArgument  on every rank: counts whose product is not the size of the group, more processes than
  ///                          channels or blocks, fewer than four points on a split axis
  /// Collective: yes.
  Decomposition(comm::Communicator world, const System& system, ProcessCounts counts);

  const comm::Communicator& world() const noexcept { return world_; }
  const comm::Communicator& space() const noexcept { return space_; }
  const comm::Communicator& orbitals() const noexcept { return orbitals_; }
  const comm::Communicator& box_mates() const noexcept { return box_mates_; }
  /// space() as a grid; its axes are periodic if the system is.
  const comm::ProcessGrid& space_grid() const noexcept { return space_grid_; }

  const ProcessCounts& counts() const noexcept { return counts_; }
  const Grid& grid() const noexcept { return grid_; }
  const Box& box() const noexcept { return box_; }       ///< of this process
  Box box_of(int space_rank) const;                      ///< of any rank of space()
  Range channels() const noexcept { return channels_; }  ///< of this process, indices into System::channels
  Range blocks() const noexcept { return blocks_; }      ///< of this process: block b holds states 4 b ... 4 b + 3
  std::int64_t all_blocks() const noexcept { return all_blocks_; }
  /// The process that holds a block of a channel, as its index along the orbital division.
  int orbital_part_of(std::int64_t block) const noexcept;

private:
  comm::Communicator world_, space_, orbitals_, box_mates_;
  ProcessCounts counts_;
  Grid grid_;
  Box box_;
  Range channels_, blocks_;
  std::int64_t all_blocks_ = 0;
  comm::ProcessGrid space_grid_;
};

/// A field on the whole grid from the bytes of all boxes, in the order of the ranks of space().
std::vector<double> assembled(const Decomposition& decomposition, std::span<const std::byte> of_boxes);

/// A field of this process's box and all others, on the whole grid. @param values  shape (points of the box,)
/// Collective over decomposition.space().
std::vector<double> on_whole_grid(const Decomposition& decomposition, std::span<const double> values);

}  // namespace halocline::tddft
