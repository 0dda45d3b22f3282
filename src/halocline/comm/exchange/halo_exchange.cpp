// SPDX-License-Identifier: Apache-2.0
/// @file
/// Counts messages. detail/link.hpp has the rules; the transport moves the bytes.

#include "halocline/comm/exchange/halo_exchange.hpp"

#include "halocline/comm/exchange/detail/checksum.hpp"
#include "halocline/comm/exchange/detail/link.hpp"
#include "halocline/comm/exchange/transport_choice.hpp"
#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/comm/group/text.hpp"
#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

namespace halocline::comm {

using detail::Link;

namespace {

/// Lets threads take turns where the transport is not concurrent. Held for nanoseconds.
class Turn {
public:
  Turn(std::atomic_flag& flag, bool needed) noexcept : flag_(needed ? &flag : nullptr) {
    while (flag_ != nullptr && flag_->test_and_set(std::memory_order_acquire)) detail::pause();
  }
  ~Turn() {
    if (flag_ != nullptr) flag_->clear(std::memory_order_release);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

private:
  std::atomic_flag* flag_;
};

bool contains(FaceMask faces, int face) noexcept { return (faces >> face & 1u) != 0; }

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
      throw core::InvalidArgument(fmt::format(
          "halo exchange: face {} of rank {} has {} bytes and face {} of its neighbour, rank {}, has {}; "
          "neighbours must agree",
          detail::name(face), rank, size(rank, axis), detail::name(face.opposite()), other, size(other, axis)));
    }
  }
}

/// The options that must be the same on every rank, as text.
std::string agreed(const Transport& transport, const HaloOptions& options) {
  return fmt::format("transport {}, {} buffers{}{}", transport.name(), static_cast<int>(options.buffering),
                     options.checksum ? ", checksum" : "",
                     options.threads                    ? ", threads"
                     : options.threads_where_concurrent ? ", threads where concurrent"
                                                        : "");
}

std::unique_ptr<Transport> transport_named(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                                           std::string_view name, const HaloOptions& options) {
  if (name == "auto") return make_transport(choose_transport(grid, face_bytes, options).name, grid, options.transport);
  return make_transport(name, grid, options.transport);
}

}  // namespace

struct HaloExchange::State {
  State(const ProcessGrid& g, std::unique_ptr<Transport> t, const HaloOptions& o)
      : grid(g), transport(std::move(t)), options(o), buffers(static_cast<int>(o.buffering)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (transport == nullptr || links.empty()) return;  // not opened
    bool quiet = !failed;
    for (int face = 0; face < faces(); ++face) quiet = quiet && (!active(face) || !awaits(face));
    if (!quiet) transport->abandon();
  }

  int faces() const noexcept { return static_cast<int>(links.size()); }
  Link& link(int face) noexcept { return links[static_cast<std::size_t>(face)]; }
  bool active(int face) const noexcept { return capacity[static_cast<std::size_t>(face)] > 0; }
  bool awaits(int face) noexcept { return detail::awaits(link(face), link(face ^ 1)); }
  bool one_buffer() const noexcept { return buffers == 1; }
  detail::Backend& backend() const noexcept { return grid.communicator().backend(); }

  /// Bytes that travel. A checksum follows the message at the next multiple of 8.
  std::size_t wire_bytes(std::size_t bytes) const noexcept {
    return options.checksum && bytes > 0 ? (bytes + 7) / 8 * 8 + sizeof(std::uint64_t) : bytes;
  }
  void check_usable() const {
    if (failed) throw core::Error("halo exchange: used after it failed", grid.rank());
  }
  [[noreturn]] void fail(int face, std::uint64_t step, const std::string& what) {
    failed = true;
    transport->abandon();
    backend().give_up();
    throw core::Error(fmt::format("halo exchange, rank {}, face {}, step {}, transport {}: {}", grid.rank(),
                                  detail::name(Face::from_index(face)), step, transport->name(), what),
                      grid.rank());
  }
  /// Frees the messages that have arrived at this face, and with one buffer acknowledges them.
  void free_arrived(int face) {
    Link& l = link(face);
    if (l.freed == l.arrived) return;
    for (std::uint64_t message = l.freed; message < l.arrived; ++message) {
      transport->release(face, detail::slot_of(message, buffers));
    }
    detail::free_arrived(l);
    if (one_buffer() && !acknowledgements->paced(face)) acknowledgements->acknowledge(face, l.freed);
  }

