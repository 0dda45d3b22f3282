// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Memory of outboxes and inboxes, and where a message lies in its box.
///
/// A box ends with the 8-byte flag. The data stands right before it, and begins on the last 64-byte boundary that
/// leaves room for both. So data and flag are one run of bytes that a single put carries. The place of the flag does
/// not depend on the length of the message, so a poll never reads a place that held data.

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/core/aligned_array.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace halocline::comm::detail {

/// Places inside a box, counted from its beginning [bytes].
struct BoxLayout {
  static constexpr std::size_t alignment = 64;
  static constexpr std::size_t flag_bytes = sizeof(std::uint64_t);

  /// @param capacity  the longest message
  static constexpr std::size_t size(std::size_t capacity) noexcept {
    return (capacity + flag_bytes + alignment - 1) / alignment * alignment;
  }
  static constexpr std::size_t flag(std::size_t box_size) noexcept { return box_size - flag_bytes; }
  static constexpr std::size_t data(std::size_t box_size, std::size_t bytes) noexcept {
    return (flag(box_size) - bytes) / alignment * alignment;
  }
};

/// Boxes in ordinary memory of this process, for transports that need no special memory. Where a process is its own
/// neighbour, the outbox of a face is the inbox of the opposite one: packing is then the whole exchange.
class Boxes {
public:
  Boxes() = default;

  /// @param capacity  shape (2 ndim,) [bytes]; @param slots  boxes a face
  Boxes(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots)
      : slots_(static_cast<std::size_t>(slots)) {
    const std::size_t faces = capacity.size();
    std::vector<std::size_t> in(faces), out(faces);
    std::size_t end = 0;
    for (std::size_t face = 0; face < faces; ++face) {
      const int neighbour = grid.neighbour(Face::from_index(static_cast<int>(face)));
      size_.push_back(neighbour < 0 || capacity[face] == 0 ? 0 : BoxLayout::size(capacity[face]));
      self_.push_back(neighbour == grid.rank());
      in[face] = end;
      end += slots_ * size_[face];
      out[face] = end;
      if (!self_[face]) end += slots_ * size_[face];
    }
    memory_ = core::AlignedArray<std::byte>(static_cast<std::int64_t>(end));
    for (std::size_t face = 0; face < faces; ++face) {
      const std::size_t out_begin = self_[face] ? in[face ^ 1] : out[face];
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        const bool absent = size_[face] == 0;
        inboxes_.push_back(absent ? nullptr : memory_.data() + in[face] + slot * size_[face]);
        outboxes_.push_back(absent ? nullptr : memory_.data() + out_begin + slot * size_[face]);
      }
    }
  }

  int faces() const noexcept { return static_cast<int>(size_.size()); }
  bool active(int face) const noexcept { return box_size(face) > 0; }
  bool to_self(int face) const noexcept { return self_[static_cast<std::size_t>(face)]; }
  std::size_t box_size(int face) const noexcept { return size_[static_cast<std::size_t>(face)]; }

  /// Beginnings of the boxes; nullptr for a face that is left out.
  std::byte* outbox(int face, int slot) const noexcept { return outboxes_[at(face, slot)]; }
  std::byte* inbox(int face, int slot) const noexcept { return inboxes_[at(face, slot)]; }
  /// Where a message of this length begins in a box.
  std::byte* data(std::byte* box, int face, std::size_t bytes) const noexcept {
    return box == nullptr ? nullptr : box + BoxLayout::data(box_size(face), bytes);
  }

  void set_flag(std::byte* box, int face, std::uint64_t flag) const noexcept {
    std::memcpy(box + BoxLayout::flag(box_size(face)), &flag, sizeof(flag));
  }
  std::uint64_t flag(const std::byte* box, int face) const noexcept {
    std::uint64_t flag = 0;
    std::memcpy(&flag, box + BoxLayout::flag(box_size(face)), sizeof(flag));
    return flag;
  }

private:
  std::size_t at(int face, int slot) const noexcept {
    return static_cast<std::size_t>(face) * slots_ + static_cast<std::size_t>(slot);
  }

  std::size_t slots_ = 0;
  std::vector<std::size_t> size_;
  std::vector<bool> self_;
  std::vector<std::byte*> inboxes_, outboxes_;
  core::AlignedArray<std::byte> memory_;
};

}  // namespace halocline::comm::detail
