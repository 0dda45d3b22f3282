// SPDX-License-Identifier: Apache-2.0
/// @file
/// Groups on MPI communicators. Every return code is checked; the duplicated communicators return errors.
///
/// MPI counts are int and our lengths are not, so long messages travel in parts of 1 GiB.
///
/// With a time limit (time_limit.hpp) a collective is begun in its non-blocking form and polled. If it is given up,
/// MPI may still read and write its memory at any later time. So it works on memory of its own, which in this case is
/// never freed.

#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/vector_length.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <array>
#include <cstdlib>
#include <limits>
#include <string>

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/patience.hpp"
#include "halocline/comm/group/processes.hpp"
#include "halocline/comm/group/shared_segment.hpp"
#include "halocline/comm/group/text.hpp"
#include "halocline/comm/mpi/end.hpp"
#include "halocline/comm/mpi/library_sum.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <sched.h>
#include <utility>
#include <vector>

namespace halocline::comm {

namespace {

constexpr std::size_t longest_part = std::size_t{1} << 30;

using detail::given_up;
using detail::mpi_is_running;

class MpiBackend;

/// A number of elements of an MPI type, from a rank.
struct Elements {
  int count;
  MPI_Datatype type;
  int from;
};

/// Non-blocking MPI calls. After abandon() the requests stay with MPI, which needs no handles for them.
class MpiPending final : public detail::Pending {
public:
  /// @param group     its time limit holds for wait()
  /// @param received  what the first request receives, an error if another number comes; absent: not looked at
  MpiPending(std::array<MPI_Request, 2> requests, const char* call, std::shared_ptr<MpiBackend> group,
             std::optional<Elements> received = {})
      : requests_(requests), call_(call), group_(std::move(group)), received_(received) {}
  ~MpiPending() override {
    if (!given_up() && mpi_is_running()) MPI_Waitall(2, requests_.data(), MPI_STATUSES_IGNORE);
  }
  void wait() override;
  bool test() override;
  void abandon() noexcept override {
    requests_.fill(MPI_REQUEST_NULL);
    detail::note_unfinished_requests();
  }

private:
  void check_received(const MPI_Status& status);

  std::array<MPI_Request, 2> requests_;
  const char* call_;
  std::shared_ptr<MpiBackend> group_;
  std::optional<Elements> received_;
};

constexpr int spins_with_a_core = 4000;   // some 100 us
constexpr int spins_sharing_a_core = 30;  // about 1 us: the awaited rank may be waiting for this core

class MpiBackend final : public detail::Backend, public std::enable_shared_from_this<MpiBackend> {
public:
  /// Takes over `owned`.
  /// @param spins  as for Backend::spins; 0 makes meet() find it, collectively
  /// @param limit  see time_limit.hpp [s]
  MpiBackend(MPI_Comm owned, int spins, double limit) : comm_(owned), spins_(spins), limit_(limit) {
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
    if (spins_ == 0) meet(MPI_COMM_NULL);
  }
  ~MpiBackend() override {
    if (given_up() || !mpi_is_running()) return;
    if (node_ != MPI_COMM_NULL) MPI_Comm_free(&node_);
    MPI_Comm_free(&comm_);
  }

  MPI_Comm comm() const noexcept { return comm_; }
  const std::vector<std::int64_t>& processes() const noexcept { return processes_; }
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }

  /// The limit of this group, else that of a solve under way.
  double time_limit() const noexcept {
    return std::isinf(limit_) && solve_limit()->solves > 0 ? solve_limit()->seconds : limit_;
  }
  void set_time_limit(double seconds) noexcept { limit_ = seconds; }
  bool limited() const noexcept { return std::isfinite(time_limit()); }

  void barrier() override {
    if (!limited()) return check(MPI_Barrier(comm_), "MPI_Barrier");
    within_limit("barrier", -1, {}, {}, [&](const void*, void*, MPI_Request* r) { return MPI_Ibarrier(comm_, r); });
  }