  ProcessGrid grid;
  std::unique_ptr<Transport> transport;
  Acknowledgements* acknowledgements = nullptr;  ///< of the transport; not nullptr with one buffer
  HaloOptions options;
  int buffers;
  bool takes_turns = false;
  std::vector<std::size_t> capacity;  ///< shape (2 ndim,)
  std::vector<std::size_t> awaited;   ///< shape (2 ndim,): bytes of the message posted last to this face
  std::vector<Link> links;            ///< shape (2 ndim,)
  std::atomic_flag turn;
  std::atomic<bool> failed{false};
};

// ---- making ------------------------------------------------------------------------------------------------------

HaloExchange::HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes,
                           std::unique_ptr<Transport> transport, const HaloOptions& options)
    : state_(std::make_shared<State>(grid, std::move(transport), options)) {
  State& s = *state_;
  on_every_rank(grid.communicator(), [&] {
    if (s.transport == nullptr) throw core::InvalidArgument("halo exchange: no transport given; see make_transport");
    if (grid.ndim() > most_axes) {
      throw core::InvalidArgument(fmt::format("halo exchange: {} axes given, at most {}", grid.ndim(), most_axes));
    }
    const std::string why_not = options.threads ? s.transport->thread_unavailable_reason() : "";
    if (!why_not.empty()) {
      throw core::InvalidArgument(fmt::format("halo exchange: several threads cannot use transport {} here: it {}",
                                              s.transport->name(), why_not));
    }
    set_time_limit(options.time_limit);
  });
  const std::string mine = agreed(*s.transport, options);
  const std::vector<std::byte> all = grid.communicator().allgather(std::as_bytes(std::span(mine)));
  on_every_rank(grid.communicator(), [&] {
    const auto own = std::as_bytes(std::span(mine));
    if (all.size() != own.size() * static_cast<std::size_t>(grid.size()) ||
        !std::equal(own.begin(), own.end(), all.begin())) {
      throw core::InvalidArgument("halo exchange: " + mine + " given, rank 0 has others; all ranks need the same");
    }
  });
  set_sizes(face_bytes);
  s.capacity = bytes_;
  s.awaited.assign(bytes_.size(), 0);
  std::vector<std::size_t> wire;
  for (const std::size_t bytes : bytes_) wire.push_back(s.wire_bytes(bytes));
  s.transport->open(grid, wire, s.buffers);
  s.acknowledgements = s.transport->acknowledgements();
  if (s.one_buffer() && s.acknowledgements == nullptr)
    throw core::InvalidArgument(fmt::format("halo exchange: transport {} serves exchanges of two buffers, and one was "
                                            "asked for; ask for two, or choose another transport",
                                            s.transport->name()));
  if (options.threads_where_concurrent && s.transport->concurrent()) s.options.threads = true;
  s.takes_turns = s.options.threads && !s.transport->concurrent();
  s.links.resize(bytes_.size());
}

HaloExchange::HaloExchange(const ProcessGrid& grid, std::span<const std::size_t> face_bytes, std::string_view transport,
                           const HaloOptions& options)
    : HaloExchange(grid, face_bytes, transport_named(grid, face_bytes, transport, options), options) {}

