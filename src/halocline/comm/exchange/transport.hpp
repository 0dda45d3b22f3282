// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the bytes of a halo travel: puts of data and flag between registered buffers.
///
/// For every face a transport owns `slots` outboxes and `slots` inboxes. `put(face, slot, bytes, flag)` carries a
/// message from the outbox of a face to the neighbour: into the inbox of the opposite face, in the same slot. After
/// the data it carries `flag`. A caller that polls `arrived_flag` and sees the new value may read the data, because
/// the load acquires the data that the flag released. The transport does not decide when a slot may be used again;
/// the exchange does (halo_exchange.hpp):
///
///   - The exchange fills and puts an outbox only after the neighbour has released the inbox. So a one-sided
///     transport may store into the neighbour's memory at once, and the outbox may *be* the neighbour's inbox
///     (`direct`).
///   - release(face, slot) says that the inbox here will not be read again. A two-sided transport starts its next
///     receive there; a one-sided transport has nothing to do.
///   - sent(face, slot) says that the outbox may be refilled. It is separate from arrival, because it is a local
///     matter.
///
/// An exchange with one buffer also needs Acknowledgements. A transport without them serves exchanges with two
/// buffers.
///
/// The transport owns the memory, because most transports need a special kind: shared segments, a symmetric heap,
/// registered pages. A message may be shorter than its box; the transport decides where in the box it begins.
///
/// Transports are values, chosen by name while the program runs. One suite of laws (tests/comm/halo_laws.hpp) runs
/// over all of them.

#include "halocline/comm/group/process_grid.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::comm {

/// For exchanges with one buffer: a number that goes back to the sender of a face's messages.
class Acknowledgements {
public:
  /// Sends a number, larger each time, to the neighbour of this face, which reads it by acknowledged(opposite face).
  virtual void acknowledge(int face, std::uint64_t count) = 0;
  /// The number that the neighbour acknowledged last; 0 at first. Polled; makes progress.
  virtual std::uint64_t acknowledged(int face) = 0;
  /// True when the library below holds a put through this face back until the receiver has released the inbox,
  /// without blocking this process. The face then needs no acknowledgements.
  virtual bool paced(int /*face*/) const noexcept { return false; }

protected:
  Acknowledgements() = default;
  ~Acknowledgements() = default;
};

/// Moves bytes from faces to the neighbours' opposite faces. Used by one thread at a time unless concurrent().
class Transport {
public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  /// Never waits long. Messages that a neighbour leaves unfinished stay with the layer below, and their memory with
  /// them.
  virtual ~Transport() = default;

  virtual std::string_view name() const noexcept = 0;

  /// Registers the boxes; called once, before anything else.
  /// @param capacity  shape (2 ndim,) by Face::index() [bytes]: the longest message, equal on both sides of every
  ///                  pair of faces; 0 leaves a face out, and so does an absent neighbour
  /// @param slots     outboxes, and as many inboxes, of each face
  /// @throws InvalidArgument  when this transport cannot carry such messages; on every rank
  /// Collective: yes.
  virtual void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) = 0;

  /// Where a message of this length begins in its box; 64-byte aligned, nullptr for a face that is left out.
  virtual std::byte* outbox(int face, int slot, std::size_t bytes) noexcept = 0;
  virtual const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept = 0;

  /// Starts the data and then the flag on their way; returns at once. The transport may keep the flag back until
  /// dispatch(), or until a poll.
  /// @param bytes  from 1 to the capacity; @param flag  not 0
  virtual void put(int face, int slot, std::size_t bytes, std::uint64_t flag) = 0;
  /// Says that no more puts follow for now. A transport that must see the data delivered before it sends a flag does
  /// so here, for all messages put since the last call together.
  virtual void dispatch() {}
  /// The flag that arrived last in this inbox; 0 before the first. Polled; makes progress.
  /// @param bytes  the length that the next message will have
  virtual std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) = 0;
  /// The inbox will not be read until its next flag. Not called before its first message.
  virtual void release(int face, int slot) = 0;
  /// The outbox may be refilled, as far as this process is concerned. Polled; makes progress; true before the first
  /// put.
  virtual bool sent(int face, int slot) = 0;

  /// A message has arrived in `slot` and will be read soon: a chance to prefetch its cache lines.
  virtual void arrived(int /*face*/, int /*slot*/, std::size_t /*bytes*/) noexcept {}

  /// nullptr for a transport that serves exchanges with two buffers only. Asked after open().
  virtual Acknowledgements* acknowledgements() noexcept { return nullptr; }
  /// The outbox of this face is the neighbour's inbox itself.
  virtual bool direct(int /*face*/) const noexcept { return false; }
  /// Several threads may call at once, each for faces of its own.
  virtual bool concurrent() const noexcept { return false; }
  /// Why only the thread that started the program may call, even if threads take turns; empty when others may.
  virtual std::string thread_unavailable_reason() const { return {}; }
  /// The neighbour of this face is known to have died, or to have abandoned the exchange. Asked every few
  /// milliseconds.
  virtual bool neighbour_gone(int /*face*/) { return false; }

  /// Frees at once the resources that one rank alone can only leave to the group, such as an MPI window. Call it
  /// after every message has been waited for; afterwards only abandon() and the destructor may be called.
  /// Collective: yes.
  virtual void close() {}
  /// Messages may stay under way for ever. So memory that they could still touch must never be used again. Tells the
  /// neighbours where that is possible. May be called twice.
  virtual void abandon() noexcept = 0;
};

