// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Which interface owns which item: a division of whole items among equal owners that makes the largest load smallest,
/// found exactly.
///
/// This is the scheduling of jobs on identical machines. Branch and bound: items from the largest down, each tried with
/// the owners from the least loaded up, so that the first division is that of the greedy rule "largest item to least
/// loaded owner". Owners of equal load are interchangeable and tried once; states whose loads were met before are not
/// entered again; a branch ends where the room left under the best load so far is smaller than what is still to be
/// placed. The search ends early at the largest of three bounds: the largest item; the mean load, rounded up to what
/// all items are multiples of; the sum of the two smallest of the K + 1 largest items, two of which must share one of K
/// owners.
///
/// The items of a node are few numbers in many places, for which this takes microseconds. Twenty numbers without a
/// common measure can take longer than anyone waits, so steps are limited.

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
  bool settled = true;  ///< no division is better, or this one is good enough
};

inline constexpr std::int64_t patient = 20'000'000;  ///< steps: some seconds

/// No division has a smaller largest load. @param items  largest first, none negative
Bytes packing_bound(std::span<const Bytes> items, int interfaces);

/// The best division; of several equally good ones, the first that the search meets, which depends on nothing but the
/// items in their order.
/// @param enough  stop at a division whose largest load is no larger
/// @param steps   stop after so many items placed, with the best division so far, unsettled
Packing pack(std::span<const Bytes> items, int interfaces, Bytes enough = 0, std::int64_t steps = patient);

/// The largest loads of best divisions, each list of items packed once.
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