HaloExchange::HaloExchange(std::shared_ptr<State> state, std::span<const std::size_t> face_bytes)
    : state_(std::move(state)) {
  set_sizes(face_bytes);
  on_every_rank(state_->grid.communicator(), [&] {
    for (std::size_t face = 0; face < bytes_.size(); ++face) {
      if (bytes_[face] <= state_->capacity[face]) continue;
      throw core::InvalidArgument(fmt::format(
          "halo exchange: {} bytes for axis {} do not fit the shared buffers of {}; make the exchange of the "
          "longest messages first",
          bytes_[face], face / 2, state_->capacity[face]));
    }
  });
}

HaloExchange::~HaloExchange() = default;

void HaloExchange::close() { state_->transport->close(); }

HaloExchange HaloExchange::sharing_buffers(std::span<const std::size_t> face_bytes) const {
  return HaloExchange(state_, face_bytes);
}

/// Compares the sizes with those of the neighbours, and stores them by face. Collective: yes.
void HaloExchange::set_sizes(std::span<const std::size_t> face_bytes) {
  const ProcessGrid& grid = state_->grid;
  on_every_rank(grid.communicator(), [&] {
    if (static_cast<int>(face_bytes.size()) != grid.ndim()) {
      throw core::InvalidArgument(fmt::format(
          "halo exchange: {} face sizes given, expected one for each of the {} axes", face_bytes.size(), grid.ndim()));
    }
  });
  const std::vector<std::uint64_t> mine(face_bytes.begin(), face_bytes.end());
  const std::vector<std::byte> gathered = grid.communicator().allgather(std::as_bytes(std::span(mine)));
  std::vector<std::uint64_t> all(gathered.size() / sizeof(std::uint64_t));
  std::copy(gathered.begin(), gathered.end(), std::as_writable_bytes(std::span(all)).begin());
  on_every_rank(grid.communicator(), [&] { check_neighbours_agree(grid, all); });
  bytes_.clear();
  sizes_.assign(face_bytes.begin(), face_bytes.end());
  for (int face = 0; face < 2 * grid.ndim(); ++face) {
    const bool there = grid.neighbour(Face::from_index(face)) >= 0;
    bytes_.push_back(there ? sizes_[static_cast<std::size_t>(face / 2)] : 0);
  }
}

// ---- asking ------------------------------------------------------------------------------------------------------

int HaloExchange::checked_index(Face face) const {
  const int ndim = state_->grid.ndim();
  if (face.axis < 0 || face.axis >= ndim || (face.direction != 1 && face.direction != -1)) {
    throw core::InvalidArgument(
        fmt::format("face of axis {}, direction {} given; axes are 0 to {}, directions -1 and +1", face.axis,
                    face.direction, ndim - 1));
  }
  return face.index();
}

bool HaloExchange::active(Face face) const { return bytes(checked_index(face)) > 0; }

std::uint64_t HaloExchange::steps(Face face) const { return state_->link(checked_index(face)).posted; }

std::uint64_t HaloExchange::bytes_posted() const {
  std::uint64_t sum = 0;
  for (int face = 0; face < state_->faces(); ++face) sum += state_->link(face).posted * bytes(face);
  return sum;
}

const ProcessGrid& HaloExchange::grid() const noexcept { return state_->grid; }
const Transport& HaloExchange::transport() const noexcept { return *state_->transport; }
const HaloOptions& HaloExchange::options() const noexcept { return state_->options; }
bool HaloExchange::concurrent() const noexcept { return state_->options.threads && state_->transport->concurrent(); }
double HaloExchange::time_limit() const noexcept { return state_->options.time_limit; }

void HaloExchange::set_time_limit(double seconds) {
  if (!(seconds > 0.0) || !std::isfinite(seconds)) {
    throw core::InvalidArgument(fmt::format("halo exchange: time limit of {} s given, positive expected", seconds));
  }
  state_->options.time_limit = seconds;
}

std::span<const std::byte> HaloExchange::recv_buffer(Face face) const noexcept {
  const int at = face.index();
  if (face.axis < 0 || face.axis >= state_->grid.ndim() || bytes(at) == 0) return {};
  State& s = *state_;
  const Link& l = s.link(at);
  if (l.arrived == 0) return {};
  return {s.transport->inbox(at, detail::slot_of(l.arrived - 1, s.buffers), s.wire_bytes(bytes(at))), bytes(at)};
}

