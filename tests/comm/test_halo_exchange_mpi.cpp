// SPDX-License-Identifier: Apache-2.0
/// @file
/// Laws of the halo exchange, the same for every transport that is usable with the grid at hand.
///
/// What a rank sends is a function of (rank, face, step, byte), so every receiver knows what must have come, on any
/// transport: "delivers what self delivers" is tested byte by byte without a second run.

#include "halocline/comm/halo_exchange.hpp"

#include "halocline/comm/world.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

using namespace halocline;
using comm::Face;
using comm::FaceMask;
using comm::HaloExchange;
using comm::ProcessGrid;

namespace {

std::byte content(int rank, int face, std::uint64_t message, std::size_t i) {
  std::uint64_t h = message * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank) * 1000003u +
                    static_cast<std::uint64_t>(face) * 7919u + i * 0xd6e8feb86659fd93u;
  h ^= h >> 29;
  return static_cast<std::byte>((h * 0xbf58476d1ce4e5b9u) >> 56);
}

/// Every way to arrange the ranks in `ndim` axes.
void arrangements(int ranks, int ndim, std::vector<int> head, std::vector<std::vector<int>>& found) {
  if (ndim == 1) {
    head.push_back(ranks);
    found.push_back(head);
    return;
  }
  for (int d = 1; d <= ranks; ++d) {
    if (ranks % d != 0) continue;
    std::vector<int> next = head;
    next.push_back(d);
    arrangements(ranks / d, ndim - 1, next, found);
  }
}

std::vector<std::string> usable(const ProcessGrid& grid) {
  std::vector<std::string> names;
  for (const auto& transport : comm::available_transports()) {
    if (!transport.available || (transport.name == "self" && grid.size() > 1)) continue;
    names.push_back(transport.name);
  }
  return names;
}

/// The other end of an exchange: packs, posts, waits and verifies, with pauses at random when asked.
struct Driver {
  Driver(const ProcessGrid& g, std::vector<std::size_t> bytes, const std::string& transport, bool pauses = false)
      : grid(g),
        exchange(g, bytes, comm::make_transport(transport, g)),
        posted(static_cast<std::size_t>(2 * g.ndim())),
        random(static_cast<unsigned>(17 + g.rank())),
        with_pauses(pauses) {
    exchange.set_time_limit(30.0);
  }

  void pause() {
    if (!with_pauses) return;
    const unsigned draw = random() % 64;
    if (draw == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    if (draw < 8) std::this_thread::yield();
  }

  std::uint64_t& count(Face face) { return posted[static_cast<std::size_t>(face.index())]; }

  void pack_and_post(FaceMask faces) {
    for (int f = 0; f < 2 * grid.ndim(); ++f) {
      if ((faces >> f & 1u) == 0) continue;
      const auto buffer = exchange.send_buffer(Face::from_index(f));
      for (std::size_t i = 0; i < buffer.size(); ++i) {
        buffer[i] = content(grid.rank(), f, posted[static_cast<std::size_t>(f)], i);
      }
      if ((reinterpret_cast<std::uintptr_t>(buffer.data()) & 63u) != 0) ++wrong;
    }
    pause();
    exchange.post(faces);
    for (int f = 0; f < 2 * grid.ndim(); ++f) posted[static_cast<std::size_t>(f)] += faces >> f & 1u;
  }

  void wait_and_verify(Face face) {
    pause();
    exchange.wait(face);
    const Face from = face.opposite();  // the face it left through, over there
    const auto buffer = exchange.recv_buffer(face);
    const std::uint64_t message = count(from) - 1;
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      if (buffer[i] != content(grid.neighbour(face), from.index(), message, i)) ++wrong;
    }
    verified += buffer.size();
  }

  void step(FaceMask faces = comm::all_faces) {
    pack_and_post(faces);
    // Upper faces first, so that waiting is not in the order of posting.
    for (int f = 2 * grid.ndim() - 1; f >= 0; --f) {
      if ((faces >> (f ^ 1) & 1u) != 0) wait_and_verify(Face::from_index(f));
    }
  }

  ProcessGrid grid;
  HaloExchange exchange;
  std::vector<std::uint64_t> posted;
  std::mt19937 random;
  bool with_pauses;
  std::uint64_t wrong = 0, verified = 0;
};

std::vector<std::size_t> uneven(int ndim) {
  const std::vector<std::size_t> sizes{24, 1, 4099, 640};
  return {sizes.begin(), sizes.begin() + ndim};
}

}  // namespace

