// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Sums of a few doubles over all processes, as a solver needs several of in every iteration.
///
/// Every rank gets everyone's values and adds them in rank order. So the result does not depend on timing, all ranks
/// hold the same bits, and a loop that tests it ends on all of them in the same iteration. An object of this class has
/// its buffers ready and allocates nothing per sum (the non-blocking form: one small request).

#include "halocline/comm/communicator.hpp"

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace halocline::comm {

/// One sum at a time; move-only. All members are collective.
class Reduction {
public:
  static constexpr std::size_t most = 8;  ///< doubles in one sum

  explicit Reduction(Communicator group);
  Reduction(Reduction&&) noexcept;
  Reduction& operator=(Reduction&&) noexcept;
  ~Reduction();

  /// Replaces the values by their sums over the ranks, added in rank order.
  /// @param values  1 to 8, the same number on every rank
  /// @throws InvalidArgument  for another number, or while a sum is under way; on the ranks where that is so
  /// Cost: an all-gather of 8 bytes a value, and size() - 1 additions a value.
  void sum(std::span<double> values);

  /// The same in two steps: the values are taken now, and the sums put back by `wait()`.
  /// @param values  1 to 8; the span must stay valid until `wait()`, and its contents may change meanwhile
  void begin(std::span<double> values);
  /// @throws InvalidArgument  when nothing has begun
  void wait();

  const Communicator& communicator() const noexcept { return group_; }

private:
  void take(std::span<const double> values);
  void add_up(std::span<double> values) const;

  Communicator group_;
  std::unique_ptr<std::array<double, most>> mine_;  ///< on the heap: a request under way points at both
  std::vector<double> all_;                         ///< shape (ranks, values)
  std::span<double> under_way_;
  std::unique_ptr<detail::Pending> gather_;
};

}  // namespace halocline::comm
