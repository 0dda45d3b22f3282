// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The rules of the halo exchange for one link, apart from everything that moves bytes.
///
/// A face is a link with one neighbour, both ways. All ranks post the same faces, so the messages that a rank posts
/// through a face are as many as it may expect at the *opposite* face: `posted` counts both. The tests explore these
/// very functions in every order in which two or three ranks can run (tests/comm/test_link_model.cpp).

#include <cstdint>

namespace halocline::comm::detail {

/// Messages of one link since the beginning.
struct Link {
  std::uint64_t posted = 0;   ///< by us through this face; as many are expected at the opposite face
  std::uint64_t arrived = 0;  ///< at this face, and waited for
  std::uint64_t freed = 0;    ///< of `arrived`, given free for the neighbour to overwrite
  std::uint64_t proven = 0;   ///< of `posted`, given free by the neighbour for all we know
  friend bool operator==(const Link&, const Link&) = default;
};

/// Which of the buffers a message uses.
constexpr int slot_of(std::uint64_t message, int buffers) noexcept {
  return static_cast<int>(message % static_cast<std::uint64_t>(buffers));
}

/// The next message may be written: the buffer that it goes to is known to be free on the other side.
constexpr bool may_fill(const Link& link, int buffers) noexcept {
  return link.posted < link.proven + static_cast<std::uint64_t>(buffers);
}

/// Something is under way to this face. @param opposite  the link of the opposite face, active or not
constexpr bool awaits(const Link& link, const Link& opposite) noexcept { return link.arrived < opposite.posted; }

/// The flag behind a message: its number, counted from 1, and in the top 16 bits how many messages of the link its
/// sender has given free, modulo 2^16; the receiver knows the rest, for at most two are under way.
namespace flag {
inline constexpr int shift = 48;
inline constexpr std::uint64_t number_mask = (std::uint64_t{1} << shift) - 1;

constexpr std::uint64_t make(std::uint64_t message, std::uint64_t freed) noexcept {
  return (freed << shift) | ((message + 1) & number_mask);
}
constexpr std::uint64_t number(std::uint64_t flag) noexcept { return flag & number_mask; }
/// @param posted  by the receiver over this link: the count cannot be above
constexpr std::uint64_t freed(std::uint64_t flag, std::uint64_t posted) noexcept {
  return posted - ((posted - (flag >> shift)) & 0xffffu);
}
}  // namespace flag

/// Gives free what has been waited for at this face.
constexpr void free_arrived(Link& link) noexcept { link.freed = link.arrived; }

/// Posts the next message. @return the flag it carries
constexpr std::uint64_t post(Link& link) noexcept {
  const std::uint64_t flag = flag::make(link.posted, link.freed);
  ++link.posted;
  return flag;
}

/// The neighbour has given free so many of our messages.
constexpr void prove(Link& link, std::uint64_t freed) noexcept {
  if (freed > link.proven) link.proven = freed;
}

/// The message that was awaited has come with this flag.
constexpr void arrive(Link& link, std::uint64_t flag) noexcept {
  ++link.arrived;
  prove(link, flag::freed(flag, link.posted));
}

}  // namespace halocline::comm::detail
