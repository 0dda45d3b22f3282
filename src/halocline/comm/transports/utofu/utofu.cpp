// SPDX-License-Identifier: Apache-2.0
/// @file
/// Virtual control queues, registered memory, and puts that end with their flag.

#include "halocline/comm/transports/utofu/utofu.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/transports/box_plan.hpp"
#include "halocline/comm/transports/boxes.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"

#include <utofu.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace halocline::comm {
namespace {

constexpr std::size_t line = 256;          // [bytes] cache line of the A64FX, the unit that the hardware injects
constexpr std::size_t piggyback_data = 8;  // [bytes] before the flag of a message inside a descriptor
constexpr std::size_t piggyback_message = 16;
constexpr int most_failures = 1 << 14;  // in one poll, without a message's counter: no queue is as long
constexpr long most_tries = 1L << 26;   // on a queue that stays full: takes seconds

std::string failed(const char* call, int code) {
  return std::string("transport utofu: ") + call + " failed with code " + std::to_string(code);
}

void check(int code, const char* call) {
  if (code != UTOFU_SUCCESS) throw core::Error(failed(call, code));
}

/// The interfaces that this process may use; empty where there are none.
std::vector<utofu_tni_id_t> interfaces_here() {
  utofu_tni_id_t* ids = nullptr;
  std::size_t count = 0;
  if (utofu_get_onesided_tnis(&ids, &count) != UTOFU_SUCCESS) return {};
  const std::vector<utofu_tni_id_t> found(ids, ids + count);
  std::free(ids);  // NOLINT: the interface says so
  return found;
}

/// A virtual control queue, and the address under which it knows the block.
struct Queue {
  utofu_tni_id_t interface;
  utofu_vcq_hdl_t handle;
  utofu_vcq_id_t id;
  utofu_stadd_t block;
};

/// One remote face.
struct Side {
  std::size_t queue = 0;
  utofu_vcq_id_t queue_there = 0;
  utofu_stadd_t boxes_there = 0, acknowledged_there = 0, lines_there = 0;
  unsigned looks = 0;
};

/// One inbox and the outbox of the same face and slot.
struct Box {
  int under_way = 0;               // puts whose completion has not been seen
  std::uint64_t seen_in_box = 0;   // the last flag that came with a put
  std::uint64_t seen_in_line = 0;  // the last flag that came inside a descriptor
  std::uint64_t last = 0;          // the later of the two
};

}  // namespace

