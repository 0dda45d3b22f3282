// SPDX-License-Identifier: Apache-2.0
/// @file
/// The transport of one process.

#include "halocline/comm/transports/self/self.hpp"

#include "halocline/core/error.hpp"

namespace halocline::comm {

std::string self_unavailable_reason(const ProcessGrid* grid) {
  if (grid == nullptr || grid->size() == 1) return {};
  return "serves one process, and the grid has " + std::to_string(grid->size());
}

void SelfTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  if (grid.size() != 1) throw core::InvalidArgument("transport self " + self_unavailable_reason(&grid));
  boxes_ = detail::Boxes(grid, capacity, slots);
  acknowledged_.assign(capacity.size(), 0);
}

std::byte* SelfTransport::outbox(int face, int slot, std::size_t bytes) noexcept {
  return boxes_.data(boxes_.outbox(face, slot), face, bytes);
}

const std::byte* SelfTransport::inbox(int face, int slot, std::size_t bytes) const noexcept {
  return boxes_.data(boxes_.inbox(face, slot), face, bytes);
}

void SelfTransport::put(int face, int slot, std::size_t, std::uint64_t flag) {
  boxes_.set_flag(boxes_.outbox(face, slot), face, flag);
}

std::uint64_t SelfTransport::arrived_flag(int face, int slot, std::size_t) {
  return boxes_.flag(boxes_.inbox(face, slot), face);
}

void SelfTransport::acknowledge(int face, std::uint64_t count) {
  acknowledged_[static_cast<std::size_t>(face ^ 1)] = count;
}

std::uint64_t SelfTransport::acknowledged(int face) { return acknowledged_[static_cast<std::size_t>(face)]; }

TransportKind self_transport() {
  return {
      .name = "self",
      .unavailable_reason = self_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<SelfTransport>(); },
  };
}

}  // namespace halocline::comm
