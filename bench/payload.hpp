// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Writes and reads whole messages, at the speed of their memory.

#include <cstddef>
#include <cstdint>
#include <span>

namespace halocline::bench {

/// Fills a message with consecutive numbers from `first`. @param message  8-byte aligned, a multiple of 8 bytes
inline void produce(std::span<std::byte> message, std::uint64_t first) noexcept {
  auto* words = reinterpret_cast<std::uint64_t*>(message.data());
  const std::size_t count = message.size() / sizeof(std::uint64_t);
  for (std::size_t i = 0; i < count; ++i) words[i] = first + i;
}

/// The sum of a message's words.
inline std::uint64_t consume(std::span<const std::byte> message) noexcept {
  const auto* words = reinterpret_cast<const std::uint64_t*>(message.data());
  const std::size_t count = message.size() / sizeof(std::uint64_t);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += words[i];
  return sum;
}

}  // namespace halocline::bench