// ---- polling -----------------------------------------------------------------------------------------------------

/// Polls for this face. Fails when the time limit is over, or when the neighbour has gone.
template <class Ready>
void HaloExchange::poll(int face, std::uint64_t step, const char* what, Ready&& ready) {
  State& s = *state_;
  const auto in_turn = [&](auto&& action) {
    const Turn turn(s.turn, s.takes_turns);
    return action();
  };
  const auto neighbour = [&] { return s.grid.neighbour(Face::from_index(face)); };
  const auto waited = detail::wait_until(
      s.backend(), s.options.time_limit, [&] { return s.failed || in_turn(ready); },
      [&] { return in_turn([&] { return s.transport->neighbour_gone(face) || !s.backend().alive(neighbour()); }); },
      !s.options.threads);
  s.check_usable();  // another thread may have failed
  if (waited == detail::Waited::ready) return;
  s.fail(face, step,
         waited == detail::Waited::hopeless
             ? fmt::format("{} rank {}: it has ended, or has given up this exchange", what, neighbour())
             : fmt::format(
                   "{} rank {} within {:g} s; it has stalled or died, waits for another rank, or posts other faces",
                   what, neighbour(), s.options.time_limit));
}

namespace {
constexpr const char* not_taken = "our message was not taken by";
constexpr const char* no_message = "no message from";
}  // namespace

/// Waits until the outbox of the next message may be written: its previous message has left, and where the outbox is
/// the neighbour's inbox, the neighbour has freed it.
void HaloExchange::fill_ready(int face) {
  State& s = *state_;
  const Link& l = s.link(face);
  if (!s.one_buffer()) {
    if (!detail::may_fill(l, s.buffers)) refuse_fill(face);
  } else if (s.transport->direct(face)) {
    await_acknowledged(face);
  }
  if (l.posted >= static_cast<std::uint64_t>(s.buffers))
    await_sent(face, l.posted - static_cast<std::uint64_t>(s.buffers));
}

/// Waits until this message of ours has left its outbox.
void HaloExchange::await_sent(int face, std::uint64_t message) {
  State& s = *state_;
  const int slot = detail::slot_of(message, s.buffers);
  {
    const Turn turn(s.turn, s.takes_turns);
    if (s.transport->sent(face, slot)) return;
  }
  poll(face, message, not_taken, [&] { return s.transport->sent(face, slot); });
}

/// With one buffer: waits until the neighbour has read our last message.
void HaloExchange::await_acknowledged(int face) {
  State& s = *state_;
  Link& l = s.link(face);
  if (detail::may_fill(l, s.buffers) || s.acknowledgements->paced(face)) return;
  poll(face, l.posted - 1, "our message was not read by", [&] {
    detail::prove(l, s.acknowledgements->acknowledged(face));
    return detail::may_fill(l, s.buffers);
  });
}

void HaloExchange::refuse(int face, const std::string& what) const {
  const Link& out = state_->link(face);
  throw core::InvalidArgument(fmt::format("halo exchange, rank {}, face {}, step {}: {}", state_->grid.rank(),
                                          detail::name(Face::from_index(face)), out.posted, what));
}

void HaloExchange::refuse_fill(int face) const {
  const std::string opposite = detail::name(Face::from_index(face ^ 1)), own = detail::name(Face::from_index(face));
  refuse(face,
         fmt::format("two messages are on their way and none has come back over this face since; post face {} and "
                     "wait for face {} in between",
                     opposite, own));
}

// ---- sending -----------------------------------------------------------------------------------------------------

std::span<std::byte> HaloExchange::send_buffer(Face face) {
  const int at = checked_index(face);
  if (bytes(at) == 0) return {};
  State& s = *state_;
  s.check_usable();
  if (s.one_buffer()) release();
  fill_ready(at);
  return {s.transport->outbox(at, detail::slot_of(s.link(at).posted, s.buffers), s.wire_bytes(bytes(at))), bytes(at)};
}