TEST_CASE("halo: every transport delivers what self delivers, on every grid of one to four axes") {
  const comm::Communicator world = comm::world();
  for (int ndim = 1; ndim <= 4; ++ndim) {
    std::vector<std::vector<int>> grids;
    arrangements(world.size(), ndim, {}, grids);
    for (const auto& dims : grids) {
      const ProcessGrid grid(world, dims);
      for (const std::string& name : usable(grid)) {
        CAPTURE(name);
        CAPTURE(ndim);
        Driver driver(grid, uneven(ndim), name);
        for (int k = 0; k < 7; ++k) driver.step();
        CHECK(driver.wrong == 0);
        std::size_t bytes = 0;
        for (const std::size_t b : uneven(ndim)) bytes += 2 * b;
        CHECK(driver.verified == 7 * bytes);
      }
    }
  }
}

TEST_CASE("halo: three thousand steps with pauses at random keep every byte") {
  const comm::Communicator world = comm::world();
  const std::vector<int> dims = world.size() == 8 ? std::vector<int>{2, 4} : std::vector<int>{1, world.size()};
  const ProcessGrid grid(world, dims);
  for (const std::string& name : usable(grid)) {
    CAPTURE(name);
    const std::vector<std::size_t> bytes{72, 192};
    Driver driver(grid, bytes, name, true);
    for (int k = 0; k < 3000; ++k) driver.step();
    CHECK(driver.wrong == 0);
    CHECK(driver.verified == 3000u * 2 * (72 + 192));
    CHECK(driver.exchange.steps(Face{1, +1}) == 3000);
  }
}

TEST_CASE("halo: large messages, beyond what the network takes at once") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size(), 1});
  for (const std::string& name : usable(grid)) {
    CAPTURE(name);
    const std::vector<std::size_t> bytes{300001, 8};
    Driver driver(grid, bytes, name, true);
    for (int k = 0; k < 12; ++k) driver.step();
    CHECK(driver.wrong == 0);
  }
}

TEST_CASE("halo: faces of size zero are left out") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {1, world.size(), 1});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> bytes{0, 16, 0};
    Driver driver(grid, bytes, name);
    CHECK_FALSE(driver.exchange.active(Face{0, +1}));
    CHECK(driver.exchange.send_buffer(Face{2, -1}).empty());
    CHECK(driver.exchange.recv_buffer(Face{2, -1}).empty());
    for (int k = 0; k < 5; ++k) driver.step();
    driver.exchange.wait(Face{0, +1});  // nothing to wait for
    CHECK(driver.wrong == 0);
    CHECK(driver.verified == 5 * 2 * 16);
    const std::vector<std::size_t> nothing{0, 0, 0};
    Driver empty(grid, nothing, name);
    for (int k = 0; k < 3; ++k) empty.step();
    CHECK(empty.verified == 0);
  }
}

TEST_CASE("halo: an axis that ends has no neighbour there") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size(), 1}, {false, true});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> bytes{40, 8};
    Driver driver(grid, bytes, name, true);
    for (int k = 0; k < 50; ++k) driver.step();
    CHECK(driver.wrong == 0);
    const bool lowest = grid.rank() == 0, highest = grid.rank() == grid.size() - 1;
    CHECK(driver.exchange.active(Face{0, -1}) == !lowest);
    CHECK(driver.exchange.active(Face{0, +1}) == !highest);
    const unsigned ends = (lowest ? 0u : 1u) + (highest ? 0u : 1u);
    CHECK(driver.verified == 50u * (ends * 40u + 2u * 8u));
  }
}

TEST_CASE("halo: masks, one-way faces and odd counts keep every byte") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {1, world.size()});
  for (const std::string& name : usable(grid)) {
    CAPTURE(name);
    const std::vector<std::size_t> bytes{32, 100};
    Driver driver(grid, bytes, name, true);
    std::mt19937 common(5);  // all ranks post the same faces
    for (int k = 0; k < 400; ++k) {
      switch (common() % 4) {
      case 0:
        driver.step();
        break;
      case 1:
        driver.step(comm::mask_of({0, +1}) | comm::mask_of({0, -1}));
        break;
      case 2:  // one way, then the other
        driver.step(comm::mask_of({1, +1}));
        driver.step(comm::mask_of({1, -1}));
        break;
      default:  // twice one way, then back
        driver.step();
        driver.step(comm::mask_of({1, -1}));
        driver.step(comm::mask_of({1, +1}));
        break;
      }
    }
    CHECK(driver.wrong == 0);
    CHECK(driver.verified > 0);
  }
}

