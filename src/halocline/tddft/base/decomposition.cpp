// SPDX-License-Identifier: Apache-2.0
/// @file
/// Distributes channels, blocks of orbitals and the grid, and makes the groups of processes.

#include "halocline/tddft/base/decomposition.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/index.hpp"
#include "halocline/tddft/base/orbitals.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <tuple>

namespace halocline::tddft {
namespace {

constexpr std::int64_t reach = 4;  // of the stencil

std::int64_t blocks_of(int states) { return (states + orbital_lanes - 1) / orbital_lanes; }

/// Number of points of the largest box.
std::int64_t largest_box(const Grid& grid, const std::array<int, 3>& space) {
  std::int64_t points = 1;
  for (int axis = 0; axis < 3; ++axis) points *= part_of(grid.extent[at(axis)], space[at(axis)], 0).size();
  return points;
}

bool splits(const Grid& grid, const std::array<int, 3>& space) {
  for (int axis = 0; axis < 3; ++axis)
    if (space[at(axis)] > 1 && grid.extent[at(axis)] / space[at(axis)] < reach) return false;
  return true;
}

/// Number of points in the halo faces of the largest box. x counts double, because its faces are strided.
std::int64_t surface(const Grid& grid, const std::array<int, 3>& space) {
  const std::int64_t points = largest_box(grid, space);
  std::int64_t sum = 0;
  for (int axis = 0; axis < 3; ++axis)
    if (space[at(axis)] > 1)
      sum += (axis == 0 ? 2 : 1) * points / part_of(grid.extent[at(axis)], space[at(axis)], 0).size();
  return sum;
}

std::optional<ProcessCounts> best_counts(int ranks, const System& system) {
  const auto channels = static_cast<std::int64_t>(system.channels.size());
  const std::int64_t blocks = blocks_of(system.states);
  using Cost = std::tuple<std::int64_t, int, std::int64_t, int, int, int>;
  std::optional<std::pair<Cost, ProcessCounts>> best;
  for (int k = 1; k <= ranks; ++k) {
    if (ranks % k != 0 || k > channels) continue;
    for (int o = 1; o <= ranks / k; ++o) {
      if (ranks / k % o != 0 || o > blocks) continue;
      const int rest = ranks / k / o;
      for (int x = 1; x <= rest; ++x) {
        if (rest % x != 0) continue;
        for (int y = 1; y <= rest / x; ++y) {
          if (rest / x % y != 0) continue;
          const std::array space{x, y, rest / x / y};
          if (!splits(system.grid, space)) continue;
          const std::int64_t work =
              part_of(channels, k, 0).size() * part_of(blocks, o, 0).size() * largest_box(system.grid, space);
          const Cost cost{work, rest, surface(system.grid, space), o, x, y};
          if (!best || cost < best->first) best.emplace(cost, ProcessCounts{k, o, space});
        }
      }
    }
  }
  if (!best) return std::nullopt;
  return best->second;
}

void check_counts(int ranks, const System& system, const ProcessCounts& counts) {
  const auto wrong = [](const std::string& sentence) { throw core::InvalidArgument(sentence); };
  for (const int n : {counts.channels, counts.orbitals, counts.space[0], counts.space[1], counts.space[2]})
    if (n < 1) wrong(fmt::format("the division {} has a number below 1", counts.text()));
  if (counts.ranks() != ranks)
    wrong(fmt::format("the division {} is for {} processes, but there are {}", counts.text(), counts.ranks(), ranks));
  if (counts.channels > static_cast<int>(system.channels.size()))
    wrong(fmt::format("{} processes over k-points (times spins) asked for, but there are only {}", counts.channels,
                      system.channels.size()));
  if (counts.orbitals > blocks_of(system.states))
    wrong(fmt::format("{} processes over orbitals asked for, but {} states make only {} blocks of {}", counts.orbitals,
                      system.states, blocks_of(system.states), orbital_lanes));
  for (int axis = 0; axis < 3; ++axis)
    if (counts.space[at(axis)] > 1 && system.grid.extent[at(axis)] / counts.space[at(axis)] < reach)
      wrong(fmt::format("{} processes along axis {} leave fewer than {} of its {} points to one; at most {} will do",
                        counts.space[at(axis)], axis, reach, system.grid.extent[at(axis)],
                        std::max<std::int64_t>(1, system.grid.extent[at(axis)] / reach)));
}

ProcessCounts checked(const comm::Communicator& world, const System& system, const ProcessCounts& counts) {
  comm::on_every_rank(world, [&] { check_counts(world.size(), system, counts); });
  return counts;
}

/// Position of a rank in the division: space fastest, then orbitals, then channels.
struct Place {
  int space, orbital, channel;
  Place(int rank, const ProcessCounts& counts) {
    const int points = counts.space[0] * counts.space[1] * counts.space[2];
    space = rank % points;
    orbital = rank / points % counts.orbitals;
    channel = rank / points / counts.orbitals;
  }
};

comm::ProcessGrid make_space_grid(const comm::Communicator& space, const Grid& grid, const ProcessCounts& counts) {
  const bool periodic = grid.boundary == Boundary::periodic;
  return comm::ProcessGrid(space, {counts.space[0], counts.space[1], counts.space[2]}, {periodic, periodic, periodic});
}

}  // namespace

std::string ProcessCounts::text() const {
  return fmt::format("k {} x orbitals {} x space {} {} {}", channels, orbitals, space[0], space[1], space[2]);
}

ProcessCounts choose_counts(int ranks, const System& system) {
  if (const auto best = best_counts(ranks, system)) return *best;
  int fewer = ranks - 1;
  while (fewer > 1 && !best_counts(fewer, system)) --fewer;
  throw core::InvalidArgument(fmt::format(
      "{} processes cannot share {} k-points (times spins), {} states and {} x {} x {} points with at least "
      "{} points to a process on a split axis; {} can",
      ranks, system.channels.size(), system.states, system.grid.extent[0], system.grid.extent[1], system.grid.extent[2],
      reach, fewer));
}

Decomposition::Decomposition(comm::Communicator world, const System& system, ProcessCounts counts)
    : world_(std::move(world)),
      space_(world_),
      orbitals_(world_),
      box_mates_(world_),
      counts_(checked(world_, system, counts)),
      grid_(system.grid),
      all_blocks_(blocks_of(system.states)),
      space_grid_([&] {
        const Place place(world_.rank(), counts_);
        const int points = counts_.space[0] * counts_.space[1] * counts_.space[2];
        space_ = world_.split(place.orbital + counts_.orbitals * place.channel, place.space);
        orbitals_ = world_.split(place.space + points * place.channel, place.orbital);
        box_mates_ = world_.split(place.space, place.orbital + counts_.orbitals * place.channel);
        return make_space_grid(space_, grid_, counts_);
      }()) {
  const Place place(world_.rank(), counts_);
  box_ = box_of(place.space);
  channels_ = part_of(static_cast<std::int64_t>(system.channels.size()), counts_.channels, place.channel);
  blocks_ = part_of(all_blocks_, counts_.orbitals, place.orbital);
}

Box Decomposition::box_of(int space_rank) const {
  const std::vector<int> coords = space_grid_.coords_of(space_rank);
  Box box;
  for (int axis = 0; axis < 3; ++axis) {
    const Range part = part_of(grid_.extent[at(axis)], counts_.space[at(axis)], coords[at(axis)]);
    box.offset[at(axis)] = part.begin;
    box.extent[at(axis)] = part.size();
  }
  return box;
}

int Decomposition::orbital_part_of(std::int64_t block) const noexcept {
  for (int part = 0; part < counts_.orbitals; ++part)
    if (block < part_of(all_blocks_, counts_.orbitals, part).end) return part;
  return counts_.orbitals - 1;
}

std::vector<double> assembled(const Decomposition& decomposition, std::span<const std::byte> of_boxes) {
  const Grid& grid = decomposition.grid();
  std::vector<double> whole(at(grid.points()));
  const std::byte* from = of_boxes.data();
  for (int rank = 0; rank < decomposition.space().size(); ++rank) {
    const Box box = decomposition.box_of(rank);
    const std::size_t row = at(box.extent[0]) * sizeof(double);
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y, from += row)
        std::memcpy(whole.data() + box.offset[0] +
                        grid.extent[0] * (box.offset[1] + y + grid.extent[1] * (box.offset[2] + z)),
                    from, row);
  }
  return whole;
}

std::vector<double> on_whole_grid(const Decomposition& decomposition, std::span<const double> values) {
  return assembled(decomposition, decomposition.space().allgather(std::as_bytes(values)));
}

}  // namespace halocline::tddft