/// Checks the rules of halo_exchange.hpp for one face of a post.
void HaloExchange::check_post(int face) const {
  State& s = *state_;
  const int back = face ^ 1;
  if (s.active(back) && s.awaits(back)) {
    refuse(face,
           "posted again before wait() for what the last post brought to face " + detail::name(Face::from_index(back)));
  }
  if (!s.one_buffer() && bytes(face) > 0 && !detail::may_fill(s.link(face), s.buffers)) refuse_fill(face);
}

void HaloExchange::post(Face face) { post(FaceMask{1} << checked_index(face)); }

void HaloExchange::post(FaceMask faces) {
  State& s = *state_;
  s.check_usable();
  for (int face = 0; face < s.faces(); ++face) {
    if (contains(faces, face)) check_post(face);
  }
  try {
    if (s.one_buffer()) release();
    for (int face = 0; face < s.faces(); ++face) {
      if (contains(faces, face) && sizes_[static_cast<std::size_t>(face / 2)] > 0) put(face);
    }
    const Turn turn(s.turn, s.takes_turns);
    s.transport->dispatch();
  } catch (...) {
    s.failed = true;  // an error of the transport may leave the faces half posted
    throw;
  }
}

/// Frees the messages that have been read at this face, then sends. So the message carries the new count to the
/// neighbour.
void HaloExchange::put(int face) {
  State& s = *state_;
  Link& l = s.link(face);
  s.awaited[static_cast<std::size_t>(face ^ 1)] = bytes(face ^ 1);
  if (bytes(face) == 0) {  // no neighbour: count the message that the opposite face expects
    ++l.posted;
    return;
  }
  await_acknowledged(face);
  fill_ready(face);
  const int slot = detail::slot_of(l.posted, s.buffers);
  const std::size_t wire = s.wire_bytes(bytes(face));
  const Turn turn(s.turn, s.takes_turns);
  s.free_arrived(face);
  if (s.options.checksum) {
    std::byte* const data = s.transport->outbox(face, slot, wire);
    const std::uint64_t sum = detail::checksum({data, bytes(face)}, l.posted);
    std::memcpy(data + wire - sizeof(sum), &sum, sizeof(sum));
  }
  const std::uint64_t flag = detail::post(l);
  s.transport->put(face, slot, wire, flag);
}

void HaloExchange::wait_sent(FaceMask faces) {
  State& s = *state_;
  s.check_usable();
  for (int face = 0; face < s.faces(); ++face) {
    if (!contains(faces, face) || bytes(face) == 0) continue;
    const std::uint64_t posted = s.link(face).posted, buffers = static_cast<std::uint64_t>(s.buffers);
    for (std::uint64_t message = posted < buffers ? 0 : posted - buffers; message < posted; ++message) {
      await_sent(face, message);
    }
  }
}

void HaloExchange::release(FaceMask faces) {
  State& s = *state_;
  s.check_usable();
  const Turn turn(s.turn, s.takes_turns);
  for (int face = 0; face < s.faces(); ++face) {
    if (contains(faces, face) && s.active(face)) s.free_arrived(face);
  }
}

// ---- receiving ---------------------------------------------------------------------------------------------------

/// True when the awaited message of this face has come. Call it while holding the Turn.
bool HaloExchange::look(int face) {
  State& s = *state_;
  const std::uint64_t step = s.link(face).arrived, buffers = static_cast<std::uint64_t>(s.buffers);
  const std::uint64_t before = step < buffers ? 0 : step - buffers + 1;  // number of the slot's last message, or 0
  const std::uint64_t flag =
      s.transport->arrived_flag(face, detail::slot_of(step, s.buffers), s.wire_bytes(bytes(face)));
  const std::uint64_t number = detail::flag::number(flag);
  if (number == step + 1) return true;
  if (number != before) {
    s.fail(face, step,
           fmt::format("a message of step {} came from rank {}; all ranks must post the same faces in the same order",
                       number - 1, s.grid.neighbour(Face::from_index(face))));
  }
  return false;
}