struct UtofuTransport::State {
  State(const ProcessGrid& g, std::span<const std::size_t> capacity, int slots)
      : grid(g),
        own(g, detail::own_capacities(g, capacity), slots),
        plan(g, capacity, slots, line),
        sides(capacity.size()),
        boxes(capacity.size() * static_cast<std::size_t>(slots)),
        own_acknowledged(capacity.size()),
        memory(static_cast<std::int64_t>(block_bytes() + line)),
        block(detail::aligned(memory.data(), line)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  // The block holds inboxes and acknowledgements, lines for messages that come in descriptors, outboxes, and lines
  // for messages that leave in descriptors.
  std::size_t lines_bytes() const noexcept { return boxes.size() * line; }
  std::size_t block_bytes() const noexcept { return 2 * (plan.bytes() + lines_bytes()); }
  std::size_t line_of(int face, int slot) const noexcept { return plan.bytes() + plan.index(face, slot) * line; }
  std::byte* outboxes() const noexcept { return block + plan.bytes() + lines_bytes(); }

  Side& side(int face) noexcept { return sides[static_cast<std::size_t>(face)]; }
  Box& box(int face, int slot) noexcept { return boxes[plan.index(face, slot)]; }
  bool in_descriptor(std::size_t bytes) const noexcept { return bytes <= piggyback_bytes; }
  std::size_t place(int face, int slot, std::size_t bytes) const noexcept {
    return in_descriptor(bytes) ? line_of(face, slot) : plan.data(face, slot, bytes);
  }

  void open_queues(const TransportOptions& options);
  std::size_t queue_on(utofu_tni_id_t interface, bool interface_is_given);
  void meet_neighbours();
  void poll(int face);
  template <class Put>
  void start(int face, const char* call, Put&& put);
  bool close() noexcept;

  ProcessGrid grid;
  detail::Boxes own;  // of faces whose neighbour is this process
  detail::BoxPlan plan;
  std::vector<Side> sides;  // shape (2 ndim,)
  std::vector<Box> boxes;   // by plan.index
  std::vector<std::uint64_t> own_acknowledged;
  core::AlignedArray<std::byte> memory;
  std::byte* block;
  std::vector<Queue> queues;
  std::size_t piggyback_bytes = 0;
  unsigned long flags = UTOFU_ONESIDED_FLAG_STRONG_ORDER;
  bool abandoned = false;
};

/// Gives every remote face an interface and a queue. Collective: no.
void UtofuTransport::State::open_queues(const TransportOptions& options) {
  const std::vector<utofu_tni_id_t> here = interfaces_here();
  if (options.piggyback_bytes > piggyback_data) {
    throw core::InvalidArgument("transport utofu: piggyback_bytes of " + std::to_string(options.piggyback_bytes) +
                                " given, at most 8");
  }
  if (!options.interfaces.empty() && options.interfaces.size() != sides.size()) {
    throw core::InvalidArgument("transport utofu: " + std::to_string(options.interfaces.size()) +
                                " interfaces given, expected one for each of the " + std::to_string(sides.size()) +
                                " faces");
  }
  piggyback_bytes = options.piggyback_bytes;
  if (options.cache_injection) flags |= UTOFU_ONESIDED_FLAG_CACHE_INJECTION;
  std::size_t remote_faces = 0;
  for (int face = 0; face < plan.faces(); ++face) {
    if (!plan.remote(face)) continue;
    std::size_t which = remote_faces++ % here.size();
    if (!options.interfaces.empty()) {
      const int wanted = options.interfaces[static_cast<std::size_t>(face)];
      if (wanted < 0 || wanted >= static_cast<int>(here.size())) {
        throw core::InvalidArgument("transport utofu: interface " + std::to_string(wanted) + " given for face " +
                                    std::to_string(face) + "; there are " + std::to_string(here.size()));
      }
      which = static_cast<std::size_t>(wanted);
    }
    side(face).queue = queue_on(here[which], !options.interfaces.empty());
    utofu_onesided_caps* limits = nullptr;
    check(utofu_query_onesided_caps(here[which], &limits), "utofu_query_onesided_caps");
    const std::size_t longest = plan.flag(face, 0) - plan.box(face, 0) + sizeof(std::uint64_t);
    if (longest > limits->max_putget_size) {
      throw core::InvalidArgument("transport utofu: a message of face " + std::to_string(face) + " takes " +
                                  std::to_string(longest) + " bytes, at most " +
                                  std::to_string(limits->max_putget_size) + " in one put");
    }
    if (limits->max_piggyback_size < piggyback_message) piggyback_bytes = 0;
  }
}

/// A new queue on this interface, or an existing one when no more are left: of this interface, or of another one where
/// the caller did not name the interfaces.
std::size_t UtofuTransport::State::queue_on(utofu_tni_id_t interface, bool interface_is_given) {
  Queue made{interface, 0, 0, 0};
  const int code = utofu_create_vcq(interface, UTOFU_VCQ_FLAG_THREAD_SAFE, &made.handle);
  if (code != UTOFU_SUCCESS) {
    const auto there = std::ranges::find(queues, interface, &Queue::interface);
    if (there != queues.end()) return static_cast<std::size_t>(there - queues.begin());
    if (!queues.empty() && !interface_is_given) return 0;
    throw core::Error(failed("utofu_create_vcq", code) + ": no control queue is left on interface " +
                      std::to_string(interface));
  }
  int problem = utofu_query_vcq_id(made.handle, &made.id);
  if (problem == UTOFU_SUCCESS) problem = utofu_reg_mem(made.handle, block, block_bytes(), 0, &made.block);
  if (problem != UTOFU_SUCCESS) {
    utofu_free_vcq(made.handle);
    throw core::Error(failed("utofu_reg_mem", problem));
  }
  queues.push_back(made);
  return queues.size() - 1;
}

/// Exchanges with the neighbours the addresses to put to. Collective.
void UtofuTransport::State::meet_neighbours() {
  double least = static_cast<double>(piggyback_bytes);
  grid.communicator().min(std::span(&least, 1));
  piggyback_bytes = static_cast<std::size_t>(least);
  std::vector<std::uint64_t> ids(sides.size()), origin(sides.size()), lines(sides.size());
  for (int face = 0; face < plan.faces(); ++face) {
    if (!plan.remote(face)) continue;
    const auto at = static_cast<std::size_t>(face);
    const Queue& queue = queues[side(face).queue];
    ids[at] = queue.id;
    origin[at] = queue.block;
    lines[at] = queue.block + line_of(face, 0);
  }
  const auto ids_there = plan.from_neighbours(grid, ids);
  const auto boxes_there = plan.from_neighbours(grid, plan.first_boxes(origin));
  const auto acknowledged_there = plan.from_neighbours(grid, plan.acknowledgements(origin));
  const auto lines_there = plan.from_neighbours(grid, lines);
  on_every_rank(grid.communicator(), [&] {
    for (int face = 0; face < plan.faces(); ++face) {
      if (!plan.remote(face)) continue;
      const auto at = static_cast<std::size_t>(face);
      Side& s = side(face);
      s.queue_there = ids_there[at];
      s.boxes_there = boxes_there[at];
      s.acknowledged_there = acknowledged_there[at];
      s.lines_there = lines_there[at];
      check(utofu_set_vcq_id_path(&s.queue_there, nullptr), "utofu_set_vcq_id_path");
    }
  });
}

/// Takes the completions of the queue of this face.
void UtofuTransport::State::poll(int face) {
  int failures = 0;
  for (;;) {
    void* which = nullptr;
    const int code = utofu_poll_tcq(queues[side(face).queue].handle, 0, &which);
    if (code == UTOFU_ERR_NOT_FOUND) return;
    // An entry without a counter belongs to a put inside a descriptor, which a neighbour that has ended need not take
    // any more. Or it is an error of the queue itself, which does not go away.
    if (which == nullptr) {
      if (code != UTOFU_SUCCESS && ++failures == most_failures)
        throw core::Error(failed("utofu_poll_tcq", code) + " time and again: the control queue is of no use any more",
                          grid.rank());
      continue;
    }
    if (code != UTOFU_SUCCESS) throw core::Error(failed("utofu_put", code), grid.rank());
    --*static_cast<int*>(which);
  }
}

/// Hands a put to the queue of this face. While the queue is full, takes its completions.
template <class Put>
void UtofuTransport::State::start(int face, const char* call, Put&& put) {
  const Side& s = side(face);
  for (long tries = 0; tries < most_tries; ++tries) {
    const int code = put(queues[s.queue].handle, s.queue_there);
    if (code == UTOFU_SUCCESS) return;
    if (code != UTOFU_ERR_BUSY) throw core::Error(failed(call, code), grid.rank());
    poll(face);
  }
  throw core::Error(failed(call, UTOFU_ERR_BUSY) + ": the queue stays full", grid.rank());
}

/// Frees the queues. False when a put is still under way.
bool UtofuTransport::State::close() noexcept {
  constexpr int rounds = 1 << 16;
  for (int face = 0; face < plan.faces(); ++face) {
    if (!plan.remote(face)) continue;
    for (int slot = 0; slot < plan.slots(); ++slot) {
      try {
        for (int round = 0; round < rounds && box(face, slot).under_way > 0; ++round) poll(face);
      } catch (const core::Error&) {
        return false;
      }
      if (box(face, slot).under_way > 0) return false;
    }
  }
  for (const Queue& queue : queues) {
    utofu_dereg_mem(queue.handle, queue.block, 0);
    utofu_free_vcq(queue.handle);
  }
  return true;
}

std::string utofu_unavailable_reason(const ProcessGrid* grid) {
  const bool none = interfaces_here().empty();
  const bool none_somewhere = grid == nullptr ? none : grid->communicator().any(none);
  return none_somewhere ? "finds no network interface of the Tofu-D interconnect" : "";
}

UtofuTransport::UtofuTransport(TransportOptions options) : options_(std::move(options)) {}

UtofuTransport::~UtofuTransport() {
  if (state_ == nullptr) return;
  if (state_->abandoned || !state_->close()) {
    // The network may still read and write the block, so the block and its queues are never freed.
    [[maybe_unused]] State* const left_to_the_network = state_.release();
  }
}

void UtofuTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  const std::string why = utofu_unavailable_reason(&grid);
  if (!why.empty()) throw core::InvalidArgument("transport utofu " + why);
  on_every_rank(grid.communicator(), [&] {
    state_ = std::make_unique<State>(grid, capacity, slots);
    state_->open_queues(options_);
  });
  state_->meet_neighbours();
}

