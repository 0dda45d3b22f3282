// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups on MPI communicators. Every return code is looked at; the duplicated communicators return errors.
///
/// MPI counts are int, our lengths are not: what may be long goes in parts of 1 GiB.

#include "halocline/comm/mpi.hpp"
#include "halocline/comm/world.hpp"
#include "halocline/core/error.hpp"

#include <cstdlib>

#if HALOCLINE_HAVE_MPI

#include "halocline/comm/detail/backend.hpp"
#include "halocline/comm/detail/processes.hpp"
#include "halocline/comm/detail/shared_segment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <sched.h>
#include <string>
#include <vector>

namespace halocline::comm {

void check_mpi(int code, const char* call, int rank) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw core::Error("rank " + std::to_string(rank) + ": " + call +
                        " failed: " + std::string(text, static_cast<std::size_t>(length)),
                    rank);
}

namespace {

constexpr std::size_t longest_part = std::size_t{1} << 30;

bool mpi_is_running() noexcept {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

/// What the end of MPI needs to know. MPI is one per process, and so is this.
struct Ending {
  std::atomic<bool> given_up{false};    ///< somebody was found dead or stalled; see Backend::give_up
  std::vector<std::int64_t> processes;  ///< of all ranks, as far as this node can ask for them
};

Ending& ending() noexcept {
  static Ending value;
  return value;
}

bool given_up() noexcept { return ending().given_up; }

/// Non-blocking MPI calls. Abandoned, the requests stay MPI's, which knows of them without the handles.
class MpiPending final : public detail::Pending {
public:
  MpiPending(std::array<MPI_Request, 2> requests, const char* call, int rank)
      : requests_(requests), call_(call), rank_(rank) {}
  ~MpiPending() override {
    if (!given_up() && mpi_is_running()) MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
  }
  void wait() override { check_mpi(MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE), call_, rank_); }
  bool test() override {
    int done = 0;
    check_mpi(MPI_Testall(2, requests_.data(), &done, MPI_STATUSES_IGNORE), call_, rank_);
    return done != 0;
  }
  void abandon() noexcept override { requests_.fill(MPI_REQUEST_NULL); }

private:
  std::array<MPI_Request, 2> requests_;
  const char* call_;
  int rank_;
};

constexpr int spins_with_a_core = 4000;   // some 100 us
constexpr int spins_sharing_a_core = 30;  // about 1 us: whoever is waited for may be waiting for this core

class MpiBackend final : public detail::Backend {
public:
  /// Takes over `owned`.
  /// @param spins  as for Backend::spins; 0 finds out, collectively
  MpiBackend(MPI_Comm owned, int spins) : comm_(owned), spins_(spins) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    if (spins_ == 0) meet(MPI_COMM_NULL);
  }
  ~MpiBackend() override {
    if (!given_up() && mpi_is_running()) MPI_Comm_free(&comm_);
  }

  MPI_Comm comm() const noexcept { return comm_; }
  const std::vector<std::int64_t>& processes() const noexcept { return processes_; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }

  void barrier() override { check(MPI_Barrier(comm_), "MPI_Barrier"); }

