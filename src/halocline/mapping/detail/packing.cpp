// SPDX-License-Identifier: Apache-2.0
/// @file
/// The branch and bound of packing.hpp.

#include "halocline/mapping/detail/packing.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <unordered_set>

namespace halocline::mapping::detail {
namespace {

class Divider {
public:
  Divider(std::span<const Bytes> items, int interfaces, Bytes enough, std::int64_t steps)
      : items_(items),
        load_(static_cast<std::size_t>(interfaces), 0),
        owner_(items.size(), 0),
        rest_(items.size() + 1),
        steps_(steps) {
    for (std::size_t i = items.size(); i-- > 0;) rest_[i] = rest_[i + 1] + items[i];
    bound_ = std::max(enough, packing_bound(items, interfaces));
    best_.largest = rest_[0] + 1;
  }

  Packing run() {
    place(0);
    best_.settled = steps_ > 0 || best_.largest <= bound_;
    return best_;
  }

private:
  void place(std::size_t item) {
    if (item == items_.size()) {
      best_ = {owner_, load_, *std::max_element(load_.begin(), load_.end()), true};
      return;
    }
    if (--steps_ < 0 && !best_.owner.empty()) return;
    if (room() < rest_[item]) return;
    std::vector<int> order(load_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return at(a) < at(b); });
    if (item > 3 && item + 2 < items_.size() && met_before(item, order)) return;
    Bytes last = -1;
    for (const int owner : order) {
      if (at(owner) + items_[item] >= best_.largest) break;  // the owners after it have larger loads
      if (at(owner) == last) continue;
      last = at(owner);
      at(owner) += items_[item];
      owner_[item] = owner;
      place(item + 1);
      at(owner) -= items_[item];
      if (best_.largest <= bound_ || steps_ < 0) return;
    }
  }

  /// The number of bytes that fit in all owners together below the best largest load.
  Bytes room() const {
    Bytes sum = 0;
    for (const Bytes load : load_) sum += std::max<Bytes>(0, best_.largest - 1 - load);
    return sum;
  }

  /// Whether these loads occurred before with as many items to place. If so, they led to no better division than the
  /// current best one.
  bool met_before(std::size_t item, const std::vector<int>& order) {
    std::vector<Bytes> state{static_cast<Bytes>(item)};
    for (const int owner : order) state.push_back(at(owner));
    if (met_.size() >= most_states) return met_.contains(state);
    return !met_.insert(std::move(state)).second;
  }

  Bytes& at(int owner) { return load_[static_cast<std::size_t>(owner)]; }

  struct Hash {
    std::size_t operator()(const std::vector<Bytes>& state) const noexcept {
      std::uint64_t hash = 14695981039346656037U;
      for (const Bytes number : state) hash = (hash ^ static_cast<std::uint64_t>(number)) * 1099511628211U;
      return static_cast<std::size_t>(hash ^ (hash >> 29));
    }
  };

  static constexpr std::size_t most_states = 100'000;  // upper limit of remembered states: ten megabytes

  std::span<const Bytes> items_;
  std::vector<Bytes> load_;
  std::vector<int> owner_;
  std::vector<Bytes> rest_;  // sum of this item and those after it
  std::int64_t steps_;       // number of steps left
  Bytes bound_ = 0;          // a largest load that is good enough
  Packing best_;
  std::unordered_set<std::vector<Bytes>, Hash> met_;
};

}  // namespace

Bytes packing_bound(std::span<const Bytes> items, int interfaces) {
  if (items.empty()) return 0;
  const auto owners = static_cast<std::size_t>(interfaces);
  const Bytes total = std::accumulate(items.begin(), items.end(), Bytes{0});
  Bytes measure = 0;
  for (const Bytes item : items) measure = std::gcd(measure, item);
  Bytes bound = items[0];
  if (measure > 0) bound = std::max(bound, (total / measure + interfaces - 1) / interfaces * measure);
  if (items.size() > owners) bound = std::max(bound, items[owners - 1] + items[owners]);
  return bound;
}

Packing pack(std::span<const Bytes> items, int interfaces, Bytes enough, std::int64_t steps) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return items[a] > items[b]; });
  std::vector<Bytes> sorted;
  for (const std::size_t i : order) sorted.push_back(items[i]);

  Packing found = Divider(sorted, interfaces, enough, steps).run();
  std::vector<int> owner(items.size());
  for (std::size_t i = 0; i < order.size(); ++i) owner[order[i]] = found.owner[i];
  found.owner = std::move(owner);
  return found;
}

Bytes PackingTable::largest(std::vector<Bytes>& items) {
  std::erase(items, 0);
  std::sort(items.begin(), items.end(), std::greater<>());
  if (items.empty()) return 0;
  if (items.size() <= static_cast<std::size_t>(interfaces_)) return items.front();
  const auto [entry, fresh] = known_.try_emplace(items, 0);
  if (fresh) entry->second = pack(items, interfaces_).largest;
  return entry->second;
}

}  // namespace halocline::mapping::detail
