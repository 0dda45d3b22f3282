// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How the bytes of a halo travel: put + flag between registered buffers.
///
/// For every face a transport owns `slots` outboxes and `slots` inboxes. `put(face, slot, bytes, flag)` carries a
/// message from the outbox of one face into the inbox, in the same slot, of the neighbour's opposite face, and after
/// the data it carries `flag`. Whoever polls `arrived_flag` and sees the new value may read the data: the load acquires
/// what the flag released. That is all. When a slot may be used again is the exchange's business (halo_exchange.hpp):
///
///   - the outbox is filled and put only when the neighbour has released that inbox, so a one-sided transport may store
///     into the neighbour's memory at once: the outbox may *be* the neighbour's inbox (`direct`);
///   - release(face, slot) says that the inbox here will not be read again; a two-sided transport starts its next
///     receive there, a one-sided one has nothing to do;
///   - sent(face, slot) says that the outbox may be refilled. It is apart from arrival, because it is a local matter;
/// An exchange of one buffer asks for Acknowledgements besides; a transport without them serves those of two.
///
/// The transport owns the memory because most have wishes about it: shared segments, a symmetric heap, registered
/// pages. A message may be shorter than its box, and where it begins in the box is the transport's affair.
///
/// Transports are values chosen by name while the program runs. One suite of laws (tests/comm/halo_laws.hpp) runs over
/// all of them.

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

/// For exchanges of one buffer: a number that goes back to the sender of a face's messages.
class Acknowledgements {
public:
  /// Puts a number, larger each time, where the neighbour of this face reads it by acknowledged(opposite face).
  virtual void acknowledge(int face, std::uint64_t count) = 0;
  /// The number that the neighbour acknowledged last, 0 at first. Polled; makes progress.
  virtual std::uint64_t acknowledged(int face) = 0;
  /// A put through this face waits, outside of this process's way, until the receiver has released the inbox: it needs
  /// no number.
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
  /// Never waits long: what a neighbour leaves hanging is left to the layer below, its memory with it.
  virtual ~Transport() = default;

  virtual std::string_view name() const noexcept = 0;

  /// Registers the boxes; called once, before anything else.
  /// @param capacity  shape (2 ndim,) by Face::index() [bytes]: the longest message, equal on both sides of every pair
  ///                  of faces; 0 leaves a face out, and so does an absent neighbour
  /// @param slots     boxes a face
  /// @throws InvalidArgument  where this transport cannot carry such a message. On every rank
  /// Collective: yes.
  virtual void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) = 0;

  /// Where a message of so many bytes begins; 64-byte aligned, nullptr for a face that is left out.
  virtual std::byte* outbox(int face, int slot, std::size_t bytes) noexcept = 0;
  virtual const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept = 0;

  /// Starts the data and then the flag on their way; returns at once. The flag may stay here until dispatch(), or until
  /// a poll.
  /// @param bytes  from 1 to the capacity; @param flag  not 0
  virtual void put(int face, int slot, std::size_t bytes, std::uint64_t flag) = 0;
  /// The messages put since the last call are all there are for now: a transport that must see the data away before it
  /// sends a flag does so for all of them together.
  virtual void dispatch() {}
  /// The flag that arrived last in this inbox, 0 before the first. Polled; makes progress.
  /// @param bytes  the length that the next message will have
  virtual std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) = 0;
  /// The inbox will not be read until its next flag. Not called before its first message.
  virtual void release(int face, int slot) = 0;
  /// The outbox may be refilled, as far as this process is concerned. Polled; makes progress; true before the first
  /// put.
  virtual bool sent(int face, int slot) = 0;

  /// A message has arrived in `slot` and will be read soon: a chance to call for its cache lines.
  virtual void arrived(int /*face*/, int /*slot*/, std::size_t /*bytes*/) noexcept {}

  /// nullptr for a transport that serves exchanges of two buffers only. Asked after open().
  virtual Acknowledgements* acknowledgements() noexcept { return nullptr; }
  /// The outbox of this face is the neighbour's inbox itself.
  virtual bool direct(int /*face*/) const noexcept { return false; }
  /// Several threads may call at once, each with faces of its own.
  virtual bool concurrent() const noexcept { return false; }
  /// Why only the thread that started the program may call, not even several in turns; empty where they may.
  virtual std::string thread_unavailable_reason() const { return {}; }
  /// The neighbour of this face is known to have died, or to have abandoned its side. Asked every few milliseconds.
  virtual bool neighbour_gone(int /*face*/) { return false; }

  /// Gives back at once what one rank alone can only leave to the group. Every message has been waited for; afterwards
  /// only abandon() and the destructor may be called. Collective: yes.
  virtual void close() {}
  /// Messages may be under way for ever: whatever they could still touch must not be used again by anybody. Tells the
  /// neighbours where that is possible. May be called twice.
  virtual void abandon() noexcept = 0;
};

