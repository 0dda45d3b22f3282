// SPDX-License-Identifier: Apache-2.0
/// @file
/// Collectives and messages between simulated ranks.

#include "halocline/comm/simulation/simulated_group.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <utility>

namespace halocline::comm::detail {
namespace {

constexpr std::size_t nowhere = ~std::size_t{0};

void copy(std::span<const std::byte> from, std::byte* to) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

std::span<const std::byte> as_bytes_of(const void* value, std::size_t size) {
  return {static_cast<const std::byte*>(value), size};
}

template <class T, class Combine>
void fold(std::span<T> values, std::span<const std::byte> part, Combine&& combine) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    T other;
    std::memcpy(&other, part.data() + i * sizeof(T), sizeof(T));
    values[i] = combine(values[i], other);
  }
}

class PendingGather final : public Pending {
public:
  PendingGather(std::shared_ptr<SimulatedGroup> group, int rank, std::uint64_t index, std::span<std::byte> all)
      : group_(std::move(group)), rank_(rank), index_(index), all_(all) {}
  ~PendingGather() override {
    if (group_ != nullptr && group_->given_up(rank_)) abandon();
    finish(Simulator::Manner::quiet);
  }

  void wait() override { finish(Simulator::Manner::throwing); }
  bool test() override {
    if (group_ == nullptr) return true;
    if (!group_->complete(index_, rank_)) {
      group_->simulator().looked();
      return false;
    }
    wait();
    return true;
  }
  void abandon() noexcept override {
    if (group_ != nullptr) group_->leave(index_);
    group_.reset();
  }

private:
  void finish(Simulator::Manner manner) {
    if (group_ == nullptr) return;
    const auto group = group_;  // a copy: another rank may run meanwhile and poll this object again
    if (!group->await(index_, rank_, manner)) return;
    const std::size_t block = all_.size() / static_cast<std::size_t>(group->size());
    for (int r = 0; r < group->size(); ++r) {
      copy(group->laid_down(index_, r), all_.data() + static_cast<std::size_t>(r) * block);
    }
    group->leave(index_);
    group_.reset();
  }

  std::shared_ptr<SimulatedGroup> group_;
  int rank_;
  std::uint64_t index_;
  std::span<std::byte> all_;
};

/// A message from a partner, to whom one may have been sent.
class PendingSwap final : public Pending {
public:
  PendingSwap(std::shared_ptr<SimulatedGroup> group, int rank, std::span<std::byte> theirs, int partner, int tag)
      : group_(std::move(group)), rank_(rank), theirs_(theirs), partner_(partner), tag_(tag) {}
  ~PendingSwap() override {
    if (group_ != nullptr && group_->given_up(rank_)) abandon();
    finish(Simulator::Manner::quiet);
  }

  void wait() override { finish(Simulator::Manner::throwing); }
  bool test() override {
    if (group_ == nullptr) return true;
    if (!group_->receivable(partner_, rank_, tag_)) {
      group_->simulator().looked();
      return false;
    }
    wait();
    return true;
  }
  void abandon() noexcept override { group_.reset(); }

private:
  void finish(Simulator::Manner manner) {
    if (group_ == nullptr) return;
    const auto group = std::exchange(group_, nullptr);
    group->receive(partner_, rank_, tag_, theirs_, manner);
  }

  std::shared_ptr<SimulatedGroup> group_;
  int rank_;
  std::span<std::byte> theirs_;
  int partner_, tag_;
};

/// A message that was sent: the group holds a copy.
class Sent final : public Pending {
public:
  void wait() override {}
  bool test() override { return true; }
  void abandon() noexcept override {}
};

/// Each part is an allocation of its own, so that the address sanitizer knows its end.
struct SharedParts {
  struct Release {
    void operator()(std::byte* part) const noexcept { ::operator delete(part, std::align_val_t{4096}); }
  };
  std::vector<std::unique_ptr<std::byte, Release>> parts;
};

class SimulatedSegment final : public SharedSegment {
public:
  explicit SimulatedSegment(std::shared_ptr<SharedParts> all) noexcept : all_(std::move(all)) {}
  std::byte* part(int rank) const noexcept override { return all_->parts[static_cast<std::size_t>(rank)].get(); }

private:
  std::shared_ptr<SharedParts> all_;
};

}  // namespace

// ---- the group ------------------------------------------------------------------------------------------------------

