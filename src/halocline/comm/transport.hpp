// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the bytes of a halo travel: put + flag between registered buffers.
///
/// For every face a transport owns `slots` outboxes and `slots` inboxes. `put(face, slot, flag)` carries the outbox of
/// one face into the inbox, in the same slot, of the neighbour's opposite face, and after the data it carries `flag`.
/// Whoever polls `arrived_flag` and sees the new value may read the data: the load acquires what the flag released.
/// That is all. When a slot may be used again is the exchange's business (halo_exchange.hpp), not the transport's:
///
///   - put(face, slot) is called only when the neighbour has released that inbox, so a one-sided transport may store
///     into the neighbour's memory at once and acknowledges nothing;
///   - release(face, slot) says that the inbox here will not be read again; a two-sided transport starts its next
///     receive there, a one-sided one has nothing to do;
///   - sent(face, slot) says that the outbox may be refilled. It is apart from arrival, because it is a local matter.
///
/// The transport owns the memory because most have wishes about it: a shared window, a symmetric heap, registered
/// pages. The outbox of a face may *be* the neighbour's inbox (of this process itself, for an axis of one process; of
/// another process in shared memory), so the sender packs straight into the place where it is read.
///
/// Transports are values chosen by name while the program runs: `self` for one process, `mpi_persistent` for any
/// number. One suite of laws (tests/comm) runs over all of them.

#include "halocline/comm/process_grid.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::comm {

/// Moves bytes from faces to the neighbours' opposite faces. Used by one thread at a time.
class Transport {
public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  /// Never waits long: what a neighbour leaves hanging is left to the layer below, its memory with it.
  virtual ~Transport() = default;

  virtual std::string_view name() const noexcept = 0;

  /// Registers the boxes; called once, before anything else.
  /// @param face_bytes  shape (2 ndim,) by Face::index(), equal on both sides of every pair of faces; 0 leaves a face
  ///                    out, and so does an absent neighbour
  /// @param slots       boxes a face
  /// @throws InvalidArgument  where this transport cannot carry such a message
  /// Collective: yes.
  virtual void open(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, int slots) = 0;

  /// 64-byte aligned; nullptr for a face that is left out.
  virtual std::byte* outbox(int face, int slot) noexcept = 0;
  virtual const std::byte* inbox(int face, int slot) const noexcept = 0;

  /// Starts the data and then the flag on their way; returns at once. @param flag  not 0
  virtual void put(int face, int slot, std::uint64_t flag) = 0;
  /// The flag that arrived last in this inbox, 0 before the first. Polled; makes progress.
  virtual std::uint64_t arrived_flag(int face, int slot) = 0;
  /// The inbox will not be read until its next flag. Not called before its first message.
  virtual void release(int face, int slot) = 0;
  /// The outbox may be refilled. Polled; makes progress; true before the first put.
  virtual bool sent(int face, int slot) = 0;

  /// Messages may be under way for ever: whatever they could still touch must not be used again by anybody.
  virtual void abandon() noexcept = 0;
};

/// A transport, and why it cannot be had here if it cannot.
struct TransportInfo {
  std::string name;
  bool available;
  std::string reason;  ///< empty when available
};

/// All that Halocline knows of, in alphabetical order. Collective: no.
std::vector<TransportInfo> available_transports();

/// @param name  one of available_transports()
/// @throws InvalidArgument  for an unknown or absent one, or one that cannot serve this grid; lists those that can
/// Collective: no.
std::unique_ptr<Transport> make_transport(std::string_view name, const ProcessGrid& grid);

/// The name to take when the user gave none: `self` for one process, else `mpi_persistent`.
std::string_view default_transport(const ProcessGrid& grid) noexcept;

}  // namespace halocline::comm
