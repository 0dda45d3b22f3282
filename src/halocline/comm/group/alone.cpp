// SPDX-License-Identifier: Apache-2.0
/// @file
/// The group of one process: every collective is a copy or nothing.

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

namespace halocline::comm::detail {
namespace {

void copy(std::span<const std::byte> from, std::span<std::byte> to) {
  if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}

class Done final : public Pending {
public:
  void wait() override {}
  bool test() override { return true; }
  void abandon() noexcept override {}
};

class OwnMemory final : public SharedSegment {
public:
  explicit OwnMemory(std::size_t bytes) : pages_((bytes + page - 1) / page + 1) {
    void* begin = pages_.data();
    std::size_t space = pages_.size() * page;
    begin_ = static_cast<std::byte*>(std::align(page, space - page, begin, space));
  }
  std::byte* part(int) const noexcept override { return begin_; }

private:
  static constexpr std::size_t page = 4096;
  std::vector<std::array<std::byte, page>> pages_;  // zero at first
  std::byte* begin_;
};

class Alone final : public Backend {
public:
  int rank() const noexcept override { return 0; }
  int size() const noexcept override { return 1; }
  void barrier() override {}
  void broadcast(std::span<std::byte>, int) override {}
  void all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override { copy(mine, all); }
  std::unique_ptr<Pending> begin_all_gather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    copy(mine, all);
    return std::make_unique<Done>();
  }
  std::unique_ptr<Pending> begin_swap(std::span<const std::byte>, std::span<std::byte>, int partner, int) override {
    no_such_rank(partner);
  }
  std::unique_ptr<Pending> begin_send(std::span<const std::byte>, int to, int) override { no_such_rank(to); }
  std::unique_ptr<Pending> begin_receive(std::span<std::byte>, int from, int) override { no_such_rank(from); }
  void all_to_all(std::span<const std::byte> mine, std::span<std::byte> all) override { copy(mine, all); }
  void sum(std::span<std::uint64_t>) override {}
  void bit_xor(std::span<std::uint32_t>) override {}
  void send(std::span<const std::byte>, int to, int) override { no_such_rank(to); }
  void receive(std::span<std::byte>, int from, int) override { no_such_rank(from); }
  std::unique_ptr<SharedSegment> share(std::size_t bytes) override { return std::make_unique<OwnMemory>(bytes); }

  int spins() const noexcept override { return 4000; }
  void idle() override { std::this_thread::yield(); }
  double now() const noexcept override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  }
  bool alive(int) const noexcept override { return true; }
  void give_up() noexcept override {}

protected:
  std::shared_ptr<Backend> part_of_colour(int, int) override { return std::make_shared<Alone>(); }
  std::shared_ptr<Backend> part_of_node() override { return std::make_shared<Alone>(); }

private:
  [[noreturn]] static void no_such_rank(int rank) {
    throw core::InvalidArgument("rank " + std::to_string(rank) + " is not in a group of one process");
  }
};

}  // namespace

std::shared_ptr<Backend> make_alone() { return std::make_shared<Alone>(); }

}  // namespace halocline::comm::detail