SimulatedGroup::SimulatedGroup(std::shared_ptr<Simulator> simulator, std::vector<int> members)
    : simulator_(std::move(simulator)), members_(std::move(members)) {}

SimulatedGroup::Collective& SimulatedGroup::collective(std::uint64_t index) {
  const auto ranks = members_.size();
  while (open_.size() <= index - first_index_) {
    std::unique_ptr<Collective> c;
    if (spare_.empty()) {
      c = std::make_unique<Collective>();
      c->parts.resize(ranks);
    } else {
      c = std::move(spare_.back());
      spare_.pop_back();
    }
    c->first = -1;
    c->present = c->left = 0;
    c->here.assign(ranks, 0);
    c->waits.assign(ranks, 0);
    c->when.assign(ranks, 0.0);
    c->object.reset();
    open_.push_back(std::move(c));
  }
  return *open_[index - first_index_];
}

bool SimulatedGroup::all_here(const Collective& c) noexcept {
  if (c.root >= 0) return c.here[static_cast<std::size_t>(c.root)] != 0;
  return c.present == static_cast<int>(c.here.size());
}

void SimulatedGroup::lay_down(std::uint64_t index, int rank, const char* call, int root, std::size_t bytes,
                              std::span<const std::byte> mine) {
  Collective& c = collective(index);
  if (c.first < 0) {
    c.first = rank;
    c.call = call;
    c.root = root;
    c.bytes = bytes;
  }
  if (std::strcmp(c.call, call) != 0 || c.root != root || c.bytes != bytes) {
    const auto text = [](const char* name, std::size_t length, int from) {
      return std::string(name) + " of " + std::to_string(length) + " bytes" +
             (from < 0 ? "" : " with root " + std::to_string(from));
    };
    throw core::Error("rank " + std::to_string(rank) + " calls " + text(call, bytes, root) + " where rank " +
                          std::to_string(c.first) + " calls " + text(c.call, c.bytes, c.root),
                      rank);
  }
  const auto at = static_cast<std::size_t>(rank);
  c.parts[at].assign(mine.begin(), mine.end());
  const bool before = all_here(c);
  c.here[at] = 1;
  ++c.present;
  if (before || !all_here(c)) return;
  for (std::size_t r = 0; r < c.when.size(); ++r) {
    const bool root_itself = static_cast<int>(r) == c.root;
    c.when[r] = root_itself ? simulator_->now() : simulator_->now() + simulator_->delay(bytes);
    if (c.waits[r] != 0) simulator_->wake_at(c.when[r], members_[r]);
  }
}

bool SimulatedGroup::complete(std::uint64_t index, int rank) {
  const Collective& c = collective(index);
  return all_here(c) && c.when[static_cast<std::size_t>(rank)] <= simulator_->now();
}

bool SimulatedGroup::await(std::uint64_t index, int rank, Manner manner) {
  Collective* c = &collective(index);
  const auto at = static_cast<std::size_t>(rank);
  while (!all_here(*c)) {
    c->waits[at] = 1;
    if (!simulator_->block(c->call, -1, manner)) return false;
  }
  return simulator_->now() >= c->when[at] || simulator_->sleep_until(c->when[at], c->call, manner);
}

std::span<const std::byte> SimulatedGroup::laid_down(std::uint64_t index, int rank) {
  return collective(index).parts[static_cast<std::size_t>(rank)];
}

std::shared_ptr<void> SimulatedGroup::object(std::uint64_t index, const std::function<std::shared_ptr<void>()>& make) {
  Collective& c = collective(index);
  if (c.object == nullptr) c.object = make();
  return c.object;
}

void SimulatedGroup::leave(std::uint64_t index) {
  ++collective(index).left;
  while (!open_.empty() && open_.front()->left == size()) {
    open_.front()->object.reset();
    spare_.push_back(std::move(open_.front()));
    open_.erase(open_.begin());
    ++first_index_;
  }
}

std::size_t SimulatedGroup::find(int from, int to, int tag) const noexcept {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    const Message& m = messages_[i];
    if (m.from == from && m.to == to && m.tag == tag) return i;
  }
  return nowhere;
}

void SimulatedGroup::send(int from, int to, int tag, std::span<const std::byte> bytes) {
  std::vector<std::byte> copy;
  if (!spare_bytes_.empty()) {
    copy = std::move(spare_bytes_.back());
    spare_bytes_.pop_back();
  }
  copy.assign(bytes.begin(), bytes.end());
  const double when = simulator_->now() + simulator_->delay(bytes.size());
  messages_.push_back({from, to, tag, when, std::move(copy)});
  simulator_->wake_at(when, member(to));  // in case it waits for this
}

