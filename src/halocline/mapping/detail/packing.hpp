// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Assigns whole items to equal owners (the interfaces of a node) so that the largest load is minimal; exact.
///
/// This is the scheduling of jobs on identical machines, solved by branch and bound. Items are placed from the largest
/// down, each tried with the owners from the least loaded up. The first division found is therefore that of the greedy
/// rule "largest item to least loaded owner". Three rules prune the search: owners of equal load are interchangeable
/// and tried once; states whose loads occurred before are not entered again; a branch ends if the items still to be
/// placed exceed the room left below the best largest load.
///
/// The search stops early at the largest of three lower bounds: the largest item; the mean load, rounded up to a
/// multiple of the items' common divisor; and the sum of the two smallest of the K + 1 largest items, because two of
/// these must share one of K owners.
///
/// The items of a node take few different values, for which this needs microseconds. Twenty numbers without a common
/// measure can take very long, so the number of steps is limited.

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping::detail {

struct Packing {
  std::vector<int> owner;   ///< shape (items,)
  std::vector<Bytes> load;  ///< shape (interfaces,)
  Bytes largest = 0;
  bool settled = true;  ///< proven: no division is better, or this one is good enough
};

inline constexpr std::int64_t patient = 20'000'000;  ///< steps: some seconds

/// A lower bound on the largest load of any division. @param items  largest first, none negative
Bytes packing_bound(std::span<const Bytes> items, int interfaces);

/// The best division. Among equally good ones, the first that the search finds; it depends only on the items in their
/// order.
/// @param enough  stop at a division whose largest load is no larger than this
/// @param steps   stop after placing this many items, with the best division so far, not `settled`
Packing pack(std::span<const Bytes> items, int interfaces, Bytes enough = 0, std::int64_t steps = patient);

/// The largest loads of best divisions. Packs each list of items once.
class PackingTable {
public:
  explicit PackingTable(int interfaces) : interfaces_(interfaces) {}

  /// @param items  in any order; sorted, and zeros removed, on return
  Bytes largest(std::vector<Bytes>& items);

  int interfaces() const noexcept { return interfaces_; }

private:
  int interfaces_;
  std::map<std::vector<Bytes>, Bytes> known_;
};

}  // namespace halocline::mapping::detail
