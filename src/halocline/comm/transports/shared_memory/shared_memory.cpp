// SPDX-License-Identifier: Apache-2.0
/// @file
/// The layout of the shared segment, and puts by a release store and an acquire load.

#include "halocline/comm/transports/shared_memory/shared_memory.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/comm/group/shared_room.hpp"
#include "halocline/comm/group/text.hpp"
#include "halocline/comm/transports/boxes.hpp"
#include "halocline/comm/transports/shared_memory/detail/streaming_copy.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <utility>

namespace halocline::comm {
namespace {

constexpr std::size_t line_pair = 128;  // [bytes] that the prefetcher of a core takes at once
constexpr std::uint64_t abandoned = 1;  // in the state word
// [bytes] of capacity, see the header: between cores that share a cache, and between cores that do not.
constexpr std::size_t copy_above_near = 8 * 1024, copy_above_far = 2 * 1024;
constexpr double far_hand_over = 100e-9;     // [s] of a cache line: near cores take 30 to 60 ns, far 150 to 200
constexpr std::size_t box_gap = 4096 + 512;  // [bytes] see the header; the 512 spread boxes over the cache's sets
constexpr std::size_t fetched_ahead = 1024;  // [bytes] longest message to prefetch; cores find longer streams

std::atomic_ref<std::uint64_t> word(std::byte* at) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(at));
}

/// The part of one rank: its state, one word a face for acknowledgements, then the inboxes; each on lines of its own.
/// Every rank knows all capacities and so the layout of all parts.
class PartLayout {
public:
  /// @param capacity  shape (2 ndim,) [bytes]
  PartLayout(std::span<const std::uint64_t> capacity, int slots) : slots_(static_cast<std::size_t>(slots)) {
    end_ = line_pair * (1 + capacity.size());
    for (const std::uint64_t bytes : capacity) {
      box_.push_back(bytes == 0 ? 0 : detail::BoxLayout::size(bytes));
      first_.push_back(end_);
      end_ += slots_ * stride(first_.size() - 1);
    }
  }
  static constexpr std::size_t state() noexcept { return 0; }
  static constexpr std::size_t acknowledged(int face) noexcept {
    return line_pair * (1 + static_cast<std::size_t>(face));
  }
  std::size_t box(int face) const noexcept { return box_[static_cast<std::size_t>(face)]; }
  std::size_t inbox(int face, std::size_t slot) const noexcept {
    const auto at = static_cast<std::size_t>(face);
    return first_[at] + slot * stride(at);
  }
  std::size_t end() const noexcept { return end_; }

private:
  std::size_t stride(std::size_t face) const noexcept {
    return box_[face] == 0 ? 0 : (box_[face] + box_gap + line_pair - 1) / line_pair * line_pair;
  }

  std::size_t slots_;
  std::vector<std::size_t> box_, first_;  // shape (2 ndim,)
  std::size_t end_;
};

void check_agreement(const ProcessGrid& grid, int face, std::uint64_t mine, std::uint64_t theirs) {
  if (mine == theirs) return;
  const Face here = Face::from_index(face);
  throw core::InvalidArgument("transport shared_memory: face " + detail::name(here) + " of rank " +
                              std::to_string(grid.rank()) + " has room for " + std::to_string(mine) +
                              " bytes and face " + detail::name(here.opposite()) + " of its neighbour, rank " +
                              std::to_string(grid.neighbour(here)) + ", for " + std::to_string(theirs) +
                              "; neighbours must agree");
}

