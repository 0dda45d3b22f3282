// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Where the ranks of a node show each other the values of a sum: slots in shared memory, each with a label that says
/// which sum its values are of. reduction.hpp has the protocol and its proof.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace halocline::comm::detail::slots {

/// Up to seven values and the label are one cache line; an eighth value is on the next.
struct alignas(64) Slot {
  static constexpr std::size_t first_line = 7;
  double values[first_line];
  std::uint64_t label;
  double eighth;
};
static_assert(sizeof(Slot) == 128);

/// What a rank has in the shared segment.
struct Places {
  Slot mine[2];
  Slot total[2];  ///< written by the rank that adds for the node
};
inline constexpr std::size_t part_bytes = 4096;

/// Parts begin on pages. Eight places in the page, taken in turns, keep the slots of different ranks out of each
/// other's cache set.
inline Places* places_in(std::byte* part, int rank) noexcept {
  return reinterpret_cast<Places*>(part + static_cast<std::size_t>(rank % 8) * sizeof(Places));
}

/// The label of a sum: its number, counted from 1, and how many values it has; `gave_up` instead where it failed.
inline constexpr int label_shift = 4;
inline constexpr std::uint64_t gave_up = 15;
constexpr std::uint64_t label_of(std::uint64_t number, std::uint64_t count) noexcept {
  return (number << label_shift) | count;
}

inline std::uint64_t label_in(const Slot& slot) noexcept {
  // The reference wants a mutable word; a load writes nothing.
  return std::atomic_ref(const_cast<std::uint64_t&>(slot.label)).load(std::memory_order_acquire);
}

/// The values first: whoever sees the label sees them.
inline void show(Slot& slot, const double* values, std::size_t count, std::uint64_t label) noexcept {
  for (std::size_t i = 0; i < std::min(count, Slot::first_line); ++i) slot.values[i] = values[i];
  if (count > Slot::first_line) slot.eighth = values[Slot::first_line];
  std::atomic_ref(slot.label).store(label, std::memory_order_release);
}

inline double value_in(const Slot& slot, std::size_t i) noexcept {
  return i < Slot::first_line ? slot.values[i] : slot.eighth;
}

}  // namespace halocline::comm::detail::slots
