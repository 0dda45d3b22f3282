// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Slots in shared memory in which the ranks of a node publish their values of a sum. The label of a slot says to
/// which sum its values belong. reduction.hpp has the protocol and its proof.

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

/// The slots of one rank in the shared segment.
struct Places {
  Slot mine[2];
  Slot total[2];  ///< written by the rank that adds for the node
};
inline constexpr std::size_t part_bytes = 4096;

/// More values than a slot holds stand behind the page of the slots, `longest` doubles for each slot; the slot has
/// their number then.
struct LongPlaces {
  double* mine[2];
  double* total[2];
};
inline LongPlaces long_places_in(std::byte* part, std::size_t longest) noexcept {
  auto* first = reinterpret_cast<double*>(part);
  return {{first, first + longest}, {first + 2 * longest, first + 3 * longest}};
}

/// Parts begin on pages. The ranks use eight different places in the page in turn. This keeps the slots of different
/// ranks out of each other's cache set.
inline Places* places_in(std::byte* part, int rank) noexcept {
  return reinterpret_cast<Places*>(part + static_cast<std::size_t>(rank % 8) * sizeof(Places));
}

/// The label of a sum: its number, counted from 1, and in the low bits its number of values, `many` if they are not in
/// the slot, or `gave_up` if it failed.
inline constexpr int label_shift = 4;
inline constexpr std::uint64_t gave_up = 15, many = 14;
constexpr std::uint64_t label_of(std::uint64_t number, std::uint64_t count) noexcept {
  return (number << label_shift) | count;
}

inline std::uint64_t label_in(const Slot& slot) noexcept {
  // atomic_ref needs a mutable word; a load does not write.
  return std::atomic_ref(const_cast<std::uint64_t&>(slot.label)).load(std::memory_order_acquire);
}

/// Writes the values before the label, so that a rank that sees the label sees the values.
inline void show(Slot& slot, const double* values, std::size_t count, std::uint64_t label) noexcept {
  for (std::size_t i = 0; i < std::min(count, Slot::first_line); ++i) slot.values[i] = values[i];
  if (count > Slot::first_line) slot.eighth = values[Slot::first_line];
  std::atomic_ref(slot.label).store(label, std::memory_order_release);
}

inline double value_in(const Slot& slot, std::size_t i) noexcept {
  return i < Slot::first_line ? slot.values[i] : slot.eighth;
}

}  // namespace halocline::comm::detail::slots
