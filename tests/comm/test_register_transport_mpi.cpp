// SPDX-License-Identifier: Apache-2.0
/// @file
/// A transport from outside of the library: registered by name, it is listed, chosen, tried by "auto", refused with its
/// reason and held to the laws like the others.

#include "comm/halo_laws.hpp"
#include "halocline/comm/exchange/transport_choice.hpp"
#include "halocline/comm/group/world.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

using namespace halo_laws;

namespace {

/// Counts what another transport carries. Serves exchanges of two buffers.
class Counting final : public comm::Transport {
public:
  static inline std::atomic<std::int64_t> messages{0};

  std::string_view name() const noexcept override { return "counting"; }
  void open(const ProcessGrid& grid, std::span<const std::size_t> capacity, int slots) override {
    inner_ = comm::make_transport(comm::default_transport(grid), grid);
    inner_->open(grid, capacity, slots);
  }
  std::byte* outbox(int face, int slot, std::size_t bytes) noexcept override {
    return inner_->outbox(face, slot, bytes);
  }
  const std::byte* inbox(int face, int slot, std::size_t bytes) const noexcept override {
    return inner_->inbox(face, slot, bytes);
  }
  void put(int face, int slot, std::size_t bytes, std::uint64_t flag) override {
    ++messages;
    inner_->put(face, slot, bytes, flag);
  }
  void dispatch() override { inner_->dispatch(); }
  std::uint64_t arrived_flag(int face, int slot, std::size_t bytes) override {
    return inner_->arrived_flag(face, slot, bytes);
  }
  void release(int face, int slot) override { inner_->release(face, slot); }
  bool sent(int face, int slot) override { return inner_->sent(face, slot); }
  void arrived(int face, int slot, std::size_t bytes) noexcept override { inner_->arrived(face, slot, bytes); }
  bool direct(int face) const noexcept override { return inner_->direct(face); }
  bool concurrent() const noexcept override { return inner_ && inner_->concurrent(); }
  std::string thread_unavailable_reason() const override { return inner_->thread_unavailable_reason(); }
  bool neighbour_gone(int face) override { return inner_->neighbour_gone(face); }
  void close() override { inner_->close(); }
  void abandon() noexcept override { inner_->abandon(); }

private:
  std::unique_ptr<comm::Transport> inner_;
};

comm::TransportKind counting() {
  return {"counting",
          [](const ProcessGrid* grid) {
            return std::string(grid != nullptr && grid->size() == 3 ? "counts no groups of three" : "");
          },
          [](const comm::TransportOptions&) { return std::make_unique<Counting>(); }};
}

void register_once() {
  static std::once_flag once;
  std::call_once(once, [] { comm::register_transport(counting()); });
}

}  // namespace

TEST_CASE("transports: one from outside is listed in its place and keeps the laws") {
  register_once();
  const comm::Communicator world = comm::world();
  const auto all = comm::available_transports();
  CHECK(std::ranges::is_sorted(all, {}, &comm::TransportInfo::name));
  CHECK(std::ranges::count(all, "counting", &comm::TransportInfo::name) == 1);
  const ProcessGrid grid(world, {world.size()});
  const std::vector<std::size_t> bytes(1, 4096);
  const auto choice = comm::choose_transport(grid, bytes, {}, 1e-3);
  const auto trial = std::ranges::find(choice.trials, "counting", &comm::TransportTrial::name);
  REQUIRE(trial != choice.trials.end());
  CHECK(trial->problem == (world.size() == 3 ? "counts no groups of three" : ""));
  CHECK((trial->seconds > 0) == (world.size() != 3));
  if (world.size() == 3) {
    CHECK_THROWS_WITH_AS(comm::make_transport("counting", grid), doctest::Contains("it counts no groups of three"),
                         core::InvalidArgument);
    return;
  }
  comm::HaloOptions one_buffer;
  one_buffer.buffering = comm::Buffering::one;
  CHECK_THROWS_WITH_AS(comm::HaloExchange(grid, bytes, "counting", one_buffer),
                       doctest::Contains("transport counting serves exchanges of two buffers, and one was asked for"),
                       core::InvalidArgument);
  const std::int64_t before = Counting::messages;
  all_laws(world, named_way("counting"));
  CHECK(Counting::messages > before);
}

TEST_CASE("transports: a name that is taken, empty or with a colon is refused") {
  register_once();
  for (const char* name : {"counting", "self", "", "hybrid:counting"}) {
    auto kind = counting();
    kind.name = name;
    CHECK_THROWS_AS(comm::register_transport(kind), core::InvalidArgument);
  }
  CHECK_THROWS_AS(comm::register_transport({"empty", {}, {}}), core::InvalidArgument);
}
