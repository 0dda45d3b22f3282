// SPDX-License-Identifier: Apache-2.0
/// @file
/// The symmetric heap of the process, and puts into it.

#include "halocline/comm/transports/openshmem/openshmem.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/shared_room.hpp"
#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/comm/transports/box_plan.hpp"
#include "halocline/comm/transports/boxes.hpp"
#include "halocline/comm/transports/openshmem/detail/openshmem_library.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <csignal>
#include <cstdlib>
#include <utility>
#include <vector>

namespace halocline::comm {
namespace {

constexpr std::size_t page = 4096;
/// [bytes of /dev/shm a process] UCX below Open MPI's OpenSHMEM takes 4.1 MiB for messages that arrive, and ends the
/// job when it cannot have them.
constexpr std::uint64_t shared_memory_to_start = std::uint64_t{6} << 20;

/// The pieces of the symmetric heap that this process holds. One heap per process, as OpenSHMEM is.
class Heap {
public:
  static Heap& of_process() {
    static Heap* const heap = new Heap;  // never deleted: OpenSHMEM ends after static objects
    return *heap;
  }

  void start();
  /// A piece of at least this many bytes on every rank, all zero. @return its index. Collective.
  std::size_t take(const Communicator& group, std::size_t bytes);
  void give_back(std::size_t piece) noexcept { pieces_[piece].taken = false; }
  bool started() const noexcept { return started_; }
  std::byte* memory(std::size_t piece) const noexcept { return pieces_[piece].memory; }
  int signal_operation() const noexcept { return signal_operation_; }

private:
  struct Piece {
    std::byte* memory;
    std::size_t bytes;
    bool taken;
  };
  void find_signal_operation();
  static void before_exit(int status, void*);
  static void end();

  std::vector<Piece> pieces_;  // the same on every rank except `taken`
  int signal_operation_ = -1;
  bool started_ = false, put_off_ = false;
};

/// Makes MPI call `action` at the beginning of MPI_Finalize, when it frees MPI_COMM_SELF.
void before_mpi_ends(void (*action)()) {
  int key = MPI_KEYVAL_INVALID;
  const auto run = [](MPI_Comm, int, void* value, void*) -> int {
    reinterpret_cast<void (*)()>(value)();
    return MPI_SUCCESS;
  };
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, run, &key, nullptr), "MPI_Comm_create_keyval", -1);
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, reinterpret_cast<void*>(action)), "MPI_Comm_set_attr", -1);
}

