// SPDX-License-Identifier: Apache-2.0
/// @file
/// MPI_Put of the data, MPI_Win_flush, MPI_Raccumulate of the flag; and the freeing of windows.

#include "halocline/comm/transports/mpi_rma/mpi_rma.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/shared_room.hpp"
#include "halocline/comm/mpi/end.hpp"
#include "halocline/comm/transports/box_plan.hpp"
#include "halocline/comm/transports/boxes.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace halocline::comm {
namespace {

constexpr std::size_t alignment = detail::BoxLayout::alignment;
/// [bytes of /dev/shm a process] beside the inboxes: the state of a window, and the rounding by the library.
constexpr std::uint64_t room_of_a_window = 64 * 1024;

/// A message whose data has been put and whose flag has not.
struct Unflagged {
  int face, slot;
  std::uint64_t flag;
};

/// A word on its way, and the request that says when it has left.
struct Word {
  std::uint64_t value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
};

}  // namespace

struct MpiRmaTransport::State {
  State(const ProcessGrid& g, std::span<const std::size_t> capacity, int slots)
      : grid(g),
        comm(mpi_comm(g.communicator())),
        rank(g.rank()),
        own(g, detail::own_capacities(g, capacity), slots),
        plan(g, capacity, slots, alignment),
        outboxes(static_cast<std::int64_t>(plan.bytes())),
        flags(capacity.size() * static_cast<std::size_t>(slots)),
        acknowledgements(capacity.size()),
        own_acknowledged(capacity.size()) {}

  void check(int code, const char* call) const { check_mpi(code, call, rank); }
  void make_window();
  bool delivers();
  void finish_words();
  void free_window();
  void put_word(int face, std::uint64_t place_there, Word& word, std::uint64_t value);
  void dispatch();
  void progress();
  /// The distance of a place at the neighbour from the same place here: the boxes of a face have one layout on both
  /// sides.
  std::uint64_t shift(int face) const noexcept {
    return boxes_there[static_cast<std::size_t>(face)] - plan.box(face, 0);
  }
  bool left(Word& word) {
    int done = 1;
    if (word.request != MPI_REQUEST_NULL) check(MPI_Test(&word.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  }

  std::optional<ProcessGrid> grid;  // until the transport ends: a state left to the group must not keep the group alive
  MPI_Comm comm;
  int rank;
  detail::Boxes own;  // of faces whose neighbour is this process
  detail::BoxPlan plan;
  MPI_Win window = MPI_WIN_NULL;
  std::byte* inboxes = nullptr;                                // in the window, aligned
  std::vector<std::uint64_t> boxes_there, acknowledged_there;  // shape (2 ndim,): bytes from the neighbour's window on
  core::AlignedArray<std::byte> outboxes;
  std::vector<Unflagged> unflagged;
  std::vector<Word> flags;             // by plan.index
  std::vector<Word> acknowledgements;  // shape (2 ndim,)
  std::vector<std::uint64_t> own_acknowledged;
  std::shared_ptr<Estate> estate;
  std::uint64_t number = 0;  // of this window in the group
  unsigned looks = 0;
  bool abandoned = false;
};

/// The windows that ended transports leave to their group, kept as an attribute of its communicator.
struct MpiRmaTransport::Estate {
  std::uint64_t opened = 0;
  std::map<std::uint64_t, std::unique_ptr<State>> left;  // by number

  static std::shared_ptr<Estate> of(MPI_Comm comm, int rank);
  void settle(const ProcessGrid& grid);

private:
  static int forget(MPI_Comm, int, void* value, void*) {
    delete static_cast<std::shared_ptr<Estate>*>(value);
    return MPI_SUCCESS;
  }
};

std::shared_ptr<MpiRmaTransport::Estate> MpiRmaTransport::Estate::of(MPI_Comm comm, int rank) {
  static const int key = [rank] {
    int made = MPI_KEYVAL_INVALID;
    check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &made, nullptr), "MPI_Comm_create_keyval", rank);
    return made;
  }();
  void* value = nullptr;
  int found = 0;
  check_mpi(MPI_Comm_get_attr(comm, key, &value, &found), "MPI_Comm_get_attr", rank);
  if (found != 0) return *static_cast<std::shared_ptr<Estate>*>(value);
  auto made = std::make_unique<std::shared_ptr<Estate>>(std::make_shared<Estate>());
  check_mpi(MPI_Comm_set_attr(comm, key, made.get()), "MPI_Comm_set_attr", rank);
  return *made.release();  // forget() deletes it
}