bool SimulatedGroup::receivable(int from, int to, int tag) {
  const std::size_t at = find(from, to, tag);
  return at != nowhere && messages_[at].when <= simulator_->now();
}

void SimulatedGroup::receive(int from, int to, int tag, std::span<std::byte> bytes, Manner manner) {
  std::size_t at;
  while ((at = find(from, to, tag)) == nowhere) {
    if (!simulator_->block("receive", from, manner)) return;
  }
  if (simulator_->now() < messages_[at].when) {
    if (!simulator_->sleep_until(messages_[at].when, "receive", manner)) return;
    at = find(from, to, tag);
  }
  std::vector<std::byte> message = std::move(messages_[at].bytes);
  messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(at));
  if (message.size() != bytes.size()) {
    if (manner == Manner::quiet) return;
    throw core::Error("rank " + std::to_string(to) + " receives " + std::to_string(bytes.size()) + " bytes with tag " +
                          std::to_string(tag) + " from rank " + std::to_string(from) + ", which sent " +
                          std::to_string(message.size()),
                      to);
  }
  copy(message, bytes.data());
  spare_bytes_.push_back(std::move(message));
}

// ---- a rank of it ---------------------------------------------------------------------------------------------------

template <class Take>
void SimulatedBackend::collective(const char* call, int root, std::size_t bytes, std::span<const std::byte> mine,
                                  Take&& take) {
  if (!simulator().enter(member(rank_))) return;
  const std::uint64_t index = next_++;
  group_->lay_down(index, rank_, call, root, bytes, mine);
  if (!group_->await(index, rank_, Simulator::Manner::throwing)) return;
  take(index);
  group_->leave(index);
}

void SimulatedBackend::barrier() {
  collective("barrier", -1, 0, {}, [](std::uint64_t) {});
}

void SimulatedBackend::broadcast(std::span<std::byte> bytes, int root) {
  const std::span<const std::byte> mine = bytes;
  collective("broadcast", root, bytes.size(), rank_ == root ? mine : std::span<const std::byte>(),
             [&](std::uint64_t index) {
               if (rank_ != root) copy(group_->laid_down(index, root), bytes.data());
             });
}

void SimulatedBackend::all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  collective("all_gather", -1, mine.size(), mine, [&](std::uint64_t index) {
    for (int r = 0; r < size(); ++r) {
      copy(group_->laid_down(index, r), all.data() + static_cast<std::size_t>(r) * mine.size());
    }
  });
}

std::unique_ptr<Pending> SimulatedBackend::begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) {
  if (!simulator().enter(member(rank_))) return std::make_unique<PendingGather>(nullptr, rank_, 0, all);
  const std::uint64_t index = next_++;
  group_->lay_down(index, rank_, "begin_all_gather", -1, mine.size(), mine);
  return std::make_unique<PendingGather>(group_, rank_, index, all);
}

std::unique_ptr<Pending> SimulatedBackend::begin_swap(std::span<const std::byte> mine, std::span<std::byte> theirs,
                                                      int partner, int tag) {
  const bool on = simulator().enter(member(rank_));
  if (on) group_->send(rank_, partner, tag, mine);
  return std::make_unique<PendingSwap>(on ? group_ : nullptr, rank_, theirs, partner, tag);
}

std::unique_ptr<Pending> SimulatedBackend::begin_send(std::span<const std::byte> bytes, int to, int tag) {
  if (simulator().enter(member(rank_))) group_->send(rank_, to, tag, bytes);
  return std::make_unique<Sent>();
}

std::unique_ptr<Pending> SimulatedBackend::begin_receive(std::span<std::byte> bytes, int from, int tag) {
  const bool on = simulator().enter(member(rank_));
  return std::make_unique<PendingSwap>(on ? group_ : nullptr, rank_, bytes, from, tag);
}

void SimulatedBackend::all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) {
  const std::size_t block = mine.size() / static_cast<std::size_t>(size());
  collective("all_to_all", -1, mine.size(), mine, [&](std::uint64_t index) {
    for (int r = 0; r < size(); ++r) {
      copy(group_->laid_down(index, r).subspan(static_cast<std::size_t>(rank_) * block, block),
           all.data() + static_cast<std::size_t>(r) * block);
    }
  });
}

