// SPDX-License-Identifier: Apache-2.0
/// @file
/// The transport of one process.

#include "halocline/comm/self.hpp"

#include "halocline/core/error.hpp"

namespace halocline::comm {

void SelfTransport::open(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, int slots) {
  if (grid.size() != 1) {
    throw core::InvalidArgument("transport self serves one process, and the grid has " + std::to_string(grid.size()));
  }
  boxes_ = detail::Boxes(grid, face_bytes, slots);
}

void SelfTransport::put(int face, int slot, std::uint64_t flag) {
  boxes_.set_flag(boxes_.outbox(face, slot), face, flag);
}

std::uint64_t SelfTransport::arrived_flag(int face, int slot) { return boxes_.flag(boxes_.inbox(face, slot), face); }

}  // namespace halocline::comm
