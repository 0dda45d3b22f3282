// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counting messages, and nothing else: the transport moves the bytes.

#include "halocline/comm/halo_exchange.hpp"

#include "halocline/comm/detail/text.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <thread>
#include <utility>

namespace halocline::comm {
namespace {

constexpr int spins_before_yield = 64;  // about a microsecond: a neighbour on another core answers within

int slot_of(std::uint64_t message) noexcept { return static_cast<int>(message % 2); }

/// The flag behind a message: its number, counted from 1, and in the top 16 bits how many messages of the link its
/// sender has given free, modulo 2^16; the receiver knows the rest, for at most two are under way.
namespace flag {
constexpr int shift = 48;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << shift) - 1;

constexpr std::uint64_t make(std::uint64_t message, std::uint64_t freed) noexcept {
  return (freed << shift) | ((message + 1) & number_mask);
}
constexpr std::uint64_t number(std::uint64_t flag) noexcept { return flag & number_mask; }
/// @param sent  by the receiver over this link: the count cannot be above
constexpr std::uint64_t freed(std::uint64_t flag, std::uint64_t sent) noexcept {
  return sent - ((sent - (flag >> shift)) & 0xffffu);
}
}  // namespace flag

/// Compares the sizes on both sides of every pair of faces, on every rank alike.
/// @param all  shape (ranks, ndim)
void check_neighbours_agree(const ProcessGrid& grid, std::span<const std::uint64_t> all) {
  const int ndim = grid.ndim();
  const auto size = [&](int rank, int axis) { return all[static_cast<std::size_t>(rank * ndim + axis)]; };
  for (int rank = 0; rank < grid.size(); ++rank) {
    for (int axis = 0; axis < ndim; ++axis) {
      const Face face{axis, +1};
      const int other = grid.neighbour_of(rank, face);
      if (other < 0 || size(rank, axis) == size(other, axis)) continue;
      throw core::InvalidArgument("halo exchange: face " + detail::name(face) + " of rank " + std::to_string(rank) +
                                  " has " + std::to_string(size(rank, axis)) + " bytes and face " +
                                  detail::name(face.opposite()) + " of its neighbour, rank " + std::to_string(other) +
                                  ", has " + std::to_string(size(other, axis)) + "; neighbours must agree");
    }
  }
}

}  // namespace

HaloExchange::HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                           std::unique_ptr<Transport> transport)
    : grid_(grid), transport_(std::move(transport)) {
  const Communicator& group = grid_.communicator();
  on_every_rank(group, [&] {
    if (static_cast<int>(face_bytes.size()) != grid_.ndim()) {
      throw core::InvalidArgument("halo exchange: " + std::to_string(face_bytes.size()) +
                                  " face sizes given, expected one for each of the " + std::to_string(grid_.ndim()) +
                                  " axes");
    }
    if (2 * grid_.ndim() > 32) throw core::InvalidArgument("halo exchange: at most 16 axes");
    if (transport_ == nullptr) throw core::InvalidArgument("halo exchange: no transport given; see make_transport");
  });
  const std::string_view name = transport_->name();
  const std::vector<std::byte> names = group.allgather(std::as_bytes(std::span(name)));
  const std::vector<std::uint64_t> mine(face_bytes.begin(), face_bytes.end());
  const std::vector<std::byte> gathered = group.allgather(std::as_bytes(std::span(mine)));
  std::vector<std::uint64_t> all(gathered.size() / sizeof(std::uint64_t));
  std::copy(gathered.begin(), gathered.end(), std::as_writable_bytes(std::span(all)).begin());
  on_every_rank(group, [&] {
    const auto own = std::as_bytes(std::span(name));
    if (names.size() != name.size() * static_cast<std::size_t>(grid_.size()) ||
        !std::equal(own.begin(), own.end(), names.begin())) {
      throw core::InvalidArgument("halo exchange: transport " + std::string(name) + " given, rank 0 has another");
    }
    check_neighbours_agree(grid_, all);
  });

  std::vector<std::size_t> bytes;
  for (int face = 0; face < 2 * grid_.ndim(); ++face) {
    const int neighbour = grid_.neighbour(Face::from_index(face));
    bytes.push_back(neighbour < 0 ? 0 : face_bytes[static_cast<std::size_t>(face / 2)]);
    Link link;
    link.bytes = bytes.back();
    link.neighbour = neighbour;
    links_.push_back(link);
  }
  transport_->open(grid_, bytes, pairs);
}

HaloExchange::~HaloExchange() {
  if (transport_ == nullptr) return;  // moved from
  const bool quiet = std::all_of(links_.begin(), links_.end(), [](const Link& l) { return l.arrived == l.expected; });
  if (failed_ || !quiet) transport_->abandon();
}

int HaloExchange::checked_index(Face face) const {
  const bool known = face.axis >= 0 && face.axis < grid_.ndim() && (face.direction == 1 || face.direction == -1);
  if (!known) {
    throw core::InvalidArgument("face of axis " + std::to_string(face.axis) + ", direction " +
                                std::to_string(face.direction) + " given; axes are 0 to " +
                                std::to_string(grid_.ndim() - 1) + ", directions -1 and +1");
  }
  return face.index();
}

bool HaloExchange::active(Face face) const { return link(checked_index(face)).active(); }

std::uint64_t HaloExchange::steps(Face face) const { return link(checked_index(face)).sent; }

std::span<std::byte> HaloExchange::send_buffer(Face face) noexcept {
  const Link& l = link(face.index());
  if (!l.active()) return {};
  return {transport_->outbox(face.index(), slot_of(l.sent)), l.bytes};
}

