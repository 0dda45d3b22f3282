// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The minimum work by which two processes of one machine can pass a message: the floor under every transport.
///
/// It uses memory that both processes can address, through MPI's shared window, and no other part of the library. The
/// sender stores the bytes where the receiver will read them, and then a flag right behind them; the receiver spins on
/// the flag and reads. Two boxes in each direction alternate, as in the exchange. Each cache line must move to the
/// other core and back before it is written again, which no exchange can avoid. There is no counting, no check, no time
/// limit and no other face.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "halocline/comm/group/communicator.hpp"

namespace halocline::bench {

class BarePair {
public:
  /// The reason why these processes cannot have a pair: not two, not on one machine, no MPI. Empty if they can.
  /// Collective: yes.
  static std::string unavailable_reason(const comm::Communicator& group);

  /// @param bytes  size of a message, a multiple of 8; 0 passes only the flag
  /// @throws InvalidArgument  there is an unavailable_reason(). Collective: yes.
  BarePair(const comm::Communicator& group, std::size_t bytes);
  BarePair(BarePair&&) noexcept;
  BarePair& operator=(BarePair&&) = delete;
  ~BarePair();  ///< Collective: yes.

  /// Memory of the other process for the next message.
  std::span<std::byte> outbox() noexcept { return {out_[slot(posted_)], bytes_}; }
  void post() noexcept {
    __atomic_store_n(flag(out_[slot(posted_)]), posted_ + 1, __ATOMIC_RELEASE);
    ++posted_;
  }
  /// Returns when the next message has arrived.
  void wait() noexcept;
  /// The message that arrived last.
  std::span<const std::byte> inbox() const noexcept { return {in_[slot(arrived_ - 1)], bytes_}; }

private:
  struct Window;
  static std::size_t slot(std::uint64_t message) noexcept { return message & 1; }
  std::uint64_t* flag(std::byte* box) const noexcept { return reinterpret_cast<std::uint64_t*>(box + bytes_); }

  std::unique_ptr<Window> window_;
  std::size_t bytes_;
  std::byte* out_[2] = {};
  std::byte* in_[2] = {};
  std::uint64_t posted_ = 0, arrived_ = 0;
};

}  // namespace halocline::bench
