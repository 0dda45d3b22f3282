// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Transport `shared_memory`: the neighbours of one node store into each other's inboxes.
///
/// The inboxes of a process lie in its part of a segment that all ranks of the node can address. For short messages
/// the outbox of a face *is* the inbox of the neighbour's opposite face. Packing is then the transfer, and a put is
/// one store of the flag, with release; the neighbour polls the flag with acquire.
///
/// The flag stands right behind the data, so that the polled line is next to the line that is read. Boxes begin on
/// pairs of cache lines, so that a prefetch of the adjacent line never takes a line away from another box. More than
/// a page lies between two boxes. Without this gap, a core that reads a message to its end prefetches into the next
/// box, and takes those lines from the neighbour that is about to fill them. When a message has arrived, its lines
/// are prefetched at once. Time of a Jacobi sweep of 60 x 60 sites:
///
///   | time of a sweep [us]     | cores far apart | cores near |
///   |--------------------------|-----------------|------------|
///   | without gap and prefetch | 3.03            | 2.06       |
///   | with both                | 2.27            | 1.74       |
///
/// Long faces have outboxes of their own, and a put copies them with streaming stores (detail/streaming_copy.hpp).
/// Packing then works in the cache, and the copy does not fetch the lines that the neighbour read last. Measured
/// between two cores, with and without a common third-level cache (L3):
///
///   | time of a message [us] | no common L3: packed there | copied | common L3: packed there | copied |
///   |------------------------|----------------------------|--------|-------------------------|--------|
///   |  4 KiB                 | 2                          | 0.9    | 0.4                     | 0.9    |
///   | 16 KiB                 | 8.3                        | 2.3    | 2.3                     | 2.2    |
///   | 64 KiB                 | 33                         | 6      | 8                       | 6      |
///
/// So a face is long above 8 KiB where cores are near, and above 2 KiB where they are far. To tell these cases apart,
/// open() times a cache line between a rank and the one beside it.
///
/// Nothing here is collective after open(), not even freeing. A store into the memory of a neighbour that has gone
/// does no harm: see group/shared_segment.hpp.

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

/// Why `shared_memory` cannot be used; empty when it can.
/// @param grid  may be nullptr; reasons that depend on a grid are then left out
/// Collective: yes, with a grid.
std::string shared_memory_unavailable_reason(const ProcessGrid* grid);

class SharedMemoryTransport final : public Transport, private Acknowledgements {
public:
  /// For a grid whose ranks are all on one node.
  SharedMemoryTransport();
  /// For the faces inside of one node, as a part of another transport. Faces whose neighbour is elsewhere must be given
  /// the capacity 0.
  /// @param node          the ranks of the grid that are on this node
  /// @param rank_in_node  shape (ranks of the grid,): the rank in `node`, -1 for ranks elsewhere
  SharedMemoryTransport(Communicator node, std::vector<int> rank_in_node);
  ~SharedMemoryTransport() override;

  std::string_view name() const noexcept override { return "shared_memory"; }
  /// @throws InvalidArgument  when the ranks are not all on one node, or a neighbour gave another capacity
  /// @throws core::Error      when there is not enough memory. Both on every rank of the node
  /// Collective: yes, over the node.  Cost: the inboxes, each with 4.5 KiB of address space around it, and outboxes
  /// for the long faces.
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

  /// The addresses, in this process, of the memory of one face; constant after open().
  struct Side {
    std::size_t box = 0;                ///< size of a box [bytes]; 0: the face is left out
    std::vector<std::byte*> in, there;  ///< shape (slots,): our inboxes, and the neighbour's for this face
    std::vector<std::byte*> out;        ///< shape (slots,): the caller fills these; the same as `there` unless `copied`
    bool copied = false;                ///< put() copies from `out` to `there`
    std::byte* acknowledged = nullptr;  ///< in our part, written by the neighbour
    std::byte* acknowledge = nullptr;   ///< the same in the neighbour's part
    std::byte* state = nullptr;         ///< state word of the neighbour
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

/// The entry of this transport in the list of transports.
TransportKind shared_memory_transport();

}  // namespace halocline::comm
