// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where boxes lie in memory that a transport gets from a library, and where they lie at the neighbours.
///
/// A one-sided transport has one block that other processes write into (a window, a piece of a symmetric heap,
/// registered pages). It plans this block here: the inboxes, and for each face one line into which the neighbour puts
/// its acknowledgements. Outboxes follow in the same block if they must be registered too; otherwise they have a
/// block of their own. Faces whose neighbour is this process itself are not in the plan: their messages need no
/// network.
///
/// All sizes are multiples of the alignment. A box has the layout of boxes.hpp with that alignment, so a message
/// covers whole lines of it up to the flag.

#include "halocline/comm/group/process_grid.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace halocline::comm::detail {

/// A wait polls memory. Once in this many polls it lets the library below make progress.
inline constexpr unsigned looks_between_progress = 16;

/// Offsets are bytes from the beginning of a block that is aligned as the plan is.
class BoxPlan {
public:
  BoxPlan() = default;

  /// @param capacity   shape (2 ndim,) [bytes]; @param slots  boxes a face
  /// @param alignment  a power of two, at least 64
  BoxPlan(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots, std::size_t alignment)
      : slots_(static_cast<std::size_t>(slots)), alignment_(alignment) {
    for (std::size_t face = 0; face < capacity.size(); ++face) {
      const int neighbour = grid.neighbour(Face::from_index(static_cast<int>(face)));
      const bool remote = neighbour >= 0 && neighbour != grid.rank() && capacity[face] > 0;
      neighbour_.push_back(remote ? neighbour : -1);
      size_.push_back(remote ? up(capacity[face] + flag_bytes) : 0);
      box_.push_back(bytes_);
      bytes_ += slots_ * size_.back();
      acknowledged_.push_back(bytes_);
      bytes_ += remote ? alignment_ : 0;
    }
  }

  int faces() const noexcept { return static_cast<int>(size_.size()); }
  int slots() const noexcept { return static_cast<int>(slots_); }
  /// The neighbour of this face is another process.
  bool remote(int face) const noexcept { return neighbour(face) >= 0; }
  /// Rank on the other side of a remote face; -1 else.
  int neighbour(int face) const noexcept { return neighbour_[at(face)]; }
  /// Bytes of all inboxes and acknowledgements. A block of this size also holds all outboxes, at the offsets of the
  /// inboxes.
  std::size_t bytes() const noexcept { return bytes_; }

  std::size_t box(int face, int slot) const noexcept {
    return box_[at(face)] + static_cast<std::size_t>(slot) * size_[at(face)];
  }
  std::size_t acknowledged(int face) const noexcept { return acknowledged_[at(face)]; }
  std::size_t flag(int face, int slot) const noexcept { return box(face, slot) + size_[at(face)] - flag_bytes; }
  /// Where a message of this length begins.
  std::size_t data(int face, int slot, std::size_t bytes) const noexcept {
    return box(face, slot) + down(size_[at(face)] - flag_bytes - bytes);
  }
  /// The number of a box in the order of (face, slot).
  std::size_t index(int face, int slot) const noexcept { return at(face) * slots_ + static_cast<std::size_t>(slot); }

  /// Exchanges one word for each face with the neighbour there.
  /// @param mine  shape (2 ndim,): the words of this rank for its faces
  /// @return shape (2 ndim,): the words of the neighbours for their opposite faces, 0 for a face that is not remote
  /// Collective: yes.  Cost: an all-gather of 16 ndim bytes a rank
  std::vector<std::uint64_t> from_neighbours(const ProcessGrid& grid, const std::vector<std::uint64_t>& mine) const {
    const std::vector<std::byte> all = grid.communicator().allgather(std::as_bytes(std::span(mine)));
    std::vector<std::uint64_t> theirs(mine.size());
    for (int face = 0; face < faces(); ++face) {
      if (!remote(face)) continue;
      const std::size_t place = at(neighbour(face)) * mine.size() + at(face ^ 1);
      std::memcpy(&theirs[at(face)], all.data() + place * sizeof(std::uint64_t), sizeof(std::uint64_t));
    }
    return theirs;
  }
  /// Where the first inbox of each face is, and below where its acknowledgement is: shape (2 ndim,), for
  /// from_neighbours().
  /// @param origin  shape (2 ndim,), added to each
  std::vector<std::uint64_t> first_boxes(std::vector<std::uint64_t> origin) const {
    for (int face = 0; face < faces(); ++face) origin[at(face)] += box(face, 0);
    return origin;
  }
  std::vector<std::uint64_t> acknowledgements(std::vector<std::uint64_t> origin) const {
    for (int face = 0; face < faces(); ++face) origin[at(face)] += acknowledged(face);
    return origin;
  }

private:
  static constexpr std::size_t flag_bytes = sizeof(std::uint64_t);
  static std::size_t at(int index) noexcept { return static_cast<std::size_t>(index); }
  std::size_t down(std::size_t bytes) const noexcept { return bytes / alignment_ * alignment_; }
  std::size_t up(std::size_t bytes) const noexcept { return down(bytes + alignment_ - 1); }

  std::size_t slots_ = 0, alignment_ = 64, bytes_ = 0;
  std::vector<int> neighbour_;                          // shape (2 ndim,), as all here
  std::vector<std::size_t> size_, box_, acknowledged_;  // [bytes]
};

/// Loads a flag that another process stores. All that it stored before the flag is visible afterwards.
inline std::uint64_t load_flag(std::byte* place) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(place)).load(std::memory_order_acquire);
}

/// The capacities of the faces whose neighbour is this process itself, 0 for the others.
inline std::vector<std::size_t> own_capacities(const ProcessGrid& grid, std::span<const std::size_t> capacity) {
  std::vector<std::size_t> own(capacity.begin(), capacity.end());
  for (std::size_t face = 0; face < own.size(); ++face) {
    if (grid.neighbour(Face::from_index(static_cast<int>(face))) != grid.rank()) own[face] = 0;
  }
  return own;
}

/// The first address from `begin` on that is a multiple of `alignment`.
inline std::byte* aligned(void* begin, std::size_t alignment) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  return static_cast<std::byte*>(begin) + (alignment - at % alignment) % alignment;
}

}  // namespace halocline::comm::detail
