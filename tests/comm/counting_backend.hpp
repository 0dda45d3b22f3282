// SPDX-License-Identifier: Apache-2.0
#pragma once
// A group of processes that counts how often it makes this one wait for the others.

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/communicator.hpp"

#include <memory>
#include <utility>

namespace counting {

using namespace halocline::comm;

class CountingBackend final : public detail::Backend {
public:
  /// @param waits  counts blocking collectives of this group and of all that are split from it
  CountingBackend(Communicator group, std::shared_ptr<int> waits)
      : group_(std::move(group)), waits_(std::move(waits)) {}

  int rank() const noexcept override { return group_.rank(); }
  int size() const noexcept override { return group_.size(); }
  void barrier() override { counted().barrier(); }
  void broadcast(std::span<std::byte> bytes, int root) override { counted().broadcast(bytes, root); }
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    counted().all_gather(mine, all);
  }
  std::unique_ptr<detail::Pending> begin_all_gather(std::span<const std::byte> mine,
                                                    std::span<std::byte> all) override {
    return below().begin_all_gather(mine, all);
  }
  std::unique_ptr<detail::Pending> begin_swap(std::span<const std::byte> mine, std::span<std::byte> theirs, int partner,
                                              int tag) override {
    return below().begin_swap(mine, theirs, partner, tag);
  }
  std::unique_ptr<detail::Pending> begin_send(std::span<const std::byte> bytes, int to, int tag) override {
    return below().begin_send(bytes, to, tag);
  }
  std::unique_ptr<detail::Pending> begin_receive(std::span<std::byte> bytes, int from, int tag) override {
    return below().begin_receive(bytes, from, tag);
  }
  void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) override {
    counted().all_to_all(mine, all);
  }
  void sum(std::span<std::uint64_t> values) override { counted().sum(values); }
  void bit_xor(std::span<std::uint32_t> values) override { counted().bit_xor(values); }
  void send(std::span<const std::byte> bytes, int to, int tag) override { below().send(bytes, to, tag); }
  void receive(std::span<std::byte> bytes, int from, int tag) override { below().receive(bytes, from, tag); }
  std::unique_ptr<detail::SharedSegment> share(std::size_t bytes) override { return below().share(bytes); }
  int spins() const noexcept override { return below().spins(); }
  void idle() override { below().idle(); }
  void progress() override { below().progress(); }
  double now() const noexcept override { return below().now(); }
  bool alive(int rank) const noexcept override { return below().alive(rank); }
  void give_up() noexcept override { below().give_up(); }

protected:
  std::shared_ptr<Backend> part_of_colour(int colour, int key) override { return wrapped(group_.split(colour, key)); }
  std::shared_ptr<Backend> part_of_node() override { return wrapped(group_.split_by_node()); }

private:
  Backend& below() const noexcept { return group_.backend(); }
  Backend& counted() {
    ++*waits_;
    return below();
  }
  std::shared_ptr<Backend> wrapped(Communicator group) const {
    return std::make_shared<CountingBackend>(std::move(group), waits_);
  }

  Communicator group_;
  std::shared_ptr<int> waits_;
};

}  // namespace counting