/// Keeps the signal handlers of the program, and puts them back at the end of the scope. The start of Open MPI's
/// OpenSHMEM replaces the handlers of those signals that ask a run to stop.
class KeptHandlers {
public:
  KeptHandlers() {
    for (std::size_t i = 0; i < numbers.size(); ++i) known_[i] = sigaction(numbers[i], nullptr, &before_[i]) == 0;
  }
  KeptHandlers(const KeptHandlers&) = delete;
  KeptHandlers& operator=(const KeptHandlers&) = delete;
  ~KeptHandlers() {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (known_[i]) sigaction(numbers[i], &before_[i], nullptr);
  }

private:
  static constexpr std::array numbers{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, numbers.size()> before_{};
  std::array<bool, numbers.size()> known_{};
};

void Heap::start() {
  if (started_) return;
  const KeptHandlers handlers;
  const detail::OpenShmem& shmem = detail::openshmem();
  const bool started_by_others = shmem.of_open_mpi() && *shmem.open_mpi_initialized;
  int level = 0;
  if (!started_by_others && shmem.of_open_mpi()) {
    shmem.init_thread(detail::OpenShmem::open_mpi_thread_serialized, &level);
  } else if (!started_by_others) {
    shmem.init();  // elsewhere the number of a level is not known
  }
  started_ = true;
  detail::pin_libraries("mca_common_ucx");
  if (!started_by_others) {
    before_mpi_ends(end);
    if (shmem.of_open_mpi()) on_exit(before_exit, nullptr);
  }
  if (shmem.putmem_signal != nullptr) find_signal_operation();
}

/// Runs at exit, before Open MPI's own end of OpenSHMEM, which waits for all ranks and ends MPI. A program that fails
/// may have lost some ranks, and mpi/end.cpp finds out whether MPI can be ended. So this function makes Open MPI's
/// own end do nothing, and OpenSHMEM ends with MPI.
void Heap::before_exit(int status, void*) {
  const detail::OpenShmem& shmem = detail::openshmem();
  if (shmem.open_mpi_leaves_mpi != nullptr)
    *shmem.open_mpi_leaves_mpi = 1;
  else if (status == 0)
    return;  // without that flag only its own end can do this
  of_process().put_off_ = std::exchange(*shmem.open_mpi_initialized, false);
}

/// Runs inside MPI_Finalize. Collective, as the end of MPI is: where ranks have died, neither MPI nor OpenSHMEM is
/// ended.
void Heap::end() {
  const detail::OpenShmem& shmem = detail::openshmem();
  if (shmem.of_open_mpi()) {
    if (of_process().put_off_) *shmem.open_mpi_initialized = true;
    if (!*shmem.open_mpi_initialized) return;  // OpenSHMEM has ended at exit, and is now ending MPI
    if (shmem.open_mpi_leaves_mpi != nullptr) *shmem.open_mpi_leaves_mpi = 1;
  }
  shmem.finalize();
}

/// The standard names the operation SHMEM_SIGNAL_SET and leaves its number to the library, so this tries 0 and 1.
/// Collective.
void Heap::find_signal_operation() {
  const detail::OpenShmem& shmem = detail::openshmem();
  auto* const words = static_cast<std::uint64_t*>(shmem.align(page, page));
  if (words == nullptr) return;
  for (const int operation : {0, 1}) {
    constexpr std::uint64_t before = 5, signal = 3;
    words[0] = before;
    words[1] = signal;
    shmem.putmem_signal(words + 3, words + 1, sizeof(signal), words, signal, operation, shmem.my_pe());
    shmem.quiet();
    if (words[0] == signal && words[3] == signal) {  // set, and not added
      signal_operation_ = operation;
      return;
    }
  }
}

std::size_t Heap::take(const Communicator& group, std::size_t bytes) {
  std::vector<std::uint64_t> mine{bytes};
  for (const Piece& piece : pieces_) mine.push_back(piece.taken ? 1 : 0);
  const std::vector<std::byte> gathered = group.allgather(std::as_bytes(std::span(mine)));
  std::vector<std::uint64_t> all(gathered.size() / sizeof(std::uint64_t));
  std::ranges::copy(gathered, std::as_writable_bytes(std::span(all)).begin());
  std::uint64_t most = page;
  for (std::size_t rank = 0; rank < all.size() / mine.size(); ++rank) {
    const std::uint64_t* const theirs = all.data() + rank * mine.size();
    most = std::max(most, theirs[0]);
    for (std::size_t piece = 0; piece < pieces_.size(); ++piece) mine[piece + 1] |= theirs[piece + 1];
  }
  most = std::bit_ceil(most);

  std::size_t chosen = pieces_.size();
  for (std::size_t piece = 0; piece < pieces_.size(); ++piece) {
    if (mine[piece + 1] != 0 || pieces_[piece].bytes < most) continue;
    if (chosen == pieces_.size() || pieces_[piece].bytes < pieces_[chosen].bytes) chosen = piece;
  }
  if (chosen < pieces_.size()) {
    detail::openshmem().quiet();
    group.barrier();  // no rank writes into the piece any more
  } else {
    void* const memory = detail::openshmem().align(page, most);
    on_every_rank(group, [&] {
      if (memory != nullptr) return;
      throw core::Error("transport openshmem: the symmetric heap has no " + std::to_string(most) +
                        " bytes left; start with a larger SHMEM_SYMMETRIC_SIZE");
    });
    pieces_.push_back({static_cast<std::byte*>(memory), most, false});
  }
  pieces_[chosen].taken = true;
  std::fill_n(pieces_[chosen].memory, pieces_[chosen].bytes, std::byte{0});
  group.barrier();  // and no rank writes before it is zero
  return chosen;
}

/// Why the group does not consist of all processes of the job; empty when it does.
std::string group_problem(const Communicator& group) {
  if (mpi_comm(group) == MPI_COMM_NULL) return "needs a group that stands on MPI";
  int same = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(mpi_comm(group), MPI_COMM_WORLD, &same), "MPI_Comm_compare", group.rank());
  return same == MPI_UNEQUAL ? "needs all processes of the job in the group" : "";
}

