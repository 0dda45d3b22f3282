// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The operations that a Communicator needs from a group of processes.
///
/// All operations work on bytes, or on integers whose sum does not depend on the order. Floating-point reductions are
/// left out on purpose: Communicator builds them from `all_gather`, so that every back end adds in the same order.
///
/// Polling needs three more things: memory shared inside a node, a clock, and a way to be idle. The group of a
/// simulation (simulation.hpp) has a clock of its own, and is idle by letting another rank run.

#include "halocline/comm/group/solver_communication.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace halocline::comm::detail {

/// A communication that has begun. Destroying it completes it, unless the group was given up.
class Pending {
public:
  Pending() = default;
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;
  virtual ~Pending() = default;
  /// Blocks until the bytes are in place. May be called again.
  virtual void wait() = 0;
  /// The bytes are in place. Makes progress; never blocks.
  virtual bool test() = 0;
  /// Gives the communication up, because the other ranks may never come: the destructor then does not wait. Both
  /// spans may still be read and written at any time until the process ends, so their owner must never free them.
  virtual void abandon() noexcept = 0;
};

/// Sums by the library below, in an order of its own choice. MPI promises that all ranks receive identical results. A
/// machine with a barrier or a reduction network may add in hardware here. One sum at a time; all members but test and
/// abandon are collective.
class LibrarySum {
public:
  LibrarySum() = default;
  LibrarySum(const LibrarySum&) = delete;
  LibrarySum& operator=(const LibrarySum&) = delete;
  virtual ~LibrarySum() = default;
  /// Replaces the values by their sums. Blocks inside the library, for as long as that takes.
  virtual void sum(std::span<double> values) = 0;
  /// The same in steps. begin() copies the values; once test() is true, result() has the sums.
  virtual void begin(std::span<const double> values) = 0;
  virtual bool test() = 0;
  virtual std::span<const double> result() const noexcept = 0;
  /// Leaves a sum under way to the library, which may still write its buffers. Only destruction is allowed afterwards.
  virtual void abandon() noexcept = 0;
};

/// Memory of several processes of one node. Each process has a part, and all of them can address every part.
///
/// Freeing is not collective: memory that one process unmaps stays mapped in the others.
class SharedSegment {
public:
  SharedSegment() = default;
  SharedSegment(const SharedSegment&) = delete;
  SharedSegment& operator=(const SharedSegment&) = delete;
  virtual ~SharedSegment() = default;
  /// Where the part of a rank begins in this process: 4096-byte aligned, zero at first.
  virtual std::byte* part(int rank) const noexcept = 0;
};

/// The time limit while a solve is under way (time_limit.hpp). A group shares it with all groups that are split off
/// it. Each process has its own; set_solve_time_limit() sets it on all ranks.
struct SolveLimit {
  double seconds = 300.0;
  int solves = 0;  ///< solves under way
};

/// A group of processes. Sizes of the spans agree on all ranks unless a line says otherwise.
class Backend {
public:
  Backend() = default;
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  virtual ~Backend() = default;

  virtual int rank() const noexcept = 0;
  virtual int size() const noexcept = 0;
  virtual void barrier() = 0;
  virtual void broadcast(std::span<std::byte> bytes, int root) = 0;
  /// `all` holds size() times mine.size() bytes, in rank order.
  virtual void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual std::unique_ptr<Pending> begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  /// Sends `mine` to another rank and receives `theirs` from it. The partner does the same with the same tag.
  /// @param tag  0 to 32766, not the tag of a send or receive that is under way between the two
  virtual std::unique_ptr<Pending> begin_swap(std::span<const std::byte> mine, std::span<std::byte> theirs, int partner,
                                              int tag) = 0;
  /// As send and receive, without waiting. Both spans must stay valid, and the sent one unchanged, until it is
  /// complete.
  virtual std::unique_ptr<Pending> begin_send(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual std::unique_ptr<Pending> begin_receive(std::span<std::byte> bytes, int from, int tag) = 0;
  /// Rank r gets block r of every rank's `mine`, in rank order. Both spans hold size() blocks of equal length.
  virtual void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) = 0;
  virtual void sum(std::span<std::uint64_t> values) = 0;
  virtual void bit_xor(std::span<std::uint32_t> values) = 0;
  /// To another rank; messages between the same two ranks with the same tag keep their order.
  virtual void send(std::span<const std::byte> bytes, int to, int tag) = 0;
  virtual void receive(std::span<std::byte> bytes, int from, int tag) = 0;
  /// The ranks that gave the same colour, in order of `key`. Collective.
  std::shared_ptr<Backend> split(int colour, int key) { return in_family(part_of_colour(colour, key)); }
  /// The ranks that can share memory with this one, in rank order. Collective.
  std::shared_ptr<Backend> split_by_node() { return in_family(part_of_node()); }
  /// Memory that all ranks of this group can address. Collective.
  /// @param bytes  the part of this rank; may differ between ranks
  /// @throws core::Error  when the ranks are not on one node, or there is not enough memory; on every rank
  virtual std::unique_ptr<SharedSegment> share(std::size_t bytes) = 0;

  /// Sums by the library below; nullptr for a group that stands on none. Collective.
  /// @param longest  values in one sum
  virtual std::unique_ptr<LibrarySum> library_sum(std::size_t /*longest*/) { return nullptr; }

  /// How often to poll before idle(): many times when every rank of the node has a core of its own, else few times.
  virtual int spins() const noexcept = 0;
  /// Yields the core.
  virtual void idle() = 0;
  /// Drives messages of this process that need calls of this process. A wait that only polls memory would stop them,
  /// and with them the ranks that wait for them. Not to be called while another thread of the process may be
  /// communicating.
  virtual void progress() {}
  /// Seconds since some moment; the clock of time limits.
  virtual double now() const noexcept = 0;
  /// False when the process of this rank is known to have ended. Cheap enough to ask every few milliseconds.
  virtual bool alive(int rank) const noexcept = 0;

  /// A rank has ended or stalls, so a collective may never return. From now on this process does nothing collective
  /// by itself. It does not free groups. It abandons pending communications instead of completing them. At its end it
  /// shuts the layer below down only if all ranks come there within seconds. Holds for all groups of this process.
  /// Collective: no.
  virtual void give_up() noexcept = 0;

  /// Shared with the group that this one was split off from, and with all groups split off this one.
  const std::shared_ptr<SolveLimit>& solve_limit() const noexcept { return solve_limit_; }
  const std::shared_ptr<SolverCommunication>& solver_communication() const noexcept { return solver_communication_; }

  /// Messages of a rank to itself wait here, by tag, so that sending before receiving never blocks.
  std::map<int, std::deque<std::vector<std::byte>>>& mailbox() noexcept { return mailbox_; }

protected:
  /// The groups of split() and split_by_node(). Collective.
  virtual std::shared_ptr<Backend> part_of_colour(int colour, int key) = 0;
  virtual std::shared_ptr<Backend> part_of_node() = 0;

private:
  std::shared_ptr<Backend> in_family(std::shared_ptr<Backend> part) const noexcept {
    part->solve_limit_ = solve_limit_;
    part->solver_communication_ = solver_communication_;
    return part;
  }

  std::map<int, std::deque<std::vector<std::byte>>> mailbox_;
  std::shared_ptr<SolveLimit> solve_limit_ = std::make_shared<SolveLimit>();
  std::shared_ptr<SolverCommunication> solver_communication_ = std::make_shared<SolverCommunication>();
};

/// The group of this process alone.
std::shared_ptr<Backend> make_alone();

}  // namespace halocline::comm::detail
