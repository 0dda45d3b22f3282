// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The rules of the halo exchange for one link, apart from all code that moves bytes.
///
/// A face is a link with one neighbour, both ways. All ranks post the same faces. So the number of messages that a
/// rank posts through a face is also the number that it may expect at the *opposite* face: `posted` counts both. The
/// tests run these functions in every order in which two or three ranks can proceed (tests/comm/test_link_model.cpp).

#include <cstdint>

namespace halocline::comm::detail {

/// Numbers of messages of one link since the exchange was made.
struct Link {
  std::uint64_t posted = 0;   ///< by us through this face; as many are expected at the opposite face
  std::uint64_t arrived = 0;  ///< messages that came to this face and were waited for
  std::uint64_t freed = 0;    ///< how many of `arrived` we have freed, for the neighbour to overwrite
  std::uint64_t proven = 0;   ///< how many of `posted` the neighbour is known to have freed
  friend bool operator==(const Link&, const Link&) = default;
};

/// The buffer that a message uses.
constexpr int slot_of(std::uint64_t message, int buffers) noexcept {
  return static_cast<int>(message % static_cast<std::uint64_t>(buffers));
}

/// True when the next message may be written: the neighbour is known to have freed the buffer that it goes to.
constexpr bool may_fill(const Link& link, int buffers) noexcept {
  return link.posted < link.proven + static_cast<std::uint64_t>(buffers);
}

/// True when a message is under way to this face. @param opposite  the link of the opposite face, active or not
constexpr bool awaits(const Link& link, const Link& opposite) noexcept { return link.arrived < opposite.posted; }

/// The flag that follows a message. Its low 48 bits hold the number of the message, counted from 1. Its top 16 bits
/// hold the number of messages of the link that the sender has freed, modulo 2^16. The receiver recovers the full
/// count, because at most two messages are unread.
namespace flag {
inline constexpr int shift = 48;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << shift) - 1;

constexpr std::uint64_t make(std::uint64_t message, std::uint64_t freed) noexcept {
  return (freed << shift) | ((message + 1) & number_mask);
}
constexpr std::uint64_t number(std::uint64_t flag) noexcept { return flag & number_mask; }
/// @param posted  messages that the receiver has posted over this link; the freed count is never larger
constexpr std::uint64_t freed(std::uint64_t flag, std::uint64_t posted) noexcept {
  return posted - ((posted - (flag >> shift)) & 0xffffu);
}
}  // namespace flag

/// Frees the messages that have been waited for at this face.
constexpr void free_arrived(Link& link) noexcept { link.freed = link.arrived; }

/// Posts the next message. @return the flag it carries
constexpr std::uint64_t post(Link& link) noexcept {
  const std::uint64_t flag = flag::make(link.posted, link.freed);
  ++link.posted;
  return flag;
}

/// Notes that the neighbour has freed this many of our messages.
constexpr void prove(Link& link, std::uint64_t freed) noexcept {
  if (freed > link.proven) link.proven = freed;
}

/// Counts the arrival of the awaited message, which carried this flag.
constexpr void arrive(Link& link, std::uint64_t flag) noexcept {
  ++link.arrived;
  prove(link, flag::freed(flag, link.posted));
}

}  // namespace halocline::comm::detail
