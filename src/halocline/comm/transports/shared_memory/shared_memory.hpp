// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `shared_memory`: the neighbours of one node store into each other's inboxes.
///
/// The inboxes of a process lie in its part of a segment that all ranks of the node address. For short messages the
/// outbox of a face *is* the inbox of the neighbour's opposite face, so packing is the transfer, and a put is one store
/// of the flag, which releases what was packed to whoever acquires it by polling. The flag stands right behind the
/// data, so that the line that is polled is next to the line that is read; boxes begin on pairs of cache lines, so that
/// a prefetch of the adjacent line never takes a line away from another box. More than a page lies between two boxes:
/// who reads a message to its end otherwise prefetches into the next box, and takes the lines from the neighbour that
/// is about to fill them. When a message is seen to have arrived, its lines are called for at once. In a Jacobi sweep
/// of 60 x 60 sites the two made 3.03 us into 2.27 (cores far apart) and 2.06 into 1.74 (near).
///
/// Long faces have outboxes of their own, which a put copies with streaming stores: packing then works in the cache,
/// and the copy does not fetch the lines that the neighbour read last. Measured on two cores that share no third-level
/// cache: 4 KiB in 0.9 us instead of 2, 16 KiB in 2.3 instead of 8.3, 64 KiB in 6 instead of 33; on two that do, 4 KiB
/// in 0.9 instead of 0.4, 16 KiB in 2.2 instead of 2.3, 64 KiB in 6 instead of 8. So faces are long above 8 KiB where
/// cores are near, above 2 KiB where they are far, and open() times a cache line between a rank and the one beside it
/// to tell (detail/streaming_copy.hpp).
///
/// Nothing here is collective after open(), freeing included, and what is written after a neighbour has gone does no
/// harm: see group/shared_segment.hpp.

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/core/aligned_array.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace halocline::comm {

namespace detail {
class SharedSegment;
}

/// Why `shared_memory` cannot be used; empty where it can. @param grid  nullptr: as far as can be told without one
/// Collective: yes, with a grid.
std::string shared_memory_unavailable_reason(const ProcessGrid* grid);

class SharedMemoryTransport final : public Transport, private Acknowledgements {
public:
  /// For a grid whose ranks are all on one node.
  SharedMemoryTransport();
  /// For the faces inside of one node, as a part of another transport. Faces whose neighbour is elsewhere must be given
  /// the capacity 0.
  /// @param node          the ranks of the grid that are on this node
  /// @param rank_in_node  shape (ranks of the grid,): the rank in `node`, -1 for those elsewhere
  SharedMemoryTransport(Communicator node, std::vector<int> rank_in_node);
  ~SharedMemoryTransport() override;

  std::string_view name() const noexcept override { return "shared_memory"; }
  /// @throws InvalidArgument  when the ranks are not all on one node, or a neighbour gave another capacity
  /// @throws core::Error      when the memory is not to be had. Both on every rank of the node
  /// Collective: yes, over the node.  Cost: the inboxes, each with 4.5 KiB of address space around it, and outboxes for
  /// the long faces.
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override;
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override;
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override;
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override;
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override;
  void release(int, int) override {}
  bool sent(int, int) override { return true; }
  void arrived(int face, int slot, std::size_t bytes) noexcept override;
  Acknowledgements* acknowledgements() noexcept override { return this; }
  bool direct(int face) const noexcept override { return !side(face).copied; }
  bool concurrent() const noexcept override { return true; }
  bool neighbour_gone(int face) override;
  void abandon() noexcept override;

private:
  void acknowledge(int face, std::uint64_t count) override;
  std::uint64_t acknowledged(int face) override;

  /// Addresses in this process of what belongs to one face; constant after open().
  struct Side {
    std::size_t box = 0;                ///< size of a box [bytes]; 0: the face is left out
    std::vector<std::byte*> in, there;  ///< shape (slots,): our inboxes, and the neighbour's for this face
    std::vector<std::byte*> out;        ///< shape (slots,): what the caller fills, if `copied` not the same as `there`
    bool copied = false;                ///< by put()
    std::byte* acknowledged = nullptr;  ///< in our part, written by the neighbour
    std::byte* acknowledge = nullptr;   ///< the same in the neighbour's part
    std::byte* state = nullptr;         ///< of the neighbour
    int neighbour = -1;                 ///< rank in the node
  };
  Side& side(int face) noexcept { return sides_[static_cast<std::size_t>(face)]; }
  const Side& side(int face) const noexcept { return sides_[static_cast<std::size_t>(face)]; }

  std::optional<Communicator> node_;
  std::vector<int> rank_in_node_;
  std::unique_ptr<detail::SharedSegment> segment_;
  core::AlignedArray<std::byte> outboxes_;
  std::vector<Side> sides_;
};

/// The line of this transport in the list of all.
TransportKind shared_memory_transport();

}  // namespace halocline::comm
