// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of a few doubles over all processes, or of some hundred. A solver needs several of them in every iteration.
///
/// The order of the additions is fixed: first the ranks of a node in rank order, then the nodes in the order of their
/// lowest ranks (many nodes: along a fixed tree). So the result does not depend on timing, all ranks hold the same
/// bits, and a loop that tests it ends on all of them in the same iteration. exact_sum.hpp has sums that do not
/// depend on the number of processes either.
///
/// Inside a node no messages are sent. Each rank has two slots in memory that all ranks of the node share; sum k uses
/// slot k mod 2. A slot is one cache line for up to seven values (eight take a second line). It holds the values, and
/// in its last word a label with the number k. A rank writes its values and then stores the label with release. It
/// then reads the slots of all ranks, each as soon as its label is that of sum k, and adds in rank order. A sum costs
/// the time of two cache-line transfers.
///
/// Two slots are enough, without acknowledgement, for this reason. Our sum k+2 overwrites our values of sum k. We
/// begin sum k+2 after our sum k+1 was complete, and that took the label k+1 of every rank. Every rank wrote its
/// label k+1 after its own sum k was complete, so after it had read our slot of sum k. So all ranks have read the
/// values that we overwrite: the label of the next sum is the acknowledgement of this one. One slot is not enough:
/// when our sum k is complete, other ranks may still be reading our slot.
///
/// If each of N ranks of a node reads the slots of all, that is N^2 transfers. Beyond `gather_above` ranks, and
/// whenever the group spans several nodes, only the lowest rank of the node reads the slots. It adds them and
/// publishes the sums in a slot of its own, for which the other ranks wait. Between nodes these lowest ranks use
/// messages (detail/message_sum.hpp). docs/design/0006-small-reductions.md has the alternatives.
///
/// These ways are called `ordered`. A machine whose MPI adds in hardware (the Tofu barrier, SHARP) may be faster by
/// MPI_Allreduce, which adds in an order of its own choice: the way `mpi`, and `mpi_split` for hardware that takes few
/// values at once. All ranks still hold the same bits, because MPI promises so, but another number of processes or
/// another placement may give others. `automatic` takes the fastest of a short trial (sum_choice.hpp).
///
/// More than eight values stand behind the slots, in memory that is as long as `ReductionOptions::longest` asks for.
/// The slot then holds their number, and its label says that they are complete. The order of additions is the same, so
/// a long sum has the bits of many short ones, and takes the time of one.

#include "halocline/comm/group/communicator.hpp"

#include <array>
#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace halocline::comm {

/// Who adds.
enum class SumWay {
  ordered,    ///< shared memory and messages, in a fixed order
  mpi,        ///< MPI_Allreduce, in an order of MPI's choice
  mpi_split,  ///< the same for `ReductionOptions::piece` values at a time
  automatic   ///< the fastest of a trial, for short and for long sums
};
/// "ordered", "mpi", "mpi-split", "auto".
std::string_view name(SumWay way) noexcept;
/// @throws InvalidArgument  for another name
SumWay sum_way_named(std::string_view name);

/// Options of a reduction, the same on every rank.
struct ReductionOptions {
  bool shared_memory = true;  ///< false: messages between all ranks, added in rank order; for comparison
  int gather_above = 16;      ///< up to so many ranks of one node, every rank reads the values of all
  double time_limit = 300.0;  ///< [s] see Reduction::set_time_limit
  std::size_t longest = 8;    ///< doubles in one sum, at least 8
  SumWay way = SumWay::ordered;
  std::size_t piece = 3;  ///< values in a piece of `mpi_split`: as many as the Tofu barrier adds at once
};

/// One sum at a time; move-only. A group of one rank has nothing to add, and its way is `ordered` whatever the options
/// say.
/// The constructor, sum, sums, begin and wait are collective.
///
/// When a rank is missing, a wait throws a core::Error. It names this rank, the number of the sum (counted from 1)
/// and the missing rank; every later use is refused with a core::Error. The other ranks that wait for the missing one
/// fail as well, by their own time limits at the latest. The way `mpi` keeps time limits in sums by steps only: a
/// blocking sum waits inside MPI, until MPI ends the job or the missing rank comes.
class Reduction {
public:
  static constexpr std::size_t most = 8;  ///< doubles in one sum that take the short way

  /// @throws InvalidArgument  options that are out of range or differ between ranks, and the ways of MPI for a group
  ///                          that does not stand on MPI; on every rank
  /// Collective: yes.  Cost: 4 KiB and 32 `longest` bytes of shared memory a rank. Where memory cannot be shared, the
  /// reduction uses messages.
  explicit Reduction(Communicator group, const ReductionOptions& options = {});
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;
  /// Collective: no. Gives up a sum under way.
  ~Reduction();

  /// Replaces the values by their sums over the ranks.
  /// @param values  1 to longest(), the same number on every rank
  /// @throws InvalidArgument  for another number of values, or while a sum is under way; on the ranks where that is
  ///                          so
  /// @throws core::Error      when a rank is missing, sums another number of values, or an earlier sum failed
  /// Cost: on one node two cache-line transfers, size() - 1 additions a value, no allocation. More than 8 values are
  /// as many cache lines as they fill, and over several nodes one message of their length in place of a short one.
  void sum(std::span<double> values);

  /// The same for a number of values that is known at compile time. Returns the sums.
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
  /// All sums of one step of a solver: `const auto [rr, rt] = reduction.sums(r_r, r_t);`
  [[nodiscard]] auto sums(std::same_as<double> auto... values) {
    return sum(std::array<double, sizeof...(values)>{values...});
  }

  /// The same in steps. begin() publishes the values, and `wait()` writes the sums back. The rank that adds for its
  /// node does its work in `test()` and `wait()`.
  /// @param values  1 to longest(); the span must stay valid until `wait()`, and its contents may change meanwhile
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
  std::size_t longest() const noexcept;
  /// True when the ranks of this node use shared memory. False when the node has one rank, and when shared memory is
  /// switched off or cannot be had.
  bool shared_memory() const noexcept;
  int nodes() const noexcept;  ///< nodes of the group; without shared memory every rank counts as one
  /// The way of a blocking sum of so many values; never `automatic`.
  SumWay way(std::size_t values) const noexcept;

private:
  struct State;

  /// In place, N values. Defined for 1 to 8.
  template <std::size_t N>
  void sum_in_place(double* values);

  std::unique_ptr<State> state_;
};

}  // namespace halocline::comm
