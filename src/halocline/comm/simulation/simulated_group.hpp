// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Groups of simulated ranks.
///
/// All collectives work alike. Each rank lays down its bytes. When all ranks have done so (for a broadcast: the
/// root), each rank takes the bytes that it needs, after a delay of its own. The n-th collective of a group is the
/// n-th on every rank; ranks that call different collectives get an error. Sending never blocks.

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/simulation/simulator.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halocline::comm::detail {

/// The state that the ranks of a group share.
class SimulatedGroup {
public:
  using Manner = Simulator::Manner;

  /// @param members  ranks of the simulation, in the order of the group
  SimulatedGroup(std::shared_ptr<Simulator> simulator, std::vector<int> members);

  int size() const noexcept { return static_cast<int>(members_.size()); }
  Simulator& simulator() const noexcept { return *simulator_; }
  const std::shared_ptr<Simulator>& shared_simulator() const noexcept { return simulator_; }
  int member(int rank) const noexcept { return members_[static_cast<std::size_t>(rank)]; }
  bool given_up(int rank) const noexcept { return simulator_->given_up(member(rank)); }

  /// Lays down the bytes of a rank in its `index`-th collective.
  /// @param call   the name of the collective; @param root  its root, or -1; @param bytes  a length that must agree
  void lay_down(std::uint64_t index, int rank, const char* call, int root, std::size_t bytes,
                std::span<const std::byte> mine);
  /// True when the rank may take its bytes; never blocks.
  bool complete(std::uint64_t index, int rank);
  /// Blocks until the rank may take its bytes. @return false in an unwound simulation
  bool await(std::uint64_t index, int rank, Manner manner);
  std::span<const std::byte> laid_down(std::uint64_t index, int rank);
  /// An object of this collective that all ranks share, made by the first to ask.
  std::shared_ptr<void> object(std::uint64_t index, const std::function<std::shared_ptr<void>()>& make);
  /// The rank no longer needs the bytes.
  void leave(std::uint64_t index);

  void send(int from, int to, int tag, std::span<const std::byte> bytes);
  bool receivable(int from, int to, int tag);
  void receive(int from, int to, int tag, std::span<std::byte> bytes, Manner manner);

private:
  struct Collective {
    const char* call = nullptr;
    int root = -1;
    std::size_t bytes = 0;
    int first = -1;  ///< rank that came first
    int present = 0, left = 0;
    std::vector<std::vector<std::byte>> parts;  ///< by rank
    std::vector<char> here, waits;
    std::vector<double> when;  ///< by rank: when it may take its bytes, once all have laid theirs down
    std::shared_ptr<void> object;
  };
  struct Message {
    int from, to, tag;
    double when;
    std::vector<std::byte> bytes;
  };

  Collective& collective(std::uint64_t index);
  static bool all_here(const Collective& c) noexcept;
  std::size_t find(int from, int to, int tag) const noexcept;

  std::shared_ptr<Simulator> simulator_;
  std::vector<int> members_;
  std::uint64_t first_index_ = 0;
  std::vector<std::unique_ptr<Collective>> open_, spare_;  ///< from first_index_ on
  std::vector<Message> messages_;
  std::vector<std::vector<std::byte>> spare_bytes_;
};

/// One rank's view of a SimulatedGroup.
class SimulatedBackend final : public Backend {
public:
  SimulatedBackend(std::shared_ptr<SimulatedGroup> group, int rank) noexcept : group_(std::move(group)), rank_(rank) {}

  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return group_->size(); }
  void barrier() override;
  void broadcast(std::span<std::byte> bytes, int root) override;
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::unique_ptr<Pending> begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  std::unique_ptr<Pending> begin_swap(std::span<const std::byte> mine, std::span<std::byte> theirs, int partner,
                                      int tag) override;
  std::unique_ptr<Pending> begin_send(std::span<const std::byte> bytes, int to, int tag) override;
  std::unique_ptr<Pending> begin_receive(std::span<std::byte> bytes, int from, int tag) override;
  void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) override;
  void sum(std::span<std::uint64_t> values) override;
  void bit_xor(std::span<std::uint32_t> values) override;
  void send(std::span<const std::byte> bytes, int to, int tag) override;
  void receive(std::span<std::byte> bytes, int from, int tag) override;
  std::unique_ptr<SharedSegment> share(std::size_t bytes) override;

  int spins() const noexcept override { return 0; }
  void idle() override;
  double now() const noexcept override { return simulator().now(); }
  bool alive(int rank) const noexcept override { return simulator().alive(group_->member(rank)); }

  void give_up() noexcept override { simulator().give_up(member(rank_)); }

  Simulator& simulator() const noexcept { return group_->simulator(); }
  /// The number in the simulation of a rank of this group.
  int member(int rank) const noexcept { return group_->member(rank); }
  /// The object that make() returns, the same one on every rank. Collective.
  std::shared_ptr<void> agree(const std::function<std::shared_ptr<void>()>& make);

protected:
  std::shared_ptr<Backend> part_of_colour(int colour, int key) override;
  std::shared_ptr<Backend> part_of_node() override;

private:
  /// Lays down, waits, calls `take()` and leaves.
  template <class Take>
  void collective(const char* call, int root, std::size_t bytes, std::span<const std::byte> mine, Take&& take);

  std::shared_ptr<SimulatedGroup> group_;
  int rank_;
  std::uint64_t next_ = 0;  ///< index of the next collective
};

}  // namespace halocline::comm::detail
