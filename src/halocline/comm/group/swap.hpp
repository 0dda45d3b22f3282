// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Two ranks swap messages between memory of their own, without waiting: for memory that no transport can own.
///
/// A transport of HaloExchange allocates its buffers. Device memory is allocated by somebody else, and an MPI library
/// that knows the device sends from it and receives into it directly; a Swap hands it the caller's addresses.

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
  /// Starts both. The spans stay where they are, untouched, until done().
  /// @param partner  another rank of the group, which does the same with the same tag and the lengths turned round
  /// @param tag      0 to 32766, apart from those of other swaps under way between the two
  /// @throws InvalidArgument  for a partner that is not another rank. Collective: no.
  Swap(const Communicator& group, std::span<const std::byte> mine, std::span<std::byte> theirs, int partner, int tag);
  Swap(Swap&&) noexcept;
  Swap& operator=(Swap&&) noexcept;
  /// Waits, unless it is done or was abandoned.
  ~Swap();

  /// Both messages are where they should be; makes progress, never blocks. True for an empty one.
  bool done();
  /// The partner may never come: gives the messages up. Their memory belongs to MPI from now on and must not be freed.
  void abandon() noexcept;

private:
  std::unique_ptr<detail::Pending> pending_;
};

/// Why the MPI library cannot send and receive CUDA device memory; empty where it says that it can.
/// Collective: no.
std::string device_memory_unavailable_reason();

}  // namespace halocline::comm
