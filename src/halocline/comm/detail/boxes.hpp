// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Memory of outboxes and inboxes where the transport has no wishes of its own.
///
/// One allocation. A box is the message, filled up to 8 bytes, then the 8-byte flag, then up to 64 bytes, so that a
/// transport which sends the box's first `message_bytes()` sends the flag last. Where a process is its own neighbour
/// the outbox of a face is the inbox of the opposite one: packing is then the whole exchange.

#include "halocline/comm/process_grid.hpp"
#include "halocline/core/aligned_array.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace halocline::comm::detail {

class Boxes {
public:
  Boxes() = default;

  /// @param face_bytes  shape (2 ndim,); @param slots  boxes a face
  Boxes(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, int slots)
      : slots_(static_cast<std::size_t>(slots)), bytes_(face_bytes.begin(), face_bytes.end()) {
    const std::size_t faces = bytes_.size();
    std::vector<std::size_t> in(faces * slots_), out(faces * slots_);
    std::size_t end = 0;
    for (std::size_t face = 0; face < faces; ++face) {
      const int neighbour = grid.neighbour(Face::from_index(static_cast<int>(face)));
      if (neighbour < 0) bytes_[face] = 0;
      self_.push_back(neighbour == grid.rank());
      if (bytes_[face] == 0) continue;
      const std::size_t box = (message_bytes(static_cast<int>(face)) + 63) / 64 * 64;
      for (std::size_t slot = 0; slot < slots_; ++slot, end += box) in[face * slots_ + slot] = end;
      if (self_[face]) continue;
      for (std::size_t slot = 0; slot < slots_; ++slot, end += box) out[face * slots_ + slot] = end;
    }
    memory_ = core::AlignedArray<std::byte>(static_cast<std::int64_t>(end));
    for (std::size_t face = 0; face < faces; ++face) {
      const std::size_t opposite = face ^ 1;
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        const bool absent = bytes_[face] == 0;
        inboxes_.push_back(absent ? nullptr : memory_.data() + in[face * slots_ + slot]);
        const std::size_t begin = self_[face] ? in[opposite * slots_ + slot] : out[face * slots_ + slot];
        outboxes_.push_back(absent ? nullptr : memory_.data() + begin);
      }
    }
  }

  int faces() const noexcept { return static_cast<int>(bytes_.size()); }
  bool active(int face) const noexcept { return bytes_[static_cast<std::size_t>(face)] > 0; }
  bool to_self(int face) const noexcept { return self_[static_cast<std::size_t>(face)]; }
  std::byte* outbox(int face, int slot) const noexcept { return outboxes_[at(face, slot)]; }
  std::byte* inbox(int face, int slot) const noexcept { return inboxes_[at(face, slot)]; }

  /// Message, filling and flag [bytes].
  std::size_t message_bytes(int face) const noexcept { return flag_offset(face) + sizeof(std::uint64_t); }

  void set_flag(std::byte* box, int face, std::uint64_t flag) const noexcept {
    std::memcpy(box + flag_offset(face), &flag, sizeof(flag));
  }
  std::uint64_t flag(const std::byte* box, int face) const noexcept {
    std::uint64_t flag = 0;
    std::memcpy(&flag, box + flag_offset(face), sizeof(flag));
    return flag;
  }

private:
  std::size_t at(int face, int slot) const noexcept {
    return static_cast<std::size_t>(face) * slots_ + static_cast<std::size_t>(slot);
  }
  std::size_t flag_offset(int face) const noexcept { return (bytes_[static_cast<std::size_t>(face)] + 7) / 8 * 8; }

  std::size_t slots_ = 0;
  std::vector<std::size_t> bytes_;
  std::vector<bool> self_;
  std::vector<std::byte*> inboxes_, outboxes_;
  core::AlignedArray<std::byte> memory_;
};

}  // namespace halocline::comm::detail