std::byte* UtofuTransport::outbox(int face, int slot, std::size_t bytes) noexcept {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.data(s.own.outbox(face, slot), face, bytes);
  return s.outboxes() + s.place(face, slot, bytes);
}

const std::byte* UtofuTransport::inbox(int face, int slot, std::size_t bytes) const noexcept {
  const State& s = *state_;
  if (!s.plan.remote(face)) return s.own.data(s.own.inbox(face, slot), face, bytes);
  return s.block + s.place(face, slot, bytes);
}

void UtofuTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.set_flag(s.own.outbox(face, slot), face, flag);
  const Side& side = s.side(face);
  const std::size_t begin = s.place(face, slot, bytes);
  if (s.in_descriptor(bytes)) {
    std::byte* const message = s.outboxes() + begin;
    std::memcpy(message + piggyback_data, &flag, sizeof(flag));
    const utofu_stadd_t there = side.lines_there + (begin - s.line_of(face, 0));
    s.start(face, "utofu_put_piggyback", [&](utofu_vcq_hdl_t queue, utofu_vcq_id_t queue_there) {
      return utofu_put_piggyback(queue, queue_there, message, there, piggyback_message, 0, s.flags, nullptr);
    });
    return;
  }
  const std::size_t flag_place = s.plan.flag(face, slot);
  std::memcpy(s.outboxes() + flag_place, &flag, sizeof(flag));
  const std::size_t length = flag_place + sizeof(flag) - begin;
  const utofu_stadd_t here = s.queues[side.queue].block + static_cast<std::size_t>(s.outboxes() - s.block) + begin;
  const utofu_stadd_t there = side.boxes_there + (begin - s.plan.box(face, 0));
  Box& box = s.box(face, slot);
  s.start(face, "utofu_put", [&](utofu_vcq_hdl_t queue, utofu_vcq_id_t queue_there) {
    return utofu_put(queue, queue_there, here, there, length, 0, s.flags | UTOFU_ONESIDED_FLAG_TCQ_NOTICE,
                     &box.under_way);
  });
  ++box.under_way;  // its completion is taken by this face's own polls
}

