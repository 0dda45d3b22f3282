// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A group of processes that work together, as a value that is cheap to copy.
///
/// The same class stands for one process (`self()`), for all of them (`world()` in world.hpp), for an existing MPI
/// communicator (mpi.hpp) and for a part of any of these (`split`). Nothing here needs MPI.
///
/// Two promises hold for every kind of group. First, sums of doubles are added in rank order, on every rank. So a
/// result depends neither on timing nor on the library underneath, and all ranks hold the same bits. Second, an error
/// of one rank can be raised on all ranks: `raise_everywhere` is the collective for this, and no rank is left
/// waiting.
///
/// All members are collective over the group, in the same order on every rank, except self, rank, size, send, receive
/// and backend. Failures of the layer below are a core::Error that names the rank and the call.

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halocline::comm {

namespace detail {
class Backend;
class Pending;
}  // namespace detail

/// A sum that has begun; `wait()` finishes it. Movable. Destroying an unfinished one completes its communication and
/// leaves the values as they are.
class PendingSum {
public:
  PendingSum() noexcept;
  PendingSum(PendingSum&&) noexcept;
  PendingSum& operator=(PendingSum&&) noexcept;
  ~PendingSum();

  /// Afterwards the span given to `begin_sum` holds the sums. A second call does nothing.
  /// Collective: yes, as the completion of `begin_sum`.
  void wait();

private:
  friend class Communicator;
  std::span<double> values_;
  std::vector<double> mine_, all_;
  std::unique_ptr<detail::Pending> gather_;
};

/// A group of processes; copies share it.
class Communicator {
public:
  /// The group of this process alone. Collective: no.
  static Communicator self();

  /// For the functions that make groups (world.hpp, mpi.hpp).
  explicit Communicator(std::shared_ptr<detail::Backend> backend) noexcept : backend_(std::move(backend)) {}

  int rank() const noexcept;
  int size() const noexcept;

  void barrier() const;

  /// Copies the bytes of the root to all ranks. @param bytes  of the same length on every rank
  /// @throws InvalidArgument  on every rank, for a root that is no rank
  void broadcast(std::span<std::byte> bytes, int root) const;

  /// Replaces the values by their sums over the ranks, added in rank order: the same bits on every rank, every time.
  /// @param values  of the same length n on every rank
  /// Cost: each rank receives 8 n size() bytes while that is at most 64 KiB, or 64 MiB for n up to 512. Above that the
  /// ranks share the additions: each receives 16 n bytes, in size() messages. Both ways add in the same order.
  void sum(std::span<double> values) const;
  void sum(std::span<std::uint64_t> values) const;      ///< modulo 2^64
  void bit_xor(std::span<std::uint32_t> values) const;  ///< for checksums
  void min(std::span<double> values) const;             ///< a NaN anywhere gives a NaN
  void max(std::span<double> values) const;             ///< a NaN anywhere gives a NaN

  /// Meant for few values: each rank receives 8 n size() bytes for any n.
  PendingSum begin_sum(std::span<double> values) const;

  /// The bytes of all ranks one after another in rank order, at the root; empty elsewhere. Lengths may differ.
  std::vector<std::byte> gather(std::span<const std::byte> mine, int root) const;
  /// As gather, on every rank.
  std::vector<std::byte> allgather(std::span<const std::byte> mine) const;

  /// Sends block r of `mine` to rank r. Afterwards `all` holds the blocks that the ranks sent here, in rank order.
  /// @param mine, all  size() blocks of equal length, the same on every rank; not the same memory
  /// @throws InvalidArgument  on this rank, for lengths that differ or are no multiple of size()
  void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) const;

  bool any(bool mine) const;  ///< true when it is true on some rank
  bool all(bool mine) const;  ///< true when it is true on every rank

  /// Blocks until the bytes may be reused. A send to this rank itself never blocks.
  /// @throws InvalidArgument  for a rank outside the group or a tag outside 0 ... 32766. Collective: no.
  void send(std::span<const std::byte> bytes, int to, int tag) const;
  /// Blocks until a message of exactly this length has come.
  /// @throws core::Error  when the message is longer or shorter, and when a rank receives from itself before it has
  ///                      sent. Collective: no.
  void receive(std::span<std::byte> bytes, int from, int tag) const;

  /// A group of the ranks that give the same colour, ordered by key and then by rank in this group.
  /// @param colour  not negative
  Communicator split(int colour, int key) const;
  /// A group of the ranks that can share memory with this one, in the order of this group.
  Communicator split_by_node() const;

  /// For code that must reach the layer below (mpi.cpp).
  detail::Backend& backend() const noexcept { return *backend_; }

private:
  void fold(std::span<double> values, double (*combine)(double, double)) const;
  void check_rank(const char* what, int rank) const;

  std::shared_ptr<detail::Backend> backend_;
};

/// Returns when no rank failed. Otherwise throws one error on every rank: that of the lowest failing rank, with
/// preference for errors that a rank did not take over from another one.
/// @param failure  this rank's error, or nullptr. An InvalidArgument or FileError keeps its type on every rank; any
///                 other error becomes a core::Error. `rank()` of the thrown error is the rank that failed, and in a
///                 group of several ranks the sentence begins with it. A FileError begins with path and record
///                 instead, and has rank() -1.
/// Collective: yes.  Cost: one all-gather of 8 bytes; a broadcast more when there is an error.
void raise_everywhere(const Communicator& group, const std::exception* failure);

/// The same for a sentence: throws core::Error.
void raise_everywhere(const Communicator& group, const std::optional<std::string>& failure);

/// Runs `action()`, and raises an error that it throws on every rank, as `raise_everywhere` does.
/// @param action  does the same thing on every rank, and is not collective itself
template <class Action>
void on_every_rank(const Communicator& group, Action&& action) {
  std::exception_ptr caught;
  try {
    action();
  } catch (...) {
    caught = std::current_exception();
  }
  if (caught == nullptr) return raise_everywhere(group, static_cast<const std::exception*>(nullptr));
  try {
    std::rethrow_exception(caught);
  } catch (const std::exception& error) {
    raise_everywhere(group, &error);
  } catch (...) {
    raise_everywhere(group, std::optional<std::string>("an exception of unknown type"));
  }
}

}  // namespace halocline::comm