/// Frees the windows that all ranks have left. Collective.
void MpiRmaTransport::Estate::settle(const ProcessGrid& grid) {
  std::vector<std::uint64_t> mine;
  for (const auto& [number, state] : left) mine.push_back(number);
  const std::vector<std::byte> gathered = grid.communicator().allgather(std::as_bytes(std::span(mine)));
  std::vector<std::uint64_t> all(gathered.size() / sizeof(std::uint64_t));
  std::ranges::copy(gathered, std::as_writable_bytes(std::span(all)).begin());
  for (const std::uint64_t number : mine) {
    if (std::ranges::count(all, number) < grid.size()) continue;
    const std::unique_ptr<State> state = std::move(left.extract(number).mapped());
    state->finish_words();
    state->free_window();
  }
}

void MpiRmaTransport::State::finish_words() {
  for (std::vector<Word>* const words : {&flags, &acknowledgements}) {
    for (Word& word : *words) check(MPI_Wait(&word.request, MPI_STATUS_IGNORE), "MPI_Wait");
  }
}

/// Collective.
void MpiRmaTransport::State::free_window() {
  check(MPI_Win_unlock_all(window), "MPI_Win_unlock_all");
  check(MPI_Win_free(&window), "MPI_Win_free");
  detail::count_windows(-1);
}

/// True when words arrive through the new window: sends one to every neighbour, as dispatch() will, and looks for
/// theirs. Collective.
/// MPICH 4.0 on UCX reports the words of about the tenth window of a process as delivered, and delivers none.
bool MpiRmaTransport::State::delivers() {
  const Communicator& group = grid->communicator();
  const int faces = static_cast<int>(acknowledgements.size());
  for (int face = 0; face < faces; ++face) {
    const auto at = static_cast<std::size_t>(face);
    if (plan.remote(face)) put_word(face, acknowledged_there[at], acknowledgements[at], 1);
  }
  check(MPI_Win_flush_all(window), "MPI_Win_flush_all");
  group.barrier();
  check(MPI_Win_sync(window), "MPI_Win_sync");
  bool arrived = true;
  for (int face = 0; face < faces; ++face) {
    if (!plan.remote(face)) continue;
    std::byte* const word = inboxes + plan.acknowledged(face);
    arrived = arrived && detail::load_flag(word) == 1;
    std::fill_n(word, sizeof(std::uint64_t), std::byte{0});
  }
  check(MPI_Win_sync(window), "MPI_Win_sync");
  return !group.any(!arrived);  // collective: no rank puts before all have cleared their words
}

void MpiRmaTransport::State::make_window() {
  void* memory = nullptr;
  const auto bytes = static_cast<MPI_Aint>(plan.bytes() + alignment);
  const int code = [&] {
    const ErrorsReturned here;
    return MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, comm, &memory, &window);
  }();
  if (code == MPI_SUCCESS) detail::count_windows(1);
  // A window that only some ranks have got cannot be freed, because freeing is collective: it is left to MPI.
  on_every_rank(grid->communicator(), [&] { check(code, "MPI_Win_allocate"); });
  check(MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
  check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window), "MPI_Win_lock_all");
  inboxes = detail::aligned(memory, alignment);
  std::fill_n(inboxes, plan.bytes(), std::byte{0});
  check(MPI_Win_sync(window), "MPI_Win_sync");
  // The next calls gather from all ranks, so no rank puts before all have cleared their windows.
  const auto shift = static_cast<std::uint64_t>(inboxes - static_cast<std::byte*>(memory));
  const std::vector<std::uint64_t> origin(flags.size() / static_cast<std::size_t>(plan.slots()), shift);
  boxes_there = plan.from_neighbours(*grid, plan.first_boxes(origin));
  acknowledged_there = plan.from_neighbours(*grid, plan.acknowledgements(origin));
  if (delivers()) return;
  finish_words();
  free_window();
  throw core::Error(
      "rank " + std::to_string(rank) +
          ": transport mpi_rma: words put into a new window of MPI do not arrive, though MPI says so, which "
          "some libraries do when many windows are open; take transport mpi_persistent",
      rank);
}