  void broadcast(std::span<std::byte> bytes, int root) override {
    in_parts(bytes, [&](std::span<std::byte> part) {
      check(MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, root, comm_), "MPI_Bcast");
    });
  }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const Unit unit(mine.size(), rank_);
    check(MPI_Allgather(mine.data(), unit.count, unit.type, all.data(), unit.count, unit.type, comm_), "MPI_Allgather");
  }

  std::unique_ptr<detail::Pending> begin_all_gather(std::span<const std::byte> mine,
                                                    std::span<std::byte> all) override {
    const Unit unit(mine.size(), rank_);
    std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Iallgather(mine.data(), unit.count, unit.type, all.data(), unit.count, unit.type, comm_, &requests[0]),
          "MPI_Iallgather");
    return std::make_unique<MpiPending>(requests, "MPI_Iallgather", rank_);
  }

  std::unique_ptr<detail::Pending> begin_swap(std::span<const std::byte> mine, std::span<std::byte> theirs, int partner,
                                              int tag) override {
    const Unit out(mine.size(), rank_), in(theirs.size(), rank_);
    std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Irecv(theirs.data(), in.count, in.type, partner, tag, comm_, &requests[0]), "MPI_Irecv");
    check(MPI_Isend(mine.data(), out.count, out.type, partner, tag, comm_, &requests[1]), "MPI_Isend");
    return std::make_unique<MpiPending>(requests, "a swap by MPI_Isend and MPI_Irecv", rank_);
  }

  void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const Unit unit(mine.size() / static_cast<std::size_t>(size_), rank_);
    check(MPI_Alltoall(mine.data(), unit.count, unit.type, all.data(), unit.count, unit.type, comm_), "MPI_Alltoall");
  }

  void sum(std::span<std::uint64_t> values) override {
    in_parts(values, [&](std::span<std::uint64_t> part) {
      check(MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_UINT64_T, MPI_SUM, comm_),
            "MPI_Allreduce");
    });
  }

  void bit_xor(std::span<std::uint32_t> values) override {
    in_parts(values, [&](std::span<std::uint32_t> part) {
      check(MPI_Allreduce(MPI_IN_PLACE, part.data(), static_cast<int>(part.size()), MPI_UINT32_T, MPI_BXOR, comm_),
            "MPI_Allreduce");
    });
  }

  void send(std::span<const std::byte> bytes, int to, int tag) override {
    in_parts(bytes, [&](std::span<const std::byte> part) {
      check(MPI_Send(part.data(), static_cast<int>(part.size()), MPI_BYTE, to, tag, comm_), "MPI_Send");
    });
  }

  void receive(std::span<std::byte> bytes, int from, int tag) override {
    in_parts(bytes, [&](std::span<std::byte> part) {
      MPI_Status status;
      check(MPI_Recv(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, tag, comm_, &status), "MPI_Recv");
      int received = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count");
      if (static_cast<std::size_t>(received) != part.size()) {
        throw core::Error("rank " + std::to_string(rank_) + ": received " + std::to_string(received) +
                              " bytes from rank " + std::to_string(from) + ", expected " + std::to_string(part.size()),
                          rank_);
      }
    });
  }

  std::shared_ptr<detail::Backend> split(int colour, int key) override {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, colour, key, &part), "MPI_Comm_split");
    return std::make_shared<MpiBackend>(part, spins_);
  }

  std::shared_ptr<detail::Backend> split_by_node() override {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part), "MPI_Comm_split_type");
    auto node = std::make_shared<MpiBackend>(part, spins_);
    meet(part);
    node->meet(part);
    return node;
  }

  std::unique_ptr<detail::SharedSegment> share(std::size_t bytes) override {
    if (processes_.empty()) meet(MPI_COMM_NULL);
    return detail::map_shared_memory(Communicator(std::shared_ptr<detail::Backend>(std::shared_ptr<void>(), this)),
                                     bytes);
  }

  int spins() const noexcept override { return spins_; }
  void idle() override { sched_yield(); }
  void progress() override {
    int waiting = 0;  // whether there is a message is of no interest: MPI goes on with all of them when it is asked
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &waiting, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }
  double now() const noexcept override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  bool alive(int rank) const noexcept override {
    return processes_.empty() || !detail::has_ended(processes_[static_cast<std::size_t>(rank)]);
  }
  void give_up() noexcept override { ending().given_up = true; }

private:
  /// Finds the processes of this node that are in this group, and how many CPUs they have.
  /// @param node  the ranks of this group that are on this node, or MPI_COMM_NULL to find them
  /// Collective: yes.
  void meet(MPI_Comm node) {
    const bool temporary = node == MPI_COMM_NULL;
    if (temporary)
      check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node), "MPI_Comm_split_type");
    struct Card {
      std::int64_t rank = 0;
      detail::ProcessRecord process{};
    };
    int ranks_here = 0;
    check(MPI_Comm_size(node, &ranks_here), "MPI_Comm_size");
    const Card mine{rank_, detail::this_process()};
    std::vector<Card> cards(static_cast<std::size_t>(ranks_here));
    check(MPI_Allgather(&mine, sizeof(Card), MPI_BYTE, cards.data(), sizeof(Card), MPI_BYTE, node), "MPI_Allgather");
    if (temporary) check(MPI_Comm_free(&node), "MPI_Comm_free");

    processes_.assign(static_cast<std::size_t>(size_), 0);
    std::vector<detail::ProcessRecord> records;
    for (const Card& card : cards) {
      processes_[static_cast<std::size_t>(card.rank)] = detail::number_of(card.process, mine.process);
      records.push_back(card.process);
    }
    if (spins_ == 0) spins_ = detail::cpus_of(records) >= ranks_here ? spins_with_a_core : spins_sharing_a_core;
  }

  /// A block as `count` things of an MPI type: bytes while an int can count them, one long thing beyond.
  struct Unit {
    Unit(std::size_t bytes, int rank) : count(static_cast<int>(bytes)) {
      if (bytes < longest_part) return;
      const std::size_t words = bytes / 8;
      if (bytes % 8 != 0 || words > longest_part) {
        throw core::Error("rank " + std::to_string(rank) + ": a block of " + std::to_string(bytes) +
                              " bytes is too long for one collective: at most 8 GiB, in multiples of 8 bytes",
                          rank);
      }
      count = static_cast<int>(words);
      type = MPI_UINT64_T;
    }
    int count;
    MPI_Datatype type = MPI_BYTE;
  };

  /// At least one part, so that an empty message is still a message.
  template <class T, class Action>
  static void in_parts(std::span<T> values, Action&& action) {
    const std::size_t most = longest_part / sizeof(T);
    do {
      const std::size_t n = std::min(values.size(), most);
      action(values.first(n));
      values = values.subspan(n);
    } while (!values.empty());
  }

  void check(int code, const char* call) const { check_mpi(code, call, rank_); }

  MPI_Comm comm_;
  int spins_;
  int rank_ = -1;
  int size_ = 0;
  std::vector<std::int64_t> processes_;  // shape (size,), see number_of; empty before meet()
};