std::span<const std::byte> HaloExchange::recv_buffer(Face face) const noexcept {
  const Link& l = link(face.index());
  if (!l.active() || l.expected == 0) return {};
  return {transport_->inbox(face.index(), slot_of(l.expected - 1)), l.bytes};
}

/// The rule of the essay, for one face of a post.
void HaloExchange::check_post(int face) const {
  const Link& out = link(face);
  const Link& in = link(face ^ 1);
  const auto refuse = [&](const std::string& what) {
    throw core::InvalidArgument("halo exchange, rank " + std::to_string(grid_.rank()) + ", face " +
                                detail::name(Face::from_index(face)) + ", step " +
                                std::to_string(std::max(out.sent, in.expected)) + ": " + what);
  };
  if (in.active() && in.arrived < in.expected) {
    refuse("posted again before wait() for what the last post brought to face " +
           detail::name(Face::from_index(face ^ 1)));
  }
  if (out.active() && out.proven + 2 <= out.sent) {
    refuse("two messages are on their way and none has come back over this face since; post face " +
           detail::name(Face::from_index(face ^ 1)) + " and wait for face " + detail::name(Face::from_index(face)) +
           " in between");
  }
}

void HaloExchange::post(FaceMask faces) {
  if (failed_) throw core::Error("halo exchange: used after it failed", grid_.rank());
  const int count = 2 * grid_.ndim();
  const auto in_mask = [faces](int face) { return (faces >> face & 1u) != 0; };
  for (int face = 0; face < count; ++face) {
    if (in_mask(face)) check_post(face);
  }
  failed_ = true;  // until all of it is done: what an error of the transport leaves half posted cannot be used
  // First give free what has been read, then send: so our message tells the neighbour of it.
  for (int face = 0; face < count; ++face) {
    if (in_mask(face) || in_mask(face ^ 1)) free_arrived(face);
  }
  for (int face = 0; face < count; ++face) {
    if (in_mask(face) && link(face ^ 1).active()) ++link(face ^ 1).expected;
    Link& out = link(face);
    if (!in_mask(face) || !out.active()) continue;
    const std::uint64_t message = out.sent++;
    if (message >= 2) finish_send(face, message - 2);
    transport_->put(face, slot_of(message), flag::make(message, out.freed));
  }
  failed_ = false;
}

void HaloExchange::free_arrived(int face) {
  Link& in = link(face);
  if (!in.active() || in.freed == in.arrived) return;
  transport_->release(face, slot_of(in.arrived - 1));
  in.freed = in.arrived;
}

template <class Ready>
void HaloExchange::poll(int face, std::uint64_t step, const char* what, Ready&& ready) {
  using clock = std::chrono::steady_clock;
  for (int spin = 0; spin < spins_before_yield; ++spin) {
    if (ready()) return;
  }
  const auto begin = clock::now();
  const auto limit = std::chrono::duration<double>(time_limit_);
  while (!ready()) {
    if (clock::now() - begin > limit) {
      fail(face, step,
           std::string(what) + " rank " + std::to_string(link(face).neighbour) + " within " +
               std::to_string(time_limit_) + " s; it has stalled, died, or posts other faces");
    }
    std::this_thread::yield();
  }
}

void HaloExchange::fail(int face, std::uint64_t step, const std::string& what) {
  failed_ = true;
  throw core::Error("halo exchange, rank " + std::to_string(grid_.rank()) + ", face " +
                        detail::name(Face::from_index(face)) + ", step " + std::to_string(step) + ", transport " +
                        std::string(transport_->name()) + ": " + what,
                    grid_.rank());
}

void HaloExchange::finish_send(int face, std::uint64_t message) {
  if (transport_->sent(face, slot_of(message))) return;
  poll(face, message, "our message was not taken by", [&] { return transport_->sent(face, slot_of(message)); });
}

void HaloExchange::wait(Face face) {
  const int at = checked_index(face);
  Link& l = link(at);
  if (!l.active()) return;
  if (failed_) throw core::Error("halo exchange: used after it failed", grid_.rank());
  if (l.arrived == l.expected) {
    throw core::InvalidArgument(
        "halo exchange, rank " + std::to_string(grid_.rank()) + ": wait for face " + detail::name(face) +
        (l.expected == 0 ? " before the first post" : ", whose message has been waited for; post first"));
  }
  const std::uint64_t step = l.expected - 1;
  const std::uint64_t before = step < 2 ? 0 : step - 1;  // number that the slot holds since two messages ago
  std::uint64_t arrived = 0;
  poll(at, step, "no message from", [&] {
    arrived = transport_->arrived_flag(at, slot_of(step));
    const std::uint64_t number = flag::number(arrived);
    if (number != before && number != step + 1) {
      fail(at, step,
           "a message of step " + std::to_string(number - 1) + " came from rank " + std::to_string(l.neighbour) +
               "; all ranks must post the same faces in the same order");
    }
    return number == step + 1;
  });
  l.arrived = l.expected;
  l.proven = flag::freed(arrived, l.sent);
  // The buffer to be filled next is that of our message sent - 2. The neighbour has it, so this does not wait long.
  if (l.sent >= 2 && l.proven + 1 >= l.sent) finish_send(at, l.sent - 2);
}

void HaloExchange::wait_all(FaceMask faces) {
  for (int face = 0; face < 2 * grid_.ndim(); ++face) {
    const Link& l = link(face);
    if ((faces >> face & 1u) != 0 && l.active() && l.arrived < l.expected) wait(Face::from_index(face));
  }
}

void HaloExchange::set_time_limit(double seconds) {
  if (!(seconds > 0.0) || !std::isfinite(seconds)) {
    throw core::InvalidArgument("halo exchange: time limit of " + std::to_string(seconds) +
                                " s given, positive expected");
  }
  time_limit_ = seconds;
}

}  // namespace halocline::comm