  void broadcast(std::span<std::byte> bytes, int root) override {
    in_parts(bytes, [&](std::span<std::byte> part) {
      const int count = static_cast<int>(part.size());
      if (!limited()) return check(MPI_Bcast(part.data(), count, MPI_BYTE, root, comm_), "MPI_Bcast");
      within_limit("broadcast", -1, part, part, [&](const void*, void* to, MPI_Request* r) {
        return MPI_Ibcast(to, count, MPI_BYTE, root, comm_, r);
      });
    });
  }

  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const Unit unit(mine.size(), rank_);
    if (!limited())
      return check(MPI_Allgather(mine.data(), unit.count, unit.type, all.data(), unit.count, unit.type, comm_),
                   "MPI_Allgather");
    within_limit("all-gather", -1, mine, all, [&](const void* from, void* to, MPI_Request* r) {
      return MPI_Iallgather(from, unit.count, unit.type, to, unit.count, unit.type, comm_, r);
    });
  }

  std::unique_ptr<detail::Pending> begin_all_gather(std::span<const std::byte> mine,
                                                    std::span<std::byte> all) override {
    const Unit unit(mine.size(), rank_);
    std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Iallgather(mine.data(), unit.count, unit.type, all.data(), unit.count, unit.type, comm_, &requests[0]),
          "MPI_Iallgather");
    return std::make_unique<MpiPending>(requests, "MPI_Iallgather", shared_from_this());
  }

  std::unique_ptr<detail::Pending> begin_swap(std::span<const std::byte> mine, std::span<std::byte> theirs, int partner,
                                              int tag) override {
    const Unit out(mine.size(), rank_), in(theirs.size(), rank_);
    std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Irecv(theirs.data(), in.count, in.type, partner, tag, comm_, &requests[0]), "MPI_Irecv");
    check(MPI_Isend(mine.data(), out.count, out.type, partner, tag, comm_, &requests[1]), "MPI_Isend");
    return std::make_unique<MpiPending>(requests, "a swap by MPI_Isend and MPI_Irecv", shared_from_this());
  }

  std::unique_ptr<detail::Pending> begin_send(std::span<const std::byte> bytes, int to, int tag) override {
    const Unit unit(bytes.size(), rank_);
    std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Isend(bytes.data(), unit.count, unit.type, to, tag, comm_, &requests[0]), "MPI_Isend");
    return std::make_unique<MpiPending>(requests, "MPI_Isend", shared_from_this());
  }

  std::unique_ptr<detail::Pending> begin_receive(std::span<std::byte> bytes, int from, int tag) override {
    const Unit unit(bytes.size(), rank_);
    std::array requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    check(MPI_Irecv(bytes.data(), unit.count, unit.type, from, tag, comm_, &requests[0]), "MPI_Irecv");
    return std::make_unique<MpiPending>(requests, "MPI_Irecv", shared_from_this(),
                                        Elements{unit.count, unit.type, from});
  }

  void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    const Unit unit(mine.size() / static_cast<std::size_t>(size_), rank_);
    if (!limited())
      return check(MPI_Alltoall(mine.data(), unit.count, unit.type, all.data(), unit.count, unit.type, comm_),
                   "MPI_Alltoall");
    within_limit("all-to-all", -1, mine, all, [&](const void* from, void* to, MPI_Request* r) {
      return MPI_Ialltoall(from, unit.count, unit.type, to, unit.count, unit.type, comm_, r);
    });
  }

  void sum(std::span<std::uint64_t> values) override { all_reduce(values, MPI_UINT64_T, MPI_SUM); }
  void bit_xor(std::span<std::uint32_t> values) override { all_reduce(values, MPI_UINT32_T, MPI_BXOR); }

  void send(std::span<const std::byte> bytes, int to, int tag) override {
    in_parts(bytes, [&](std::span<const std::byte> part) {
      const int count = static_cast<int>(part.size());
      if (!limited()) return check(MPI_Send(part.data(), count, MPI_BYTE, to, tag, comm_), "MPI_Send");
      within_limit("send", to, part, {}, [&](const void* from, void*, MPI_Request* r) {
        return MPI_Isend(from, count, MPI_BYTE, to, tag, comm_, r);
      });
    });
  }

  void receive(std::span<std::byte> bytes, int from, int tag) override {
    in_parts(bytes, [&](std::span<std::byte> part) {
      const int count = static_cast<int>(part.size());
      MPI_Status status;
      if (!limited())
        check(MPI_Recv(part.data(), count, MPI_BYTE, from, tag, comm_, &status), "MPI_Recv");
      else
        status = within_limit("receive", from, {}, part, [&](const void*, void* to, MPI_Request* r) {
          return MPI_Irecv(to, count, MPI_BYTE, from, tag, comm_, r);
        });
      int received = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count");
      if (static_cast<std::size_t>(received) != part.size()) {
        throw core::Error("rank " + std::to_string(rank_) + ": received " + std::to_string(received) +
                              " bytes from rank " + std::to_string(from) + ", expected " + std::to_string(part.size()),
                          rank_);
      }
    });
  }

  std::shared_ptr<detail::Backend> part_of_colour(int colour, int key) override {
    if (limited()) barrier();
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, colour, key, &part), "MPI_Comm_split");
    return std::make_shared<MpiBackend>(part, spins_, limit_);
  }

  /// Finds the ranks of the node once, and copies their communicator for each caller. MPI has no non-blocking split
  /// that could be given up at a time limit, but it has a non-blocking copy.
  std::shared_ptr<detail::Backend> part_of_node() override {
    if (node_ == MPI_COMM_NULL) {
      if (limited()) barrier();
      check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_), "MPI_Comm_split_type");
      MPI_Comm_set_errhandler(node_, MPI_ERRORS_RETURN);
      meet(node_);
    }
    auto node = std::make_shared<MpiBackend>(copy_of(node_), spins_, limit_);
    node->processes_ = node_processes_;
    return node;
  }

  std::unique_ptr<detail::SharedSegment> share(std::size_t bytes) override {
    if (processes_.empty()) meet(MPI_COMM_NULL);
    return detail::map_shared_memory(Communicator(std::shared_ptr<detail::Backend>(std::shared_ptr<void>(), this)),
                                     bytes);
  }

  std::unique_ptr<detail::LibrarySum> library_sum(std::size_t longest) override {
    return detail::make_mpi_sum(comm_, longest);
  }

  int spins() const noexcept override { return spins_; }
  void idle() override { sched_yield(); }
  void progress() override {
    int waiting = 0;  // the answer is not used: the question makes MPI drive all messages
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &waiting, MPI_STATUS_IGNORE), "MPI_Iprobe");
  }
  double now() const noexcept override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  bool alive(int rank) const noexcept override {
    return processes_.empty() || !detail::has_ended(processes_[static_cast<std::size_t>(rank)]);
  }
  void give_up() noexcept override { detail::note_given_up(); }

  /// Waits until `ready()`, within the limit.
  /// @param what  the operation, for the error message
  /// @param peer  the awaited rank, or -1 for all
  /// @throws core::Error  beyond the limit, or when an awaited rank has ended; the group cannot be used further
  template <class Ready>
  void wait_within_limit(const char* what, int peer, Ready&& ready) {
    const double limit = time_limit();
    std::vector<int> ended;
    const auto hopeless = [&] {
      for (int r = 0; r < size_; ++r)
        if ((peer < 0 || r == peer) && !alive(r)) ended.push_back(r);
      return !ended.empty();
    };
    const auto waited = detail::wait_until(*this, limit, ready, hopeless, false);
    if (waited == detail::Waited::ready) return;
    failed_ = what;
    give_up();
    std::string why;
    if (waited == detail::Waited::hopeless)
      why = fmt::format("{} {} has ended", ended.size() > 1 ? "ranks" : "rank",
                        detail::joined(std::span<const int>(ended), ", "));
    else if (peer >= 0)
      why = fmt::format("rank {} has not taken part within {:g} s; it is stalled or does something else", peer, limit);
    else
      why = fmt::format("not all of the {} ranks have come within {:g} s; one is stalled or does something else", size_,
                        limit);
    throw core::Error(fmt::format("rank {}: {}: {}", rank_, what, why), rank_);
  }

