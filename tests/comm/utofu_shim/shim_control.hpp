// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What tests set and read of the uTofu shim, apart from the interface itself.

#include <cstddef>
#include <cstdint>

namespace utofu_shim {

/// The machine that is imitated.
struct Machine {
  std::uint64_t seed = 1;
  int interfaces = 6;                 ///< TNIs of a node
  std::size_t queues = 1000;          ///< VCQs that can be had of one TNI
  std::size_t queue_length = 64;      ///< puts that one VCQ takes before it is busy
  std::size_t most_bytes = 16777215;  ///< of one put
};

/// What went through it.
struct Traffic {
  std::uint64_t puts = 0, piggybacks = 0, words = 0;  ///< of utofu_put, _put_piggyback and _put_piggyback8
  std::uint64_t injected = 0;                         ///< of the first two, with the cache injection flag
  std::uint64_t misaligned = 0;                       ///< injected ones that do not begin on a line of 256 bytes
  std::uint64_t busy = 0;                             ///< refused because the queue was full
  std::uint64_t weak = 0;                             ///< without strong ordering
  std::uint64_t by_interface[16] = {};                ///< all that left through each
};

/// Starts anew. No queue of before may be in use.
void reset(const Machine& machine);
Traffic traffic();
/// From now on every poll of a queue gives this code and completes nothing; 0 ends that.
void fail_polls(int code);
/// VCQs, and pieces of registered memory, that have not been given back.
std::size_t open_queues();
std::size_t registered();

}  // namespace utofu_shim