/// Wishes that only some transports can grant; the others ignore them.
struct TransportOptions {
  int ranks_per_node = 0;           ///< hybrid: consecutive ranks taken as a node; 0 asks the machine
  std::string network{};            ///< hybrid: the transport between nodes; empty for default_network(grid)
  std::vector<int> interfaces{};    ///< utofu: network interface of each face, shape (2 ndim,); empty spreads them
  bool cache_injection = true;      ///< utofu: received data goes into the last-level cache too
  std::size_t piggyback_bytes = 8;  ///< utofu: messages up to this length travel inside the descriptor; at most 8
};

/// A transport, and why it cannot be had here if it cannot.
struct TransportInfo {
  std::string name;
  bool available;
  std::string reason;  ///< empty when available
};

/// How a transport is chosen and made.
struct TransportKind {
  std::string name;  ///< without a colon
  /// Why it cannot serve a grid, as the end of a sentence that begins with "it"; empty where it can. Collective and the
  /// same on every rank where there is a grid; without one (nullptr) as far as can be told, by one rank alone.
  std::function<std::string(const ProcessGrid*)> unavailable_reason;
  std::function<std::unique_ptr<Transport>(const TransportOptions&)> make;
  bool takes_network = false;  ///< "NAME:OTHER" is this one, with OTHER as TransportOptions::network
  /// Why "auto", and default_transport(), must not open it unasked, though it may be named; empty where they may, and
  /// where there is no function. Collective and the same on every rank.
  std::function<std::string(const ProcessGrid&)> trial_unavailable_reason{};
};

/// Those of the library, in the order of preference among equals; kinds that this build is without say why. CMake
/// writes this list (cmake/Transports.cmake).
std::vector<TransportKind> built_in_transports();
/// Those and the registered ones, in the order of preference.
const std::vector<TransportKind>& transport_kinds();

/// Adds a transport from outside of the library, which is then one of available_transports(), may be named wherever a
/// transport is, and takes part in the trials of "auto". It must keep the contract at the top of this file: run the
/// laws of tests/comm/halo_laws.hpp over it. Call on every rank before the first exchange, from one thread.
/// @throws InvalidArgument  for a name that is taken, is empty or has a colon, and for an empty function. Collective:
/// no.
void register_transport(TransportKind kind);

/// All that Halocline knows of, in alphabetical order, as far as can be told without a grid. Collective: no.
std::vector<TransportInfo> available_transports();

/// Why this transport cannot serve this grid; empty when it can. @param name  as for make_transport
/// Collective: yes, the same on every rank.
std::string transport_unavailable_reason(std::string_view name, const ProcessGrid& grid);

/// @param name  one of available_transports(); "hybrid:NAME" for a hybrid that takes NAME between the nodes; empty for
///              default_transport(grid)
/// @throws InvalidArgument  for an unknown or absent one, or one that cannot serve this grid; lists those that can
/// Collective: yes.
std::unique_ptr<Transport> make_transport(std::string_view name, const ProcessGrid& grid,
                                          const TransportOptions& options = {});

/// The name to take when the user gave none: the first of transport_kinds() that can serve this grid. That is `self`
/// for one process, `shared_memory` for one node, and `hybrid` otherwise. Collective: yes.
std::string default_transport(const ProcessGrid& grid);

}  // namespace halocline::comm
