// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Which process holds which channels, which orbitals and which part of the grid.
///
/// The processes form a grid over channels, orbitals and the three axes of space, with space fastest, x first, so that
/// processes that exchange halos are neighbours in rank. Orbitals are dealt out in blocks of `orbital_lanes`
/// (orbitals.hpp), points of an axis as evenly as they go, at least four (the reach of the stencil) to a process of a
/// split axis.
///
/// Four groups of processes come from it:
///   world()     all of them
///   space()     the same channels and orbitals: together they hold whole orbitals. Inner products, halos, atoms
///   orbitals()  the same channels and the same box. Orthogonality between orbitals
///   box_mates() the same box: all channels and orbitals. The density is a sum over this group and no other

#include "halocline/comm/process_grid.hpp"
#include "halocline/tddft/base/system.hpp"

#include <array>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Processes along each direction of division.
struct ProcessCounts {
  int channels = 1;
  int orbitals = 1;
  std::array<int, 3> space{1, 1, 1};

  int ranks() const noexcept { return channels * orbitals * space[0] * space[1] * space[2]; }
  /// "k 2 x orbitals 1 x space 1 1 2"
  std::string text() const;
};

/// The division used when none is asked for: channels first, for they need no communication but the density's; then
/// blocks of orbitals; then space, the slowest axis first, and only as far as a process keeps four points and the
/// most even division of work is not made worse.
/// @throws InvalidArgument  where no division into so many processes exists; names the nearest smaller number that has
/// one
ProcessCounts choose_counts(int ranks, const System& system);

class Decomposition {
public:
  /// @throws InvalidArgument  on every rank: counts that do not multiply to the size of the group, more processes than
  ///                          channels or blocks, fewer than four points on a split axis
  /// Collective: yes.
  Decomposition(comm::Communicator world, const System& system, ProcessCounts counts);

  const comm::Communicator& world() const noexcept { return world_; }
  const comm::Communicator& space() const noexcept { return space_; }
  const comm::Communicator& orbitals() const noexcept { return orbitals_; }
  const comm::Communicator& box_mates() const noexcept { return box_mates_; }
  /// space() as a grid; its axes are periodic as the system is.
  const comm::ProcessGrid& space_grid() const noexcept { return space_grid_; }

  const ProcessCounts& counts() const noexcept { return counts_; }
  const Grid& grid() const noexcept { return grid_; }
  const Box& box() const noexcept { return box_; }       ///< of this process
  Box box_of(int space_rank) const;                      ///< of any rank of space()
  Range channels() const noexcept { return channels_; }  ///< of this process, indices into System::channels
  Range blocks() const noexcept { return blocks_; }      ///< of this process: block b holds states 4 b ... 4 b + 3
  std::int64_t all_blocks() const noexcept { return all_blocks_; }
  /// Who holds a block of a channel: place along the orbital division.
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

}  // namespace halocline::tddft