/// Stores a word at the neighbour as a whole, which MPI promises for accumulates only.
void MpiRmaTransport::State::put_word(int face, std::uint64_t place_there, Word& word, std::uint64_t value) {
  check(MPI_Wait(&word.request, MPI_STATUS_IGNORE), "MPI_Wait");  // of an earlier message, so done long ago
  word.value = value;
  check(MPI_Raccumulate(&word.value, 1, MPI_UINT64_T, plan.neighbour(face), static_cast<MPI_Aint>(place_there), 1,
                        MPI_UINT64_T, MPI_REPLACE, window, &word.request),
        "MPI_Raccumulate");
}

/// Sends the flags of all messages that were put, each after its data has arrived. While the first is flushed the
/// others travel.
void MpiRmaTransport::State::dispatch() {
  for (const Unflagged& message : unflagged) {
    check(MPI_Win_flush(plan.neighbour(message.face), window), "MPI_Win_flush");
    put_word(message.face, plan.flag(message.face, message.slot) + shift(message.face),
             flags[plan.index(message.face, message.slot)], message.flag);
  }
  unflagged.clear();
}

/// Makes the puts of other ranks visible, and now and then lets MPI work. It sends the flags first: the awaited
/// neighbour may itself be waiting for one of them.
void MpiRmaTransport::State::progress() {
  dispatch();
  check(MPI_Win_sync(window), "MPI_Win_sync");
  if (++looks % detail::looks_between_progress != 0) return;
  int there = 0;
  check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &there, MPI_STATUS_IGNORE), "MPI_Iprobe");
}

namespace {

/// Why no window with this many bytes of inboxes on this rank can be made; empty when one can. Collective.
/// MPI libraries put windows inside a node into /dev/shm, and Open MPI asks for 5 % more than it takes.
std::string window_problem(const ProcessGrid& grid, std::uint64_t inbox_bytes) {
  const Communicator& group = grid.communicator();
  if (group.any(mpi_comm(group) == MPI_COMM_NULL)) return "needs a group that stands on MPI; use comm::world()";
  return detail::shared_room_problem(group, inbox_bytes + inbox_bytes / 16 + room_of_a_window, "open windows of");
}

/// Whether windows of groups without common ranks may have the same memory: Open MPI 4 names the memory of a window on
/// a node by the number of its communicator, and such groups give theirs the same numbers. Messages of one group then
/// overwrite those of the other. Later versions number communicators in the whole job.
bool windows_collide([[maybe_unused]] const ProcessGrid& grid) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
  int all = 0;
  check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &all), "MPI_Comm_size", grid.rank());
  return grid.size() < all;
#else
  return false;
#endif
}

}  // namespace

std::string mpi_rma_unavailable_reason(const ProcessGrid* grid) {
  if (grid == nullptr || grid->size() == 1) return "";
  std::string problem = window_problem(*grid, 0);
  if (problem.empty() && windows_collide(*grid))
    problem = "serves only the group of all processes with this version of Open MPI, which mixes up windows of other "
              "groups";
  return problem;
}

MpiRmaTransport::MpiRmaTransport() = default;

MpiRmaTransport::~MpiRmaTransport() {
  if (state_ == nullptr || state_->window == MPI_WIN_NULL) return;
  if (state_->abandoned) {
    // Other ranks may still write into the window, and MPI may still read the outboxes, so they are never freed.
    [[maybe_unused]] State* const left_to_mpi = state_.release();
    detail::note_unfinished_requests();
    return;
  }
  const std::shared_ptr<Estate> estate = std::move(state_->estate);
  const std::uint64_t number = state_->number;
  state_->grid.reset();
  estate->left.emplace(number, std::move(state_));
}

void MpiRmaTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  std::unique_ptr<State> state;
  on_every_rank(grid.communicator(), [&] {
    for (std::size_t face = 0; face < capacity.size(); ++face) {
      if (capacity[face] <= INT_MAX) continue;
      throw core::InvalidArgument("transport mpi_rma carries at most 2 GiB a message, and face " +
                                  std::to_string(face) + " has " + std::to_string(capacity[face]) + " bytes");
    }
    state = std::make_unique<State>(grid, capacity, slots);
    if (grid.size() > 1 && state->comm != MPI_COMM_NULL) state->estate = Estate::of(state->comm, state->rank);
  });
  if (grid.size() > 1) {
    if (grid.communicator().all(state->estate != nullptr)) state->estate->settle(grid);  // frees old windows
    if (const std::string why = window_problem(grid, state->plan.bytes() + alignment); !why.empty())
      throw core::InvalidArgument("transport mpi_rma " + why);
    state->number = state->estate->opened++;
    state->make_window();
  }
  state_ = std::move(state);
}

std::byte* MpiRmaTransport::outbox(int face, int slot, std::size_t bytes) noexcept {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.data(s.own.outbox(face, slot), face, bytes);
  return s.outboxes.data() + s.plan.data(face, slot, bytes);
}

const std::byte* MpiRmaTransport::inbox(int face, int slot, std::size_t bytes) const noexcept {
  const State& s = *state_;
  if (!s.plan.remote(face)) return s.own.data(s.own.inbox(face, slot), face, bytes);
  return s.inboxes + s.plan.data(face, slot, bytes);
}

void MpiRmaTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.set_flag(s.own.outbox(face, slot), face, flag);
  const std::size_t begin = s.plan.data(face, slot, bytes);
  s.check(MPI_Put(s.outboxes.data() + begin, static_cast<int>(bytes), MPI_BYTE, s.plan.neighbour(face),
                  static_cast<MPI_Aint>(begin + s.shift(face)), static_cast<int>(bytes), MPI_BYTE, s.window),
          "MPI_Put");
  s.unflagged.push_back({face, slot, flag});
}

void MpiRmaTransport::dispatch() { state_->dispatch(); }

std::uint64_t MpiRmaTransport::arrived_flag(int face, int slot, std::size_t) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.active(face) ? s.own.flag(s.own.inbox(face, slot), face) : 0;
  s.progress();
  return detail::load_flag(s.inboxes + s.plan.flag(face, slot));
}

/// True when the flag has left; the data left before it.
bool MpiRmaTransport::sent(int face, int slot) {
  State& s = *state_;
  s.dispatch();
  return !s.plan.remote(face) || s.left(s.flags[s.plan.index(face, slot)]);
}

void MpiRmaTransport::acknowledge(int face, std::uint64_t count) {
  State& s = *state_;
  const auto at = static_cast<std::size_t>(face);
  if (!s.plan.remote(face)) {
    s.own_acknowledged[at ^ 1u] = count;
  } else {
    s.put_word(face, s.acknowledged_there[at], s.acknowledgements[at], count);
  }
}

std::uint64_t MpiRmaTransport::acknowledged(int face) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own_acknowledged[static_cast<std::size_t>(face)];
  s.progress();
  return detail::load_flag(s.inboxes + s.plan.acknowledged(face));
}

bool MpiRmaTransport::direct(int face) const noexcept { return !state_->plan.remote(face); }

bool MpiRmaTransport::neighbour_gone(int face) {
  State& s = *state_;
  return s.plan.remote(face) && !s.grid->communicator().backend().alive(s.plan.neighbour(face));
}

void MpiRmaTransport::close() {
  if (state_ == nullptr || state_->window == MPI_WIN_NULL || state_->abandoned) return;
  state_->dispatch();
  state_->finish_words();
  state_->free_window();
  state_.reset();
}

void MpiRmaTransport::abandon() noexcept {
  if (state_ != nullptr) state_->abandoned = true;
}

TransportKind mpi_rma_transport() {
  return {
      .name = "mpi_rma",
      .unavailable_reason = mpi_rma_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<MpiRmaTransport>(); },
  };
}

}  // namespace halocline::comm
