// SPDX-License-Identifier: Apache-2.0
/// @file
/// Coordinates and neighbours on the process grid.

#include "halocline/comm/group/process_grid.hpp"

#include "halocline/comm/group/text.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace halocline::comm {
namespace {

void check_arguments(std::span<const int> dims, const std::vector<bool>& periodic, int ranks) {
  const std::string given = "process grid " + detail::joined(dims, " x ");
  if (dims.empty()) throw core::InvalidArgument("a process grid without axes was given, expected at least one");
  std::int64_t product = 1;
  for (const int d : dims) {
    if (d < 1) throw core::InvalidArgument(given + ": every axis needs at least one process");
    product *= d;
    if (product > ranks) break;
  }
  if (product != ranks) {
    throw core::InvalidArgument(given + " does not hold the " + std::to_string(ranks) +
                                " processes of this run; its numbers must multiply to " + std::to_string(ranks));
  }
  if (periodic.size() != dims.size()) {
    throw core::InvalidArgument(given + " with " + std::to_string(periodic.size()) +
                                " periodic flags, expected one for each axis");
  }
}

/// The permutation and its inverse.
/// @throws InvalidArgument  naming the first place at fault
detail::Permutation permutation_of(std::span<const int> ranks, int size) {
  if (ranks.size() != static_cast<std::size_t>(size)) {
    throw core::InvalidArgument("an order of " + std::to_string(ranks.size()) + " ranks given for a process grid of " +
                                std::to_string(size) + "; give each rank once, or none for the plain order");
  }
  detail::Permutation order{{ranks.begin(), ranks.end()}, std::vector<int>(ranks.size(), -1)};
  for (int place = 0; place < size; ++place) {
    const int rank = order.rank_at[static_cast<std::size_t>(place)];
    const bool inside = rank >= 0 && rank < size;
    if (!inside || order.place_of[static_cast<std::size_t>(rank)] >= 0) {
      throw core::InvalidArgument(
          "rank " + std::to_string(rank) + " at place " + std::to_string(place) +
          (inside ? " stands at place " + std::to_string(order.place_of[static_cast<std::size_t>(rank)]) +
                        " too; give each rank of the grid once"
                  : " of the process grid given, expected ranks 0 to " + std::to_string(size - 1) + ", each once"));
    }
    order.place_of[static_cast<std::size_t>(rank)] = place;
  }
  return order;
}

/// 62 bits that tell two orders apart (FNV-1a), as two non-negative ints.
std::array<int, 2> digest(std::span<const int> ranks) {
  std::uint64_t hash = 14695981039346656037U;
  for (const int rank : ranks) hash = (hash ^ static_cast<std::uint32_t>(rank)) * 1099511628211U;
  return {static_cast<int>(hash >> 33), static_cast<int>(hash & 0x7fffffffU)};
}

}  // namespace

ProcessGrid::ProcessGrid(Communicator group, std::vector<int> dims, std::vector<bool> periodic,
                         std::span<const int> ranks)
    : group_(std::move(group)), dims_(std::move(dims)), periodic_(std::move(periodic)) {
  if (periodic_.empty()) periodic_.assign(dims_.size(), true);
  on_every_rank(group_, [&] {
    check_arguments(dims_, periodic_, size());
    if (!ranks.empty()) order_ = std::make_shared<const detail::Permutation>(permutation_of(ranks, size()));
  });

  // Ranks given different grids would wait for each other's messages for ever: compare before the first one.
  std::vector<int> mine(dims_);
  mine.insert(mine.end(), periodic_.begin(), periodic_.end());
  const std::array<int, 2> order = digest(ranks);
  mine.insert(mine.end(), order.begin(), order.end());
  const std::vector<std::byte> all = group_.allgather(std::as_bytes(std::span(mine)));
  const std::size_t length = mine.size() * sizeof(int);
  on_every_rank(group_, [&] {
    const auto own = std::as_bytes(std::span(mine));
    const bool same =
        all.size() == length * static_cast<std::size_t>(size()) && std::equal(own.begin(), own.end(), all.begin());
    if (!same)
      throw core::InvalidArgument("process grid " + detail::joined(this->dims(), " x ") +
                                  ", or its order of ranks, differs from that of rank 0");
  });
  coords_ = coords_of(rank());
}

int ProcessGrid::neighbour(Face face) const { return neighbour_of(rank(), face); }

int ProcessGrid::neighbour_of(int rank, Face face) const {
  if (face.axis < 0 || face.axis >= ndim() || (face.direction != 1 && face.direction != -1)) {
    throw core::InvalidArgument("face of axis " + std::to_string(face.axis) + ", direction " +
                                std::to_string(face.direction) + " given; axes are 0 to " + std::to_string(ndim() - 1) +
                                ", directions -1 and +1");
  }
  std::vector<int> coords = coords_of(rank);
  const auto axis = static_cast<std::size_t>(face.axis);
  const int beyond = coords[axis] + face.direction;
  if (!periodic_[axis] && (beyond < 0 || beyond >= dims_[axis])) return -1;
  coords[axis] = (beyond + dims_[axis]) % dims_[axis];
  return rank_of(coords);
}

int ProcessGrid::rank_of(std::span<const int> coords) const {
  bool inside = coords.size() == dims_.size();
  int place = 0;
  for (std::size_t axis = dims_.size(); inside && axis-- > 0;) {
    inside = coords[axis] >= 0 && coords[axis] < dims_[axis];
    place = place * dims_[axis] + coords[axis];
  }
  if (!inside) {
    throw core::InvalidArgument("coordinates (" + detail::joined(coords, ", ") + ") are outside the process grid " +
                                detail::joined(dims(), " x "));
  }
  return order_ ? order_->rank_at[static_cast<std::size_t>(place)] : place;
}

std::vector<int> ProcessGrid::coords_of(int rank) const {
  if (rank < 0 || rank >= size()) {
    throw core::InvalidArgument("rank " + std::to_string(rank) + " given, but the process grid has ranks 0 to " +
                                std::to_string(size() - 1));
  }
  int place = order_ ? order_->place_of[static_cast<std::size_t>(rank)] : rank;
  std::vector<int> coords(dims_.size());
  for (std::size_t axis = 0; axis < dims_.size(); ++axis) {
    coords[axis] = place % dims_[axis];
    place /= dims_[axis];
  }
  return coords;
}

}  // namespace halocline::comm
