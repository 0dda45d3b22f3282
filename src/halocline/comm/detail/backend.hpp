// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a group of processes must be able to do for a Communicator to be built on it.
///
/// Few operations, all on bytes or on integers whose sum does not depend on the order. Floating-point reductions are
/// not here on purpose: Communicator builds them from `all_gather`, so that every back end adds in the same order.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace halocline::comm::detail {

/// A collective that has begun. Destroying it completes it.
class PendingGather {
public:
  PendingGather() = default;
  PendingGather(const PendingGather&) = delete;
  PendingGather& operator=(const PendingGather&) = delete;
  virtual ~PendingGather() = default;
  /// Blocks until the gathered bytes are in place. May be called again.
  virtual void wait() = 0;
};

/// A group of processes. Sizes of the spans agree on all ranks unless a line says otherwise.
class Backend {
public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// `all` holds size() times mine.size() bytes, in rank order.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual std::unique_ptr<PendingGather> begin_all_gather(std::span<const std::byte> mine,
                                                          std::span<std::byte> all) = 0;
  /// Rank r gets block r of everyone's `mine`; both spans hold size() blocks of equal length.
  virtual void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void sum(std::span<std::uint64_t> values) = 0;
  virtual void bit_xor(std::span<std::uint32_t> values) = 0;
  /// To another rank; messages between the same two ranks with the same tag keep their order.
  virtual void send(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual void receive(std::span<std::byte> bytes, int from, int tag) = 0;
  virtual std::shared_ptr<Backend> split(int colour, int key) = 0;

  /// Messages of a rank to itself wait here, by tag, so that sending before receiving never blocks.
  std::map<int, std::deque<std::vector<std::byte>>>& mailbox() noexcept { return mailbox_; }

private:
  std::map<int, std::deque<std::vector<std::byte>>> mailbox_;
};

/// The group of this process alone.
std::shared_ptr<Backend> make_alone();

}  // namespace halocline::comm::detail
