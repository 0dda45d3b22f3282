// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Messages between rank 0 of a group and each of the other ranks, any number of times.
///
/// Rank 0 has a buffer for each other rank, and each other rank has one. All of them belong to the star. MPI may still
/// write to a buffer after a wait was given up, so the star never frees its buffers then.
///
///   star.resize(bytes);
///   if (rank == 0) for (int r = 1; r < size; ++r) star.receive(r);
///   else           { ... fill star.buffer(rank) ...; star.send(rank); }
///   for (int r; (r = star.next()) >= 0;) ...        rank 0: the message of rank r is in star.buffer(r)
///
/// The other way, rank 0 sends and the others receive. lattice/gathering.hpp moves fields so.

#include "halocline/comm/group/communicator.hpp"

#include <cstddef>
#include <limits>
#include <memory>
#include <span>

namespace halocline::comm {

/// Move-only. Every message has the same length, that of the last resize().
class Star {
public:
  /// @param group       has no other messages under way while the star has some; best a group of its own
  /// @param time_limit  [s] of each wait; infinity: as the group has it (time_limit.hpp)
  /// @throws InvalidArgument  for a time that is not positive. Collective: no.
  explicit Star(Communicator group, double time_limit = std::numeric_limits<double>::infinity());
  Star(Star&&) noexcept;
  Star& operator=(Star&&) noexcept;
  /// Completes the messages under way, unless a wait has failed. Collective: no.
  ~Star();

  const Communicator& communicator() const noexcept;

  /// Length of the messages from now on, the same on every rank [bytes]. Buffers only grow; their contents are lost.
  /// @throws InvalidArgument  while messages are under way. Collective: no.
  void resize(std::size_t bytes);

  /// At rank 0 that of any other rank; elsewhere the one of this rank, under its own number. 64-byte aligned.
  /// @throws InvalidArgument  for a rank that has none here
  std::span<std::byte> buffer(int rank);

  /// Start a message from or to the buffer of a rank, which must not be touched until next() has returned this rank.
  /// @throws InvalidArgument  for a rank that has no buffer here, or one whose message is under way. Collective: no.
  /// @throws core::Error      after a wait has failed
  void send(int rank);
  void receive(int rank);

  /// Waits until one of the messages is complete.
  /// @return the rank of its buffer, each once; -1 when none is left
  /// @throws core::Error  when the time is over, another rank has ended, or its message has another length; names this
  ///                      rank and the other. The star cannot be used further.
  int next();

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::comm