/// Verifies the message that look() has seen, and counts it.
void HaloExchange::finish_wait(int face) {
  State& s = *state_;
  Link& l = s.link(face);
  const int slot = detail::slot_of(l.arrived, s.buffers);
  const std::size_t wire = s.wire_bytes(bytes(face));
  std::uint64_t flag = 0;
  {
    const Turn turn(s.turn, s.takes_turns);
    flag = s.transport->arrived_flag(face, slot, wire);
  }
  if (s.options.checksum) {
    const std::byte* const data = s.transport->inbox(face, slot, wire);
    std::uint64_t sent = 0;
    std::memcpy(&sent, data + wire - sizeof(sent), sizeof(sent));
    if (sent != detail::checksum({data, bytes(face)}, l.arrived)) {
      s.fail(face, l.arrived,
             fmt::format("the message from rank {} was damaged on its way: its checksum does not fit its {} bytes",
                         s.grid.neighbour(Face::from_index(face)), bytes(face)));
    }
  }
  detail::arrive(l, flag);
  s.transport->arrived(face, slot, wire);
}

/// Throws unless a message of this exchange is awaited at this face.
void HaloExchange::check_wait(int face) const {
  State& s = *state_;
  s.check_usable();
  if (!s.awaits(face)) {
    throw core::InvalidArgument(fmt::format(
        "halo exchange, rank {}: wait for face {}{}", s.grid.rank(), detail::name(Face::from_index(face)),
        s.link(face).arrived == 0 ? " before the first post" : ", whose message has been waited for; post first"));
  }
  if (s.awaited[static_cast<std::size_t>(face)] != bytes(face)) {
    throw core::InvalidArgument(fmt::format("halo exchange, rank {}: wait for {} bytes at face {}, but {} are under "
                                            "way; an exchange that shares the buffers "
                                            "posted them and must wait for them",
                                            s.grid.rank(), bytes(face), detail::name(Face::from_index(face)),
                                            s.awaited[static_cast<std::size_t>(face)]));
  }
}

void HaloExchange::wait(Face face) {
  const int at = checked_index(face);
  if (bytes(at) == 0) return;
  check_wait(at);
  const bool there = !state_->takes_turns && look(at);
  if (!there) poll(at, state_->link(at).arrived, no_message, [&] { return look(at); });
  finish_wait(at);
}

void HaloExchange::wait_all(FaceMask faces) {
  State& s = *state_;
  for (int face = 0; face < s.faces(); ++face) {
    if (contains(faces, face) && bytes(face) > 0 && s.awaits(face)) wait(Face::from_index(face));
  }
}

std::optional<Face> HaloExchange::wait_any(FaceMask faces) {
  State& s = *state_;
  s.check_usable();
  FaceMask awaited = 0;
  int first = -1, found = -1;
  for (int face = 0; face < s.faces(); ++face) {
    if (!contains(faces, face) || bytes(face) == 0 || !s.awaits(face)) continue;
    check_wait(face);
    awaited |= FaceMask{1} << face;
    if (first < 0) first = face;
  }
  if (first < 0) return std::nullopt;
  poll(first, s.link(first).arrived, no_message, [&] {
    for (int face = first; face < s.faces() && found < 0; ++face) {
      if (contains(awaited, face) && look(face)) found = face;
    }
    return found >= 0;
  });
  finish_wait(found);
  return Face::from_index(found);
}

bool HaloExchange::arrived(Face face) {
  const int at = checked_index(face);
  State& s = *state_;
  if (bytes(at) == 0 || !s.awaits(at)) return true;
  check_wait(at);
  const Turn turn(s.turn, s.takes_turns);
  return look(at);
}

}  // namespace halocline::comm
