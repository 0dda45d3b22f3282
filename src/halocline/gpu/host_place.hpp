// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A place where a kernel stores one number while another thread looks: the host, at a place in pinned memory, or
/// another block of the kernel.
///
/// The place holds a signalling NaN until the number arrives; no arithmetic gives one.

#include <atomic>
#include <bit>
#include <cstdint>

namespace halocline::gpu {

inline constexpr std::uint64_t no_number_bits = 0x7ff0'0068'616c'6f63;
inline constexpr double no_number = std::bit_cast<double>(no_number_bits);

/// What the kernel did before it fenced and stored a number that is seen here is visible, too.
inline double look_at(double& place) { return std::atomic_ref(place).load(std::memory_order_acquire); }
inline bool is_clear(double& place) { return std::bit_cast<std::uint64_t>(look_at(place)) == no_number_bits; }
inline void clear(double& place) { std::atomic_ref(place).store(no_number, std::memory_order_relaxed); }

/// Looks at a place between two questions to the event that answers where no number comes: about 1 us.
inline constexpr int looks_an_event = 1024;

}  // namespace halocline::gpu
