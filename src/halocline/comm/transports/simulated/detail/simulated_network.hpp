// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The boxes of all ranks of a grid, and the messages between them, for transport `simulated`.
///
/// It outlives the transports as long as messages are under way, because their events write into it.

#include "halocline/comm/simulation/simulator.hpp"
#include "halocline/core/aligned_array.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace halocline::comm::detail {

class SimulatedNetwork final : public Simulator::Handler {
public:
  SimulatedNetwork(Simulator& simulator, int ranks) : simulator_(simulator), parts_(static_cast<std::size_t>(ranks)) {}

  /// @param member      the number in the simulation of this rank of the grid
  /// @param neighbours  shape (2 ndim,); @param capacity  shape (2 ndim,) [bytes]
  void open(int rank, int member, std::span<const int> neighbours, std::span<const std::size_t> capacity, int slots);

  std::byte* outbox(int rank, int face, int slot) noexcept { return box(rank, face, slot).out; }
  const std::byte* inbox(int rank, int face, int slot) const noexcept { return box(rank, face, slot).in; }
  std::uint64_t arrived_flag(int rank, int face, int slot) const noexcept { return box(rank, face, slot).arrived; }
  bool sent(int rank, int face, int slot) const noexcept { return box(rank, face, slot).unread == 0; }
  std::uint64_t acknowledged(int rank, int face) const noexcept { return side(rank, face).acknowledged; }
  bool abandoned(int rank) const noexcept { return part(rank).abandoned; }
  int neighbour(int rank, int face) const noexcept { return side(rank, face).neighbour; }

  /// @throws core::Error  when the neighbour has not released that inbox
  void put(int rank, int face, int slot, std::size_t bytes, std::uint64_t flag);
  void release(int rank, int face, int slot) noexcept;
  void acknowledge(int rank, int face, std::uint64_t count);
  void abandon(int rank) noexcept { part(rank).abandoned = true; }

  int happen(std::uint64_t what, std::uint64_t value) override;
  bool busy() const noexcept override { return under_way_ > 0; }

private:
  /// An outbox with the message that leaves it, and an inbox with the message that has come.
  struct Box {
    std::byte* out = nullptr;
    std::byte* flying = nullptr;  ///< pieces that have left and not arrived
    std::byte* in = nullptr;
    std::size_t bytes = 0;
    std::uint64_t flag = 0;
    std::size_t unread = 0, undelivered = 0;  ///< numbers of pieces
    std::uint64_t damaged_bit = 0;
    bool damaged = false;
    std::uint64_t arrived = 0;
    bool released = true;
    std::size_t readable = 0;  ///< bytes of the message that came last
  };
  struct Side {
    int neighbour = -1;
    std::uint64_t acknowledged = 0;
    std::vector<Box> boxes;  ///< by slot
  };
  struct Part {
    core::AlignedArray<std::byte> memory;
    std::vector<Side> sides;  ///< by face
    int member = -1;
    bool abandoned = false;
  };
  enum Kind : std::uint64_t { piece_leaves, piece_arrives, flag_arrives, acknowledgement };

  Part& part(int rank) noexcept { return parts_[static_cast<std::size_t>(rank)]; }
  const Part& part(int rank) const noexcept { return parts_[static_cast<std::size_t>(rank)]; }
  Side& side(int rank, int face) noexcept { return part(rank).sides[static_cast<std::size_t>(face)]; }
  const Side& side(int rank, int face) const noexcept { return part(rank).sides[static_cast<std::size_t>(face)]; }
  Box& box(int rank, int face, int slot) noexcept { return side(rank, face).boxes[static_cast<std::size_t>(slot)]; }
  const Box& box(int rank, int face, int slot) const noexcept {
    return side(rank, face).boxes[static_cast<std::size_t>(slot)];
  }
  void add(double delay, Kind kind, int rank, int face, int slot, std::uint64_t value);

  Simulator& simulator_;
  std::vector<Part> parts_;  ///< by rank
  std::uint64_t under_way_ = 0;
};

}  // namespace halocline::comm::detail