/// Seconds that a cache line takes between this rank and the one beside it in the node: half of the fastest of some
/// round trips. 0 where ranks share cores, because the time would mean nothing there, and where the other rank does
/// not answer.
/// @param mine, theirs  words on lines of their own, 0 at first, used for nothing else
double hand_over_seconds(detail::Backend& node, std::byte* mine, std::byte* theirs) {
  constexpr int trips = 50, spins_of_own_cores = 1000;
  constexpr double patience = 1e-3;  // [s] for one answer
  if (node.spins() < spins_of_own_cores) return 0.0;
  const bool first = node.rank() % 2 == 0;
  double least = 1.0;
  for (std::uint64_t trip = 1; trip <= trips; ++trip) {
    const double begin = node.now();
    if (first) word(theirs).store(trip, std::memory_order_release);
    while (word(mine).load(std::memory_order_acquire) < trip) {
      if (node.now() - begin > patience) return 0.0;
      detail::pause();
    }
    if (!first) word(theirs).store(trip, std::memory_order_release);
    if (trip > 1) least = std::min(least, node.now() - begin);  // the first trip waits for the other rank to come
  }
  return 0.5 * least;
}

}  // namespace

std::string shared_memory_unavailable_reason(const ProcessGrid* grid) {
  if (grid == nullptr) return {};
  const Communicator& group = grid->communicator();
  if (group.any(group.split_by_node().size() != group.size())) return "needs all ranks on one node";
  return detail::shared_segment_problem(group);
}

SharedMemoryTransport::SharedMemoryTransport() = default;
SharedMemoryTransport::SharedMemoryTransport(Communicator node, std::vector<int> rank_in_node)
    : node_(std::move(node)), rank_in_node_(std::move(rank_in_node)) {}
SharedMemoryTransport::~SharedMemoryTransport() = default;

void SharedMemoryTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  if (!node_.has_value()) {
    const Communicator& group = grid.communicator();
    if (group.any(group.split_by_node().size() != group.size()))
      throw core::InvalidArgument("transport shared_memory needs all ranks on one node; choose hybrid");
    node_ = group;
    rank_in_node_.resize(static_cast<std::size_t>(grid.size()));
    std::iota(rank_in_node_.begin(), rank_in_node_.end(), 0);
  }
  const int faces = 2 * grid.ndim();
  const auto neighbour_in_node = [&](int face) {
    const int rank = grid.neighbour(Face::from_index(face));
    return rank < 0 ? -1 : rank_in_node_[static_cast<std::size_t>(rank)];
  };
  std::vector<std::uint64_t> mine;
  for (int face = 0; face < faces; ++face)
    mine.push_back(neighbour_in_node(face) < 0 ? 0 : capacity[static_cast<std::size_t>(face)]);
  std::vector<std::uint64_t> all(mine.size() * static_cast<std::size_t>(node_->size()));
  node_->backend().all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
  const auto capacity_of = [&](int rank) {
    return std::span(all).subspan(static_cast<std::size_t>(rank) * mine.size(), mine.size());
  };
  on_every_rank(*node_, [&] {
    for (int face = 0; face < faces; ++face) {
      const auto opposite = static_cast<std::size_t>(face ^ 1);
      if (const int neighbour = neighbour_in_node(face); neighbour >= 0)
        check_agreement(grid, face, mine[static_cast<std::size_t>(face)], capacity_of(neighbour)[opposite]);
    }
  });

  const PartLayout here(mine, slots);
  segment_ = node_->backend().share(here.end());
  std::byte* const own = segment_->part(node_->rank());
  const int beside = node_->rank() ^ 1;
  std::size_t copy_above = copy_above_near;
  if (beside < node_->size()) {
    constexpr std::size_t word_beside_state = 64;
    const double seconds = hand_over_seconds(node_->backend(), own + PartLayout::state() + word_beside_state,
                                             segment_->part(beside) + PartLayout::state() + word_beside_state);
    if (seconds > far_hand_over) copy_above = copy_above_far;
  }
  sides_.assign(mine.size(), {});
  std::size_t outbox_bytes = 0;
  for (int face = 0; face < faces; ++face) {
    if (here.box(face) == 0) continue;
    Side& s = side(face);
    s.box = here.box(face);
    s.neighbour = neighbour_in_node(face);
    const PartLayout there(capacity_of(s.neighbour), slots);
    std::byte* const theirs = segment_->part(s.neighbour);
    for (std::size_t slot = 0; slot < static_cast<std::size_t>(slots); ++slot) {
      s.in.push_back(own + here.inbox(face, slot));
      s.there.push_back(theirs + there.inbox(face ^ 1, slot));
    }
    s.out = s.there;
    s.copied = detail::has_streaming_stores && mine[static_cast<std::size_t>(face)] > copy_above &&
               s.neighbour != node_->rank();
    if (s.copied) outbox_bytes += s.box * s.out.size();
    s.acknowledged = own + PartLayout::acknowledged(face);
    s.acknowledge = theirs + PartLayout::acknowledged(face ^ 1);
    s.state = theirs + PartLayout::state();
  }
  outboxes_ = core::AlignedArray<std::byte>(static_cast<std::int64_t>(outbox_bytes));
  std::byte* next = outboxes_.data();
  for (Side& s : sides_) {
    if (!s.copied) continue;
    for (std::byte*& box : s.out) box = std::exchange(next, next + s.box);
  }
}

