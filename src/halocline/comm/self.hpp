// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `self`: one process that is its own neighbour on every periodic axis. Nothing moves: the outbox of a face
/// is the inbox of the opposite one, and a put writes the flag.

#include "halocline/comm/detail/boxes.hpp"
#include "halocline/comm/transport.hpp"

namespace halocline::comm {

/// The oracle of the other transports.
class SelfTransport final : public Transport {
public:
  std::string_view name() const noexcept override { return "self"; }
  /// @throws InvalidArgument  for a grid of more than one process, on every rank
  void open(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, int slots) override;
  std::byte* outbox(int face, int slot) noexcept override { return boxes_.outbox(face, slot); }
  const std::byte* inbox(int face, int slot) const noexcept override { return boxes_.inbox(face, slot); }
  void put(int face, int slot, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot) override;
  void release(int, int) override {}
  bool sent(int, int) override { return true; }
  void abandon() noexcept override {}

private:
  detail::Boxes boxes_;
};

}  // namespace halocline::comm