private:
  /// The memory that a call under way reads and writes. Never freed if the call is not known to be done.
  struct Staged {
    Staged(std::span<const std::byte> from, std::span<std::byte> to) : in(from.begin(), from.end()), out(to.size()) {
      if (from.data() == to.data()) std::copy(from.begin(), from.end(), out.begin());
    }
    std::vector<std::byte> in, out;
  };

  /// Begins a non-blocking call on copies, and waits for it within the limit.
  /// @param to     filled at the end; if it is the same memory as `from`, it is both input and output
  /// @param begin  int(const void* from, void* to, MPI_Request*)
  template <class Begin>
  MPI_Status within_limit(const char* what, int peer, std::span<const std::byte> from, std::span<std::byte> to,
                          Begin&& begin) {
    if (failed_ != nullptr)
      throw core::Error(fmt::format("rank {}: {}: this group failed in an earlier {} and cannot be used further; end "
                                    "the run",
                                    rank_, what, failed_),
                        rank_);
    auto staged = std::make_unique<Staged>(from, to);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Status status;
    check(begin(staged->in.data(), staged->out.data(), &request), what);
    try {
      wait_within_limit(what, peer, [&] {
        int done = 0;
        check(MPI_Test(&request, &done, &status), what);
        return done != 0;
      });
    } catch (...) {
      static_cast<void>(staged.release());
      throw;
    }
    std::copy(staged->out.begin(), staged->out.end(), to.begin());
    return status;
  }

  /// A copy of a communicator of some of these ranks, made within the limit. Collective over it.
  MPI_Comm copy_of(MPI_Comm some) {
    if (!limited()) {
      MPI_Comm copy = MPI_COMM_NULL;
      check(MPI_Comm_dup(some, &copy), "MPI_Comm_dup");
      return copy;
    }
    auto copy = std::make_unique<MPI_Comm>(MPI_COMM_NULL);  // MPI may write it at any later time
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Comm_idup(some, copy.get(), &request), "MPI_Comm_idup");
    try {
      wait_within_limit("copy of the group of a node", -1, [&] {
        int done = 0;
        check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Comm_idup");
        return done != 0;
      });
    } catch (...) {
      static_cast<void>(copy.release());
      throw;
    }
    return *copy;
  }

  template <class T>
  void all_reduce(std::span<T> values, MPI_Datatype type, MPI_Op operation) {
    in_parts(values, [&](std::span<T> part) {
      const int count = static_cast<int>(part.size());
      if (!limited())
        return check(MPI_Allreduce(MPI_IN_PLACE, part.data(), count, type, operation, comm_), "MPI_Allreduce");
      const auto bytes = std::as_writable_bytes(part);
      within_limit("all-reduce", -1, bytes, bytes, [&](const void*, void* to, MPI_Request* r) {
        return MPI_Iallreduce(MPI_IN_PLACE, to, count, type, operation, comm_, r);
      });
    });
  }

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
    node_processes_.clear();
    std::vector<detail::ProcessRecord> records;
    for (const Card& card : cards) {
      node_processes_.push_back(detail::number_of(card.process, mine.process));
      processes_[static_cast<std::size_t>(card.rank)] = node_processes_.back();
      records.push_back(card.process);
    }
    if (spins_ == 0) spins_ = detail::cpus_of(records) >= ranks_here ? spins_with_a_core : spins_sharing_a_core;
  }

  /// A block as `count` elements of an MPI type: bytes below 1 GiB, words of 8 bytes from there on.
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
  MPI_Comm node_ = MPI_COMM_NULL;  // the ranks of this node; null before the first split_by_node()
  int spins_;
  double limit_;
  const char* failed_ = nullptr;  // the operation that was given up, or nullptr
  int rank_ = -1;
  int size_ = 0;
  std::vector<std::int64_t> processes_;       // shape (size,), see number_of; empty before meet()
  std::vector<std::int64_t> node_processes_;  // the same for the ranks of this node, in their order
};