std::byte* SharedMemoryTransport::outbox(int face, int slot, std::size_t bytes) noexcept {
  const Side& s = side(face);
  return s.box == 0 ? nullptr : s.out[static_cast<std::size_t>(slot)] + detail::BoxLayout::data(s.box, bytes);
}

const std::byte* SharedMemoryTransport::inbox(int face, int slot, std::size_t bytes) const noexcept {
  const Side& s = side(face);
  return s.box == 0 ? nullptr : s.in[static_cast<std::size_t>(slot)] + detail::BoxLayout::data(s.box, bytes);
}

void SharedMemoryTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  const Side& s = side(face);
  std::byte* const there = s.there[static_cast<std::size_t>(slot)];
  if (s.copied) {
    const std::size_t data = detail::BoxLayout::data(s.box, bytes);
    detail::streaming_copy(there + data, s.out[static_cast<std::size_t>(slot)] + data, bytes);
  }
  word(there + detail::BoxLayout::flag(s.box)).store(flag, std::memory_order_release);
}

std::uint64_t SharedMemoryTransport::arrived_flag(int face, int slot, std::size_t) {
  const Side& s = side(face);
  return word(s.in[static_cast<std::size_t>(slot)] + detail::BoxLayout::flag(s.box)).load(std::memory_order_acquire);
}

void SharedMemoryTransport::arrived(int face, int slot, std::size_t bytes) noexcept {
  const Side& s = side(face);
  if (bytes > fetched_ahead || s.neighbour == node_->rank()) return;
  constexpr std::size_t line = detail::BoxLayout::alignment;
  const std::size_t begin = detail::BoxLayout::data(s.box, bytes), end = s.box;
  for (std::size_t at = begin; at < end; at += line) __builtin_prefetch(s.in[static_cast<std::size_t>(slot)] + at, 0);
}

void SharedMemoryTransport::acknowledge(int face, std::uint64_t count) {
  word(side(face).acknowledge).store(count, std::memory_order_release);
}

std::uint64_t SharedMemoryTransport::acknowledged(int face) {
  return word(side(face).acknowledged).load(std::memory_order_acquire);
}

bool SharedMemoryTransport::neighbour_gone(int face) {
  const Side& s = side(face);
  if (s.box == 0 || s.neighbour == node_->rank()) return false;
  return word(s.state).load(std::memory_order_acquire) == abandoned || !node_->backend().alive(s.neighbour);
}

void SharedMemoryTransport::abandon() noexcept {
  if (segment_ != nullptr)
    word(segment_->part(node_->rank()) + PartLayout::state()).store(abandoned, std::memory_order_release);
}

TransportKind shared_memory_transport() {
  return {
      .name = "shared_memory",
      .unavailable_reason = shared_memory_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<SharedMemoryTransport>(); },
  };
}

}  // namespace halocline::comm
