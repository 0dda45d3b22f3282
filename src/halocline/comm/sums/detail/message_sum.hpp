// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of a few doubles by messages, between the nodes of a group or between processes that share no memory.
///
/// Three ways, all of fixed order, so that every participant ends with the same bits:
///
///   direct    everyone swaps with everyone and adds in order: one latency. Up to 8 participants.
///   gathered  the same by the layer below's gather to all, for more participants where the order must be theirs.
///   doubling  recursive doubling: participants i and i XOR 2^s swap partial sums in step s, and both add the two:
///             the sum is that of one fixed tree, for a + b has the bits of b + a. Those beyond the last power of two,
///             p, hand their values to participant i - p first and get the sum from it at the end. 2 + log2 p latencies
///             at most.
///
/// Every message carries the number of the sum and of its values, so that participants that are not in the same sum
/// are told, not added.

#include "halocline/comm/group/backend.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halocline::comm::detail {

/// One sum at a time; begun, and polled until it is there.
class MessageSum {
public:
  static constexpr std::size_t most_values = 8;
  static constexpr int most_direct = 8;  ///< participants

  /// @param participants  a group for this object alone
  /// @param keep_order    add in the order of the participants however many they are
  MessageSum(std::shared_ptr<Backend> participants, bool keep_order);
  MessageSum(const MessageSum&) = delete;
  MessageSum& operator=(const MessageSum&) = delete;
  /// Gives up what is under way.
  ~MessageSum() { abandon(); }

  /// @param label  the same on all participants, another for every sum
  void begin(std::uint64_t label, std::span<const double> values);
  /// True when the sum is there, or cannot be (mismatched()); makes progress.
  bool test();
  /// A participant whose message had another label; -1 when there is none.
  int mismatched() const noexcept { return mismatched_; }
  std::span<const double> sums() const noexcept { return {total_.data(), count_}; }

  /// Who is waited for: participants, of whom one at least has not sent its message.
  std::vector<int> missing() const;
  Backend& participants() const noexcept { return *participants_; }

  /// Afterwards only destruction is allowed. What is under way, its buffers and the group are left to the layer below,
  /// which may still store into them.
  void abandon() noexcept;

private:
  enum class Way { direct, gathered, doubling };
  struct Message {
    std::uint64_t label = 0;
    std::array<double, most_values> values{};
  };
  struct Buffers {
    Message mine;
    std::vector<Message> theirs;  ///< shape (participants,)
  };

  void swap_with(int partner, int tag);
  void next_step();
  bool finish_direct();
  bool finish_gathered();
  bool finish_doubling();
  bool matches(int participant) noexcept;
  void add(const Message& message);
  void add_in_order();

  std::shared_ptr<Backend> participants_;
  Way way_;
  int rank_, size_, power_;  ///< power_: the largest power of two that is not above size_
  std::unique_ptr<Buffers> buffers_;
  std::vector<std::unique_ptr<Pending>> pending_;  ///< direct: by participant; else the first one alone
  std::array<double, most_values> total_{};
  std::size_t count_ = 0;
  int mismatched_ = -1;
  int step_ = 0;      ///< of the doubling
  int partner_ = -1;  ///< of this step
};

}  // namespace halocline::comm::detail
