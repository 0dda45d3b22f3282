// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The sum of a long field over a group of processes, in the background of other work.
///
/// The P processes are numbered in rows of A consecutive ranks, P = A x B. A sum has four phases:
///
///   1  in a row, everyone gets a part 1/A of the field from everyone, and adds
///   2  in a column, everyone gets 1/B of these partial sums from everyone, and adds
///   3  in a column, everyone sends the finished 1/P of the field to everyone
///   4  in a row, everyone sends the finished 1/A of the field to everyone
///
/// So a process sends about 4 sqrt(P) messages instead of the 2 P of a sum in two phases, and receives the same
/// 2 x field. Up to `most_in_a_row` processes, and where P is prime, one row has all of them and phases 2 and 3 are
/// empty. Messages of a phase are under way together. Only advance() and wait() begin the next phase, so a caller with
/// other work calls advance() four times or more while it works.
///
/// The order of the additions is fixed: the ranks of a row in rank order, then the rows in order. So all ranks hold the
/// same bits, every time. docs/design/0024-sums-behind-work.md has the alternatives.

#include "halocline/comm/group/communicator.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace halocline::comm {

/// One sum at a time; move-only. Constructor, begin and wait are collective.
class FieldSum {
public:
  static constexpr int most_in_a_row = 8;  ///< processes among whom two phases are enough

  /// @param values  doubles in a field, the same number on every rank
  /// Collective: yes.  Cost: memory of two fields.
  FieldSum(const Communicator& group, std::size_t values);
  FieldSum(FieldSum&&) noexcept;
  FieldSum& operator=(FieldSum&&) noexcept;
  /// Gives up a sum under way: its memory is then never freed. Collective: no.
  ~FieldSum();

  /// Begins a sum. The field is copied, and may change meanwhile.
  /// @throws InvalidArgument  for another number of values, or while a sum is under way; on the ranks where that is so
  void begin(std::span<const double> field);
  /// Makes progress; never waits. True when wait() will not wait, also when nothing has begun. Collective: no.
  bool advance();
  /// Completes the sum and writes it to `field`; does nothing when nothing has begun.
  /// @throws core::Error  when a rank is missing (time_limit.hpp); the object cannot be used further
  void wait(std::span<double> field);

  bool under_way() const noexcept;
  /// Processes in a row, and rows.
  std::array<int, 2> shape() const noexcept;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::comm
