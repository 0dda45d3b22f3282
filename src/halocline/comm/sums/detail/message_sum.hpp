// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of doubles by messages, between the nodes of a group or between processes that share no memory.
///
/// There are three ways. Each has a fixed order, so that every participant ends with the same bits:
///
///   direct    every participant swaps with every other one and adds in order: one latency. Up to 8 participants.
///   gathered  the same by an all-gather of the layer below, for more participants that must be added in their order.
///   doubling  recursive doubling: participants i and i XOR 2^s swap partial sums in step s, and both add the two.
///             The sum is that of one fixed tree, because a + b has the bits of b + a. Let p be the largest power of
///             two that is not above the number of participants. A participant i >= p first hands its values to
///             participant i - p, and gets the sum from it at the end. 2 + log2 p latencies at most.
///
/// Every message carries the number of the sum and the number of its values. So a participant that is in another sum
/// is noticed and not added. Up to eight values are a message of 72 bytes; longer ones have their own length, and where
/// lengths differ the layer below throws.

#include "halocline/comm/group/backend.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halocline::comm::detail {

/// One sum at a time: begin() it, then poll test() until it is complete.
class MessageSum {
public:
  static constexpr std::size_t short_values = 8;
  static constexpr int most_direct = 8;  ///< participants

  /// @param participants  a group for this object alone
  /// @param keep_order    add in the order of the participants, however many there are
  /// @param longest       values in one sum, at least 8
  /// Cost: 8 (longest + 1) bytes for a message, and as many for each participant; when doubling for one.
  MessageSum(std::shared_ptr<Backend> participants, bool keep_order, std::size_t longest);
  MessageSum(const MessageSum&) = delete;
  MessageSum& operator=(const MessageSum&) = delete;
  /// Abandons messages under way.
  ~MessageSum() { abandon(); }

  /// @param number  of the sum, the same on all participants, another for every sum
  void begin(std::uint64_t number, std::span<const double> values);
  /// True when the sum is complete, or cannot be completed (mismatched()). Makes progress.
  bool test();
  /// A participant whose message had another label; -1 when there is none.
  int mismatched() const noexcept { return mismatched_; }
  std::span<const double> sums() const noexcept { return {total_.data(), count_}; }

  /// The awaited participants. At least one of them has not sent its message.
  std::vector<int> missing() const;
  Backend& participants() const noexcept { return *participants_; }

  /// Leaves the messages under way, their buffers and the group to the layer below, which may still store into the
  /// buffers. Afterwards only destruction is allowed.
  void abandon() noexcept;

private:
  enum class Way { direct, gathered, doubling };
  /// A message is a label and the values.
  struct Buffers {
    std::vector<double> mine;
    std::vector<double> theirs;  ///< one message for each participant; when doubling, a single one
  };

  void swap_with(int partner, int tag);
  void next_step();
  bool finish_direct();
  bool finish_gathered();
  bool finish_doubling();
  bool matches(int participant) noexcept;
  double* message_of(int participant) noexcept {
    return buffers_->theirs.data() + (way_ == Way::doubling ? 0 : static_cast<std::size_t>(participant) * words_);
  }
  void add(const double* message);
  void add_in_order();

  std::shared_ptr<Backend> participants_;
  Way way_;
  int rank_, size_, power_;  ///< power_: the largest power of two that is not above size_
  std::unique_ptr<Buffers> buffers_;
  std::vector<std::unique_ptr<Pending>> pending_;  ///< direct: one for each participant; else a single one
  std::vector<double> total_;                      ///< shape (longest,)
  std::size_t count_ = 0;
  std::size_t words_ = 0;    ///< of a message
  std::uint64_t label_ = 0;  ///< of this sum
  int mismatched_ = -1;
  int step_ = 0;      ///< of the doubling
  int partner_ = -1;  ///< of this step
};

}  // namespace halocline::comm::detail