/// Why Open MPI's OpenSHMEM has too little shared memory to start; empty when it has enough, or runs already.
/// Collective.
std::string room_problem(const Communicator& group) {
  const bool no_matter = Heap::of_process().started() || !detail::openshmem().of_open_mpi();
  if (group.all(no_matter)) return {};
  return detail::shared_room_problem(group, no_matter ? 0 : shared_memory_to_start, "start");
}

}  // namespace

struct OpenShmemTransport::State {
  State(const ProcessGrid& g, std::span<const std::size_t> capacity, int slots)
      : grid(g),
        own(g, detail::own_capacities(g, capacity), slots),
        plan(g, capacity, slots, detail::BoxLayout::alignment),
        outboxes(static_cast<std::int64_t>(plan.bytes())),
        own_acknowledged(capacity.size()) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (inboxes != nullptr && !abandoned) Heap::of_process().give_back(piece);
  }

  int pe(int face) const noexcept { return pes[static_cast<std::size_t>(plan.neighbour(face))]; }
  std::uint64_t* word(std::size_t offset) const noexcept { return reinterpret_cast<std::uint64_t*>(inboxes + offset); }
  /// Loads a word that other ranks write. Now and then it lets the library work, by a comparison whose result does
  /// not matter.
  std::uint64_t look(std::size_t offset) {
    if (++looks % detail::looks_between_progress == 0) shmem.uint64_test(word(offset), 1, 0);
    return detail::load_flag(inboxes + offset);
  }

  const detail::OpenShmem& shmem = detail::openshmem();
  ProcessGrid grid;
  detail::Boxes own;  // of faces whose neighbour is this process
  detail::BoxPlan plan;
  core::AlignedArray<std::byte> outboxes;
  std::vector<std::uint64_t> own_acknowledged;
  std::size_t piece = 0;
  std::byte* inboxes = nullptr;                                // symmetric
  std::vector<int> pes;                                        // shape (ranks,)
  std::vector<std::uint64_t> boxes_there, acknowledged_there;  // shape (2 ndim,), bytes from `inboxes` on
  unsigned looks = 0;
  bool abandoned = false;
};

std::string openshmem_unavailable_reason(const ProcessGrid* grid) {
  const std::string library = detail::openshmem_problem();
  if (grid == nullptr || grid->size() == 1) return library;
  const Communicator& group = grid->communicator();
  const std::string why = detail::first_reason(group, library.empty() ? group_problem(group) : library);
  return why.empty() ? room_problem(group) : why;
}

std::string openshmem_trial_unavailable_reason(const ProcessGrid& grid) {
  const detail::OpenShmem& shmem = detail::openshmem();
  const bool runs = Heap::of_process().started() || (shmem.of_open_mpi() && *shmem.open_mpi_initialized);
  if (grid.size() == 1 || grid.communicator().all(runs)) return {};
  return "is not tried before it runs: its start cannot be undone, and where it fails it ends the job; ask for it by "
         "name";
}

OpenShmemTransport::OpenShmemTransport() = default;
OpenShmemTransport::~OpenShmemTransport() = default;

void OpenShmemTransport::open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) {
  const Communicator& group = grid.communicator();
  const std::string why = openshmem_unavailable_reason(&grid);
  if (!why.empty()) throw core::InvalidArgument("transport openshmem " + why);
  std::unique_ptr<State> state;
  on_every_rank(group, [&] { state = std::make_unique<State>(grid, capacity, slots); });
  if (grid.size() > 1) {
    Heap& heap = Heap::of_process();
    heap.start();
    State& s = *state;
    const int pe = s.shmem.my_pe();
    const std::vector<std::byte> all = group.allgather(std::as_bytes(std::span(&pe, 1)));
    s.pes.resize(static_cast<std::size_t>(grid.size()));
    std::ranges::copy(all, std::as_writable_bytes(std::span(s.pes)).begin());
    s.piece = heap.take(group, s.plan.bytes());
    s.inboxes = heap.memory(s.piece);
    const std::vector<std::uint64_t> origin(capacity.size());
    s.boxes_there = s.plan.from_neighbours(grid, s.plan.first_boxes(origin));
    s.acknowledged_there = s.plan.from_neighbours(grid, s.plan.acknowledgements(origin));
  }
  state_ = std::move(state);
}