bool MpiPending::test() {
  int done = 0;
  std::array<MPI_Status, 2> statuses;
  check_mpi(MPI_Testall(2, requests_.data(), &done, statuses.data()), call_, group_->rank());
  if (done != 0) check_received(statuses[0]);
  return done != 0;
}

void MpiPending::wait() {
  if (group_->limited()) return group_->wait_within_limit(call_, -1, [this] { return test(); });
  std::array<MPI_Status, 2> statuses;
  check_mpi(MPI_Waitall(2, requests_.data(), statuses.data()), call_, group_->rank());
  check_received(statuses[0]);
}

void MpiPending::check_received(const MPI_Status& status) {
  if (!received_) return;
  const Elements expected = *std::exchange(received_, std::nullopt);  // a second look finds an empty status
  int count = 0;
  check_mpi(MPI_Get_count(&status, expected.type, &count), "MPI_Get_count", group_->rank());
  if (count == expected.count) return;
  const auto bytes = [&](int n) { return std::int64_t{n} * (expected.type == MPI_BYTE ? 1 : 8); };
  throw core::Error(fmt::format("rank {}: received {} bytes from rank {}, expected {}", group_->rank(), bytes(count),
                                expected.from, bytes(expected.count)),
                    group_->rank());
}

/// Starts MPI unless it runs. MPI started here ends at exit, after the static group in world() has been destroyed.
void start_mpi() {
  int started = 0, ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  if (ended != 0) throw core::Error("MPI has already ended in this process; make the group before MPI_Finalize");
  if (started != 0) return;
#ifdef OPEN_MPI
  // Without mpirun, Open MPI starts a daemon for this one process. It looks for ssh to do so, and aborts if there is
  // none. This setting counts in that case only, and makes Open MPI work without the daemon.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
#endif
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread", -1);
  detail::end_mpi_at_exit();
}

