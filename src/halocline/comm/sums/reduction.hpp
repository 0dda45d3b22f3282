// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of a few doubles over all processes, as a solver needs several of in every iteration.
///
/// The order of adding is fixed: the ranks of a node in rank order, then the nodes in the order of their lowest ranks
/// (many nodes: along a fixed tree). So the result does not depend on timing, all ranks hold the same bits, and a loop
/// that tests it ends on all of them in the same iteration. Sums that do not depend on the number of processes either
/// are in exact_sum.hpp.
///
/// Inside a node nobody sends. Each rank has, in memory that all of them share, two slots; sum k uses slot k mod 2. A
/// slot is one cache line for up to seven values (eight take a second): the values, and in its last word a label with
/// the number k. Writing them, label last with release, is all that a rank does; then it reads everybody's slot, each
/// as soon as its label is that of sum k, and adds in rank order. A sum costs the time of two cache-line transfers.
///
/// Why two slots are enough, with no acknowledgement: our sum k+2 overwrites what we wrote for sum k. We begin k+2
/// after our sum k+1 was complete; that took everybody's label k+1; and everybody wrote its label k+1 after its own sum
/// k was complete, which includes reading our slot of sum k. So all have read what we overwrite: the label of the next
/// sum is the acknowledgement of this one. One slot would not do: when our sum k is complete, others may still be
/// reading ours.
///
/// On a node of many ranks everybody reading everybody is N^2 transfers. Beyond `gather_above` ranks, and whenever the
/// group spans several nodes, the lowest rank of the node alone reads the slots, adds, and shows the sums in a slot of
/// its own, which the others await. Between nodes these lowest ranks use messages (detail/message_sum.hpp).
/// docs/design/0006-small-reductions.md says what else was considered.

#include "halocline/comm/group/communicator.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>

namespace halocline::comm {

/// The same on every rank.
struct ReductionOptions {
  bool shared_memory = true;  ///< false: messages between all ranks, added in rank order; there to be compared with
  int gather_above = 16;      ///< ranks of one node, up to which everybody reads everybody's values
  double time_limit = 300.0;  ///< [s] see Reduction::set_time_limit
};

/// One sum at a time; move-only. All members are collective, but for those that only tell or set something.
///
/// Errors of waiting are a core::Error that names this rank, the number of the sum (counted from 1) and the rank that
/// is missing; afterwards every use is refused with a core::Error. The other ranks that wait for the missing one fail
/// as well, by their own time limits at the latest.
class Reduction {
public:
  static constexpr std::size_t most = 8;  ///< doubles in one sum

  /// @throws InvalidArgument  options that are out of range or differ between ranks; on every rank
  /// Collective: yes.  Cost: 4 KiB of shared memory a rank. Where no memory can be shared, messages are used.
  explicit Reduction(Communicator group, const ReductionOptions& options = {});
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;
  /// Collective: no; a sum under way is given up.
  ~Reduction();

  /// Replaces the values by their sums over the ranks.
  /// @param values  1 to 8, the same number on every rank
  /// @throws InvalidArgument  for another number, or while a sum is under way; on the ranks where that is so
  /// @throws core::Error      when a rank is missing, sums another number of values, or an earlier sum failed
  /// Cost: on one node two cache-line transfers, size() - 1 additions a value, no allocation.
  void sum(std::span<double> values);

  /// The same for a number of values that the compiler knows, returned.
  template <std::size_t N>
  [[nodiscard]] std::array<double, N> sum(std::array<double, N> values) {
    static_assert(N >= 1 && N <= most);
    sum_in_place<N>(values.data());
    return values;
  }
  [[nodiscard]] double sum(std::same_as<double> auto value) {
    sum_in_place<1>(&value);
    return value;
  }
  /// The group of sums of one step of a solver: `const auto [rr, rt] = reduction.sums(r_r, r_t);`
  [[nodiscard]] auto sums(std::same_as<double> auto... values) {
    return sum(std::array<double, sizeof...(values)>{values...});
  }

  /// The same in steps: the values are taken and shown to the others now, and the sums put back by `wait()`. What has
  /// to be done in between (by the rank that adds for its node) is done by `test()` and `wait()`.
  /// @param values  1 to 8; the span must stay valid until `wait()`, and its contents may change meanwhile
  void begin(std::span<double> values);
  /// True when `wait()` will not wait. Collective: no.
  /// @throws InvalidArgument  when nothing has begun
  bool test();
  /// @throws InvalidArgument  when nothing has begun
  void wait();

  /// How long a sum may wait for the other ranks. @param seconds  positive
  /// @throws InvalidArgument  for a time that is not positive. Collective: no.
  void set_time_limit(double seconds);
  double time_limit() const noexcept;

  const Communicator& communicator() const noexcept;
  /// Values pass through shared memory between the ranks of this node: there are several, and it was not switched off.
  bool shared_memory() const noexcept;
  int nodes() const noexcept;  ///< that the group spans; without shared memory every rank counts as one

private:
  struct State;

  /// In place, N values. Defined for 1 to 8.
  template <std::size_t N>
  void sum_in_place(double* values);

  std::unique_ptr<State> state_;
};

}  // namespace halocline::comm