std::byte* OpenShmemTransport::outbox(int face, int slot, std::size_t bytes) noexcept {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.data(s.own.outbox(face, slot), face, bytes);
  return s.outboxes.data() + s.plan.data(face, slot, bytes);
}

const std::byte* OpenShmemTransport::inbox(int face, int slot, std::size_t bytes) const noexcept {
  const State& s = *state_;
  if (!s.plan.remote(face)) return s.own.data(s.own.inbox(face, slot), face, bytes);
  return s.inboxes + s.plan.data(face, slot, bytes);
}

void OpenShmemTransport::put(int face, int slot, std::size_t bytes, std::uint64_t flag) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.set_flag(s.own.outbox(face, slot), face, flag);
  const int pe = s.pe(face);
  const int signal_operation = Heap::of_process().signal_operation();
  const std::size_t begin = s.plan.data(face, slot, bytes);
  // The boxes of a face have one layout on both sides; `shift` is the distance of the two places.
  const std::uint64_t shift = s.boxes_there[static_cast<std::size_t>(face)] - s.plan.box(face, 0);
  std::uint64_t* const flag_there = s.word(s.plan.flag(face, slot) + shift);
  if (signal_operation >= 0) {
    s.shmem.putmem_signal(s.inboxes + (begin + shift), s.outboxes.data() + begin, bytes, flag_there, flag,
                          signal_operation, pe);
  } else {
    s.shmem.putmem(s.inboxes + (begin + shift), s.outboxes.data() + begin, bytes, pe);
    s.shmem.fence();
    s.shmem.uint64_p(flag_there, flag, pe);
  }
}

std::uint64_t OpenShmemTransport::arrived_flag(int face, int slot, std::size_t) {
  State& s = *state_;
  if (!s.plan.remote(face)) return s.own.active(face) ? s.own.flag(s.own.inbox(face, slot), face) : 0;
  return s.look(s.plan.flag(face, slot));
}

void OpenShmemTransport::acknowledge(int face, std::uint64_t count) {
  State& s = *state_;
  const auto at = static_cast<std::size_t>(face);
  if (s.plan.remote(face)) {
    s.shmem.uint64_p(s.word(s.acknowledged_there[at]), count, s.pe(face));
  } else {
    s.own_acknowledged[at ^ 1u] = count;
  }
}

std::uint64_t OpenShmemTransport::acknowledged(int face) {
  State& s = *state_;
  return s.plan.remote(face) ? s.look(s.plan.acknowledged(face)) : s.own_acknowledged[static_cast<std::size_t>(face)];
}

bool OpenShmemTransport::direct(int face) const noexcept { return !state_->plan.remote(face); }

std::string OpenShmemTransport::thread_unavailable_reason() const {
  if (detail::openshmem().of_open_mpi()) return mpi_thread_unavailable_reason();
  return "starts OpenSHMEM for one thread";
}

bool OpenShmemTransport::neighbour_gone(int face) {
  State& s = *state_;
  return s.plan.remote(face) && !s.grid.communicator().backend().alive(s.plan.neighbour(face));
}

void OpenShmemTransport::abandon() noexcept {
  if (state_ != nullptr) state_->abandoned = true;
}

TransportKind openshmem_transport() {
  return {
      .name = "openshmem",
      .unavailable_reason = openshmem_unavailable_reason,
      .make = [](const TransportOptions&) { return std::make_unique<OpenShmemTransport>(); },
      .trial_unavailable_reason = openshmem_trial_unavailable_reason,
  };
}

}  // namespace halocline::comm