std::uint64_t UtofuTransport::arrived_flag(int face, int slot, std::size_t bytes) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.active(face) ? s.own.flag(s.own.inbox(face, slot), face) : 0;
  const bool small = s.in_descriptor(bytes);
  Box& box = s.box(face, slot);
  std::uint64_t& seen = small ? box.seen_in_line : box.seen_in_box;
  const std::size_t place = small ? s.line_of(face, slot) + piggyback_data : s.plan.flag(face, slot);
  const std::uint64_t flag = detail::load_flag(s.block + place);
  if (flag != seen) {
    seen = box.last = flag;
  } else if (++s.side(face).looks % detail::looks_between_progress == 0) {
    s.poll(face);
  }
  return box.last;
}

bool UtofuTransport::sent(int face, int slot) {
  State& s = *state_;
  if (!s.plan.remote(face)) return true;
  if (s.box(face, slot).under_way > 0) s.poll(face);
  return s.box(face, slot).under_way == 0;
}

void UtofuTransport::acknowledge(int face, std::uint64_t count) {
  State& s = *state_;
  if (!s.plan.remote(face)) {
    s.own_acknowledged[static_cast<std::size_t>(face ^ 1)] = count;
    return;
  }
  const utofu_stadd_t there = s.side(face).acknowledged_there;
  s.start(face, "utofu_put_piggyback8", [&](utofu_vcq_hdl_t queue, utofu_vcq_id_t queue_there) {
    return utofu_put_piggyback8(queue, queue_there, count, there, sizeof(count), 0, UTOFU_ONESIDED_FLAG_STRONG_ORDER,
                                nullptr);
  });
}

std::uint64_t UtofuTransport::acknowledged(int face) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own_acknowledged[static_cast<std::size_t>(face)];
  if (++s.side(face).looks % detail::looks_between_progress == 0) s.poll(face);
  return detail::load_flag(s.block + s.plan.acknowledged(face));
}

bool UtofuTransport::direct(int face) const noexcept { return !state_->plan.remote(face); }

bool UtofuTransport::concurrent() const noexcept {
  if (state_ == nullptr) return false;
  std::size_t remote_faces = 0;
  for (int face = 0; face < state_->plan.faces(); ++face) remote_faces += state_->plan.remote(face) ? 1 : 0;
  return state_->queues.size() == remote_faces;
}

bool UtofuTransport::neighbour_gone(int face) {
  State& s = *state_;
  return s.plan.remote(face) && !s.grid.communicator().backend().alive(s.plan.neighbour(face));
}

void UtofuTransport::abandon() noexcept {
  if (state_ != nullptr) state_->abandoned = true;
}

TransportKind utofu_transport() {
  return {
      .name = "utofu",
      .unavailable_reason = utofu_unavailable_reason,
      .make = [](const TransportOptions& options) { return std::make_unique<UtofuTransport>(options); },
  };
}

}  // namespace halocline::comm
