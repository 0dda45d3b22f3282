// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Two ranks swap messages between buffers of the caller, without waiting.
///
/// A transport of HaloExchange allocates its buffers, but device memory is allocated elsewhere. An MPI library that
/// knows the device sends from this memory and receives into it directly. A Swap hands the caller's addresses to MPI.

#include "halocline/comm/group/communicator.hpp"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace halocline::comm {

/// A message to another rank and one from it, under way. Movable.
class Swap {
public:
  Swap() noexcept;
  /// Starts both messages. Both spans must stay valid and untouched until done().
  /// @param partner  another rank of the group, which makes the same call with the same tag and the lengths exchanged
  /// @param tag      0 to 32766, different for all swaps under way between the two. A Communicator::send with tag t
  ///                 counts as tag t + 1 here, and a gather as tag 0
  /// @throws InvalidArgument  for a partner that is not another rank. Collective: no.
  Swap(const Communicator& group, std::span<const std::byte> mine, std::span<std::byte> theirs, int partner, int tag);
  Swap(Swap&&) noexcept;
  Swap& operator=(Swap&&) noexcept;
  /// Waits, unless it is done or was abandoned.
  ~Swap();

  /// True when both messages are complete, and for an empty Swap. Makes progress, never blocks.
  bool done();
  /// Gives the messages up, because the partner may never come. Both spans belong to MPI from now on and must not be
  /// freed.
  void abandon() noexcept;

private:
  std::unique_ptr<detail::Pending> pending_;
};

/// Why the MPI library cannot send and receive CUDA device memory; empty when it says that it can.
/// Collective: no.
std::string device_memory_unavailable_reason();

}  // namespace halocline::comm