/// How long a process that has given somebody up looks whether all come to the end after all.
constexpr double patience_at_the_end = 2.0;  // [s]

/// Ends MPI where everybody does. MPI_Finalize would wait for ever for one that has died; a process that knows of such
/// ends without it, and the launcher says so.
constexpr double patience_for_stalled = 5.0;  // [s] at the end, for somebody whom this rank has given up
constexpr double patience_after_death = 0.2;  // [s] for what a rank sent before it ended

/// All ranks have come to the end. False when one has ended before, or was given up and does not come.
bool all_come_to_the_end() {
  const auto now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS) return false;
  double until = given_up() ? now() + patience_for_stalled : std::numeric_limits<double>::infinity();
  double look = 0.0;
  bool death = false;
  for (int done = 0; done == 0;) {
    if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || (done == 0 && now() > until)) return false;
    if (!death && now() > look) {
      death = std::any_of(ending().processes.begin(), ending().processes.end(), detail::has_ended);
      if (death) until = now() + patience_after_death;
      look = now() + 0.02;
    }
    if (done == 0) sched_yield();
  }
  return true;
}

/// MPI_Finalize waits for everybody for ever, and does not say so.
void end_mpi() {
  if (mpi_is_running() && all_come_to_the_end()) MPI_Finalize();
}

/// Starts MPI unless it runs. The one started here is ended at exit, after the static below has been destroyed.
void start_mpi() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (ended != 0) throw core::Error("MPI has already ended in this process; make the group before MPI_Finalize");
  if (started != 0) return;
#ifdef OPEN_MPI
  // Without mpirun Open MPI starts a daemon for this one process, through ssh where it finds one, and aborts where it
  // does not. This setting, looked at only in that case, makes it do without.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
#endif
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread", -1);
  ending();  // made before, and so destroyed after, what runs at exit
  std::atexit(end_mpi);
}

std::shared_ptr<MpiBackend> duplicate(MPI_Comm mpi) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(mpi, &copy), "MPI_Comm_dup", -1);
  return std::make_shared<MpiBackend>(copy, 0);
}

}  // namespace

Communicator from_mpi(MPI_Comm mpi) {
  if (!mpi_is_running())
    throw core::InvalidArgument("an MPI communicator was given while MPI is not running; start MPI first");
  if (mpi == MPI_COMM_NULL) throw core::InvalidArgument("MPI_COMM_NULL given, expected an MPI communicator");
  int between_groups = 0;
  // MPI raises what it finds wrong with a communicator on MPI_COMM_WORLD, where an error is fatal unless told
  // otherwise.
  MPI_Errhandler before = MPI_ERRHANDLER_NULL;
  check_mpi(MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before), "MPI_Comm_get_errhandler", -1);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  const int code = MPI_Comm_test_inter(mpi, &between_groups);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  if (code != MPI_SUCCESS) throw core::InvalidArgument("a handle was given that is no MPI communicator");
  if (between_groups != 0)
    throw core::InvalidArgument("an inter-communicator was given, expected one of a single group");
  return Communicator(duplicate(mpi));
}

MPI_Comm mpi_comm(const Communicator& group) noexcept {
  const auto* backend = dynamic_cast<const MpiBackend*>(&group.backend());
  return backend == nullptr ? MPI_COMM_NULL : backend->comm();
}

std::string mpi_thread_hindrance() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_SERIALIZED
             ? ""
             : "stands on an MPI that was started for one thread; start it with MPI_THREAD_SERIALIZED or more";
}

Communicator world() {
  // MPI is one per process, and so is the group of all processes: the second call must not be a collective again.
  static const std::shared_ptr<detail::Backend> all = []() -> std::shared_ptr<detail::Backend> {
    start_mpi();
    const std::shared_ptr<MpiBackend> world = duplicate(MPI_COMM_WORLD);
    ending().processes = world->processes();
    return world;
  }();
  return Communicator(all);
}

Communicator from_fortran_handle(int handle) {
  if (!mpi_is_running())
    throw core::InvalidArgument("an MPI communicator was given while MPI is not running; start MPI first");
  return from_mpi(MPI_Comm_f2c(static_cast<MPI_Fint>(handle)));
}

void abort_all(int status) {
  if (mpi_is_running()) MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace halocline::comm

#else

namespace halocline::comm {

Communicator world() { return Communicator::self(); }

Communicator from_fortran_handle(int) {
  throw core::InvalidArgument(
      "an MPI communicator was given, but this Halocline is built without MPI; rebuild with HALOCLINE_MPI=ON");
}

void abort_all(int status) { std::_Exit(status); }

}  // namespace halocline::comm

#endif
