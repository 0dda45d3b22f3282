// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The least that two processes of one machine must do to hand a message over: the floor under every transport.
///
/// Memory that both can address, by MPI's shared window and with nothing of the library in between. The sender stores
/// the bytes where the receiver will read them and then a flag right behind; the receiver spins on the flag and reads.
/// Two boxes each way take turns, as in the exchange, and each line must cross to the other core and come back to be
/// written again, which no exchange can avoid. There is no counting, no check, no time limit and no other face.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "halocline/comm/communicator.hpp"

namespace halocline::bench {

class BarePair {
public:
  /// Why these processes cannot have one: not two, not on one machine, no MPI. Empty when they can. Collective: yes.
  static std::string unavailable_reason(const comm::Communicator& group);

  /// @param bytes  of a message, a multiple of 8; 0 hands over the flag alone
  /// @throws InvalidArgument  where unavailable_reason() is not empty. Collective: yes.
  BarePair(const comm::Communicator& group, std::size_t bytes);
  BarePair(BarePair&&) noexcept;
  BarePair& operator=(BarePair&&) = delete;
  ~BarePair();  ///< Collective: yes.

  /// Where the next message goes: memory of the other process.
  std::span<std::byte> outbox() noexcept { return {out_[slot(posted_)], bytes_}; }
  void post() noexcept {
    __atomic_store_n(flag(out_[slot(posted_)]), posted_ + 1, __ATOMIC_RELEASE);
    ++posted_;
  }
  /// Returns when the next message has come.
  void wait() noexcept;
  /// The message that came last.
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