TEST_CASE("halo: faces of one step may be posted one by one") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size(), 1});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> bytes{64, 64};
    Driver driver(grid, bytes, name, true);
    for (int k = 0; k < 60; ++k) {
      for (int f = 0; f < 4; ++f) driver.pack_and_post(FaceMask{1} << f);
      for (int f = 0; f < 4; ++f) driver.wait_and_verify(Face::from_index(f));
    }
    CHECK(driver.wrong == 0);
  }
}

TEST_CASE("halo: several exchanges on one grid do not meet") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> small{8}, large{808};
    Driver first(grid, small, name), second(grid, large, name);
    for (int k = 0; k < 20; ++k) {
      first.pack_and_post(comm::all_faces);
      second.step();
      first.wait_and_verify({0, -1});
      first.wait_and_verify({0, +1});
    }
    CHECK(first.wrong + second.wrong == 0);
  }
}

TEST_CASE("halo: a third message one way with nothing come back is refused") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> bytes{16};
    Driver driver(grid, bytes, name);
    const FaceMask up = comm::mask_of({0, +1});
    driver.step(up);
    driver.step(up);
    CHECK_THROWS_AS(driver.exchange.post(up), core::InvalidArgument);
    driver.step(comm::mask_of({0, -1}));  // the refused post changed nothing
    driver.step(up);
    CHECK(driver.wrong == 0);
  }
}

TEST_CASE("halo: waiting twice, for nothing, or posting before waiting is refused") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> bytes{16};
    Driver driver(grid, bytes, name);
    CHECK_THROWS_AS(driver.exchange.wait({0, 1}), core::InvalidArgument);
    driver.step();
    CHECK_THROWS_AS(driver.exchange.wait({0, 1}), core::InvalidArgument);
    driver.pack_and_post(comm::all_faces);
    CHECK_THROWS_AS(driver.exchange.post(), core::InvalidArgument);
    driver.exchange.wait_all();
    CHECK_THROWS_AS(driver.exchange.wait({3, 1}), core::InvalidArgument);
    CHECK_THROWS_AS(driver.exchange.set_time_limit(0.0), core::InvalidArgument);
  }
}

TEST_CASE("halo: a stalled neighbour is an error that names rank, face, step and transport") {
  const comm::Communicator world = comm::world();
  if (world.size() == 1) return;  // one process cannot be behind itself
  const ProcessGrid grid(world, {world.size()});
  for (const std::string& name : usable(grid)) {
    for (const std::size_t size : {std::size_t{16}, std::size_t{200000}}) {
      const std::vector<std::size_t> bytes{size};
      Driver driver(grid, bytes, name);
      driver.step();
      driver.exchange.set_time_limit(0.2);
      if (world.rank() == 0) {
        driver.pack_and_post(comm::all_faces);
        std::string sentence;
        try {
          driver.exchange.wait({0, +1});
        } catch (const core::Error& error) {
          sentence = error.what();
        }
        for (const char* part : {"rank 0", "face +x", "step 1", "mpi_persistent", "rank 1", "0.2"}) {
          CAPTURE(sentence);
          CAPTURE(part);
          CHECK(sentence.find(part) != std::string::npos);
        }
        CHECK_THROWS_AS(driver.exchange.wait({0, +1}), core::Error);
        CHECK_THROWS_AS(driver.exchange.post(), core::Error);
      }
      world.barrier();
    }
  }
}

TEST_CASE("halo: sizes that differ between neighbours are refused on every rank") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  for (const std::string& name : usable(grid)) {
    const std::vector<std::size_t> wrong_length{1, 2};
    CHECK_THROWS_AS(HaloExchange(grid, wrong_length, comm::make_transport(name, grid)), core::InvalidArgument);
    const std::vector<std::size_t> bytes{16};
    CHECK_THROWS_AS(HaloExchange(grid, bytes, nullptr), core::InvalidArgument);
    if (world.size() == 1) continue;
    const std::vector<std::size_t> mine{world.rank() == world.size() - 1 ? std::size_t{24} : std::size_t{16}};
    CHECK_THROWS_AS(HaloExchange(grid, mine, comm::make_transport(name, grid)), core::InvalidArgument);
  }
}

TEST_CASE("halo: a transport that cannot serve is refused with those that can") {
  const comm::Communicator world = comm::world();
  const ProcessGrid grid(world, {world.size()});
  const auto sentence = [&](const char* name) -> std::string {
    try {
      static_cast<void>(comm::make_transport(name, grid));
      return "";
    } catch (const core::InvalidArgument& error) {
      return error.what();
    }
  };
  CHECK(sentence("pigeon").find(std::string(comm::default_transport(grid))) != std::string::npos);
  CHECK((sentence("self").find("one process") != std::string::npos) == (world.size() > 1));
  CHECK(sentence(std::string(comm::default_transport(grid)).c_str()).empty());
}