std::shared_ptr<MpiBackend> duplicate(MPI_Comm mpi) {
  MPI_Comm copy = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(mpi, &copy), "MPI_Comm_dup", -1);
  return std::make_shared<MpiBackend>(copy, 0, std::numeric_limits<double>::infinity());
}

}  // namespace

Communicator from_mpi(MPI_Comm mpi) {
  if (!mpi_is_running())
    throw core::InvalidArgument("an MPI communicator was given while MPI is not running; start MPI first");
  if (mpi == MPI_COMM_NULL) throw core::InvalidArgument("MPI_COMM_NULL given, expected an MPI communicator");
  int between_groups = 0;
  const int code = [&] {
    const ErrorsReturned here;  // MPI raises the error of an invalid handle on MPI_COMM_WORLD
    return MPI_Comm_test_inter(mpi, &between_groups);
  }();
  if (code != MPI_SUCCESS) throw core::InvalidArgument("a handle was given that is no MPI communicator");
  if (between_groups != 0)
    throw core::InvalidArgument("an inter-communicator was given, expected one of a single group");
  Communicator group(duplicate(mpi));
  check_vector_lengths(group);
  return group;
}

MPI_Comm mpi_comm(const Communicator& group) noexcept {
  const auto* backend = dynamic_cast<const MpiBackend*>(&group.backend());
  return backend == nullptr ? MPI_COMM_NULL : backend->comm();
}

std::string mpi_thread_unavailable_reason() {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level >= MPI_THREAD_SERIALIZED
             ? ""
             : "stands on an MPI that was started for one thread; start it with MPI_THREAD_SERIALIZED or more";
}

void set_time_limit(const Communicator& group, double seconds) {
  std::array least{seconds}, most{seconds};
  group.min(least);
  group.max(most);
  if (!(least[0] > 0))
    throw core::InvalidArgument(
        fmt::format("a time limit of {:g} s was given for a group; give a positive number of seconds", least[0]));
  if (std::isfinite(least[0]) != std::isfinite(most[0]))
    throw core::InvalidArgument(
        "a time limit was given for a group on some of its ranks and none on others; give all one, or none");
  if (auto* backend = dynamic_cast<MpiBackend*>(&group.backend())) backend->set_time_limit(seconds);
}

double time_limit(const Communicator& group) noexcept {
  const auto* backend = dynamic_cast<const MpiBackend*>(&group.backend());
  return backend == nullptr ? std::numeric_limits<double>::infinity() : backend->time_limit();
}

Communicator world() {
  // Made once in a process: the second call must not be collective again.
  static const std::shared_ptr<detail::Backend> all = []() -> std::shared_ptr<detail::Backend> {
    start_mpi();
    const std::shared_ptr<MpiBackend> world = duplicate(MPI_COMM_WORLD);
    detail::note_processes(world->processes());
    check_vector_lengths(Communicator(world));
    return world;
  }();
  return Communicator(all);
}

Communicator from_fortran_handle(int handle) {
  if (!mpi_is_running())
    throw core::InvalidArgument("an MPI communicator was given while MPI is not running; start MPI first");
  return from_mpi(MPI_Comm_f2c(static_cast<MPI_Fint>(handle)));
}

bool gave_up_waiting() noexcept { return detail::given_up(); }

void abort_all(int status) {
  if (mpi_is_running()) MPI_Abort(MPI_COMM_WORLD, status);
  std::_Exit(status);
}

}  // namespace halocline::comm