/// Options that only some transports have; the others ignore them.
struct TransportOptions {
  int ranks_per_node = 0;           ///< hybrid: consecutive ranks taken as a node; 0 asks the machine
  std::string network{};            ///< hybrid: the transport between nodes; empty for default_network(grid)
  std::vector<int> interfaces{};    ///< utofu: network interface of each face, shape (2 ndim,); empty spreads the faces
  bool cache_injection = true;      ///< utofu: received data goes into the last-level cache too
  std::size_t piggyback_bytes = 8;  ///< utofu: messages up to this length travel inside the descriptor; at most 8
};

/// A transport and whether it is available here.
struct TransportInfo {
  std::string name;
  bool available;
  std::string reason;  ///< why it is not available; empty when it is
};

/// How a transport is chosen and made.
struct TransportKind {
  std::string name;  ///< without a colon
  /// Why this transport cannot serve a grid, as the end of a sentence that begins with "it"; empty when it can. With
  /// a grid: collective, the same on every rank. Without one (nullptr): the answer of one rank alone, as far as it
  /// can tell.
  std::function<std::string(const ProcessGrid*)> unavailable_reason;
  std::function<std::unique_ptr<Transport>(const TransportOptions&)> make;
  bool takes_network = false;  ///< "NAME:OTHER" means this transport with OTHER as TransportOptions::network
  /// Why "auto" and default_transport() must not open this transport, although it may be named; empty when they may,
  /// and when there is no function. Collective and the same on every rank.
  std::function<std::string(const ProcessGrid&)> trial_unavailable_reason{};
};

/// The transports of the library, in the order of preference among equals. A transport that this build lacks is
/// listed with the reason. CMake writes this list (cmake/Transports.cmake).
std::vector<TransportKind> built_in_transports();
/// The transports of the library and the registered ones, in the order of preference.
const std::vector<TransportKind>& transport_kinds();

/// Adds a transport from outside of the library. available_transports() then lists it, it may be named wherever a
/// transport is named, and it takes part in the trials of "auto". It must keep the contract at the top of this file:
/// run the laws of tests/comm/halo_laws.hpp over it. Call on every rank before the first exchange, from one thread.
/// @throws InvalidArgument  for a name that is taken, is empty or has a colon, and for an empty `unavailable_reason`
///                          or `make`
/// Collective: no.
void register_transport(TransportKind kind);

/// All transports that Halocline knows, in alphabetical order, with their availability as far as one rank can tell
/// without a grid. Collective: no.
std::vector<TransportInfo> available_transports();

/// Why this transport cannot serve this grid; empty when it can. @param name  as for make_transport
/// Collective: yes, the same on every rank.
std::string transport_unavailable_reason(std::string_view name, const ProcessGrid& grid);

/// @param name  one of available_transports(); "hybrid:NAME" for a hybrid that takes NAME between the nodes; empty
///              for default_transport(grid)
/// @throws InvalidArgument  for an unknown name, and for a transport that cannot serve this grid; lists those that
///                          can
/// Collective: yes.
std::unique_ptr<Transport> make_transport(std::string_view name, const ProcessGrid& grid,
                                          const TransportOptions& options = {});

/// The transport when the user names none: the first of transport_kinds() that can serve this grid and may be opened
/// unasked. That is `self` for one process, `shared_memory` for one node, and `hybrid` otherwise, where it can serve.
/// Collective: yes.
std::string default_transport(const ProcessGrid& grid);

}  // namespace halocline::comm