void SimulatedBackend::sum(std::span<std::uint64_t> values) {
  collective("sum", -1, values.size_bytes(), std::as_bytes(values), [&](std::uint64_t index) {
    std::fill(values.begin(), values.end(), 0u);
    for (int r = 0; r < size(); ++r) {
      fold(values, group_->laid_down(index, r), [](std::uint64_t a, std::uint64_t b) { return a + b; });
    }
  });
}

void SimulatedBackend::bit_xor(std::span<std::uint32_t> values) {
  collective("bit_xor", -1, values.size_bytes(), std::as_bytes(values), [&](std::uint64_t index) {
    std::fill(values.begin(), values.end(), 0u);
    for (int r = 0; r < size(); ++r) {
      fold(values, group_->laid_down(index, r), [](std::uint32_t a, std::uint32_t b) { return a ^ b; });
    }
  });
}

void SimulatedBackend::send(std::span<const std::byte> bytes, int to, int tag) {
  if (simulator().enter(member(rank_))) group_->send(rank_, to, tag, bytes);
}

void SimulatedBackend::receive(std::span<std::byte> bytes, int from, int tag) {
  if (simulator().enter(member(rank_))) {
    group_->receive(from, rank_, tag, bytes, Simulator::Manner::throwing);
  }
}

std::shared_ptr<Backend> SimulatedBackend::part_of_colour(int colour, int key) {
  struct Wish {
    int colour, key;
  };
  using Groups = std::map<int, std::shared_ptr<SimulatedGroup>>;
  const Wish mine{colour, key};
  std::shared_ptr<Backend> part;
  collective("split", -1, sizeof(mine), as_bytes_of(&mine, sizeof(mine)), [&](std::uint64_t index) {
    std::vector<std::pair<int, int>> order;  // key, rank here
    for (int r = 0; r < size(); ++r) {
      Wish wish{};
      std::memcpy(&wish, group_->laid_down(index, r).data(), sizeof(wish));
      if (wish.colour == colour) order.emplace_back(wish.key, r);
    }
    std::sort(order.begin(), order.end());
    std::vector<int> members;
    int rank = 0;
    for (const auto& [k, r] : order) {
      if (r == rank_) rank = static_cast<int>(members.size());
      members.push_back(member(r));
    }
    const auto groups =
        std::static_pointer_cast<Groups>(group_->object(index, [] { return std::make_shared<Groups>(); }));
    auto& group = (*groups)[colour];
    if (group == nullptr) group = std::make_shared<SimulatedGroup>(group_->shared_simulator(), std::move(members));
    part = std::make_shared<SimulatedBackend>(group, rank);
  });
  if (part == nullptr) return make_alone();  // in an unwound simulation, where it is never used
  return part;
}

std::shared_ptr<Backend> SimulatedBackend::part_of_node() {
  return part_of_colour(simulator().node(member(rank_)), rank_);
}

std::shared_ptr<void> SimulatedBackend::agree(const std::function<std::shared_ptr<void>()>& make) {
  std::shared_ptr<void> object;
  collective("agree", -1, 0, {}, [&](std::uint64_t index) { object = group_->object(index, make); });
  return object;
}

std::unique_ptr<SharedSegment> SimulatedBackend::share(std::size_t bytes) {
  for (int r = 1; r < size(); ++r) {
    if (simulator().node(member(r)) == simulator().node(member(0))) continue;
    throw core::Error("memory cannot be shared: ranks 0 and " + std::to_string(r) + " of this group are on nodes " +
                          std::to_string(simulator().node(member(0))) + " and " +
                          std::to_string(simulator().node(member(r))),
                      rank_);
  }
  auto all = std::static_pointer_cast<SharedParts>(agree([] { return std::make_shared<SharedParts>(); }));
  if (all == nullptr) all = std::make_shared<SharedParts>();  // in an unwound simulation
  all->parts.resize(static_cast<std::size_t>(size()));
  const std::size_t length = std::max<std::size_t>(bytes, 1);
  auto* const part = static_cast<std::byte*>(::operator new(length, std::align_val_t{4096}));
  std::memset(part, 0, length);
  all->parts[static_cast<std::size_t>(rank_)].reset(part);
  barrier();
  return std::make_unique<SimulatedSegment>(std::move(all));
}

void SimulatedBackend::idle() { simulator().idle(member(rank_)); }

}  // namespace halocline::comm::detail
