// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Laws of the halo exchange, the same for every transport, with two buffers and with one.
///
/// What a rank sends is a function of (rank, face, message, place), so every receiver knows what must have come, on any
/// transport: "delivers what self delivers" is tested byte by byte without a second run. A law is a function of a group
/// and of a way to travel; all_laws() runs them all. Collective over the group.

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace halo_laws {

using namespace halocline;
using comm::Buffering;
using comm::Face;
using comm::FaceMask;
using comm::HaloExchange;
using comm::HaloOptions;
using comm::ProcessGrid;

/// A transport to be made anew for each exchange, and how to use it.
struct Way {
  std::string name;
  std::function<std::unique_ptr<comm::Transport>(const ProcessGrid&)> make;
  HaloOptions options{};
  int most_axes = 4;              ///< of the grids to try
  std::function<void()> pause{};  ///< something that lets time pass at random
};

inline Way named_way(const std::string& name, Buffering buffering = Buffering::two, bool checksum = false) {
  Way way{name, [name](const ProcessGrid& grid) { return comm::make_transport(name, grid); }};
  way.options.buffering = buffering;
  way.options.checksum = checksum;
  way.options.time_limit = 60.0;  // tests share cores
  return way;
}

/// Every transport that can serve all of these ranks on a grid, each with two buffers, one, and checksums.
/// Collective: yes.
inline std::vector<Way> usable_ways(const comm::Communicator& world) {
  const ProcessGrid grid(world, {world.size()});
  std::vector<Way> ways;
  for (const auto& transport : comm::available_transports()) {
    if (!comm::transport_unavailable_reason(transport.name, grid).empty()) continue;
    ways.push_back(named_way(transport.name));
    ways.push_back(named_way(transport.name, Buffering::one));
    ways.push_back(named_way(transport.name, Buffering::two, true));
  }
  return ways;
}

/// Eight bytes of a message, from byte 8 i; all its bits depend on all arguments.
inline std::uint64_t content(int rank, int face, std::uint64_t message, std::size_t i) {
  std::uint64_t h = message * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(rank) * 1000003u +
                    static_cast<std::uint64_t>(face) * 7919u + i * 0xd6e8feb86659fd93u;
  h = (h ^ h >> 29) * 0xbf58476d1ce4e5b9u;
  return (h ^ h >> 32) * 0x94d049bb133111ebu;
}

inline void write_content(std::span<std::byte> buffer, int rank, int face, std::uint64_t message) {
  for (std::size_t begin = 0; begin < buffer.size(); begin += 8) {
    const std::uint64_t word = content(rank, face, message, begin / 8);
    if (begin + 8 <= buffer.size()) {
      std::memcpy(&buffer[begin], &word, 8);
    } else {
      std::memcpy(&buffer[begin], &word, buffer.size() - begin);
    }
  }
}

/// How many of the words of eight bytes, the last of which may be shorter, are not those of this message.
inline std::uint64_t wrong_words(std::span<const std::byte> buffer, int rank, int face, std::uint64_t message) {
  std::uint64_t wrong = 0;
  for (std::size_t begin = 0; begin < buffer.size(); begin += 8) {
    const std::uint64_t word = content(rank, face, message, begin / 8);
    if (begin + 8 <= buffer.size()) {
      wrong += std::memcmp(&buffer[begin], &word, 8) != 0;
    } else {
      wrong += std::memcmp(&buffer[begin], &word, buffer.size() - begin) != 0;
    }
  }
  return wrong;
}

/// Every way to arrange the ranks in `ndim` axes.
inline void arrangements(int ranks, int ndim, std::vector<int> head, std::vector<std::vector<int>>& found) {
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

/// The other end of an exchange: packs, posts, waits and verifies, with pauses at random when asked.
struct Driver {
  Driver(const ProcessGrid& g, std::vector<std::size_t> bytes, const Way& way, bool pauses = false)
      : grid(g),
        exchange(g, bytes, way.make(g), way.options),
        posted(static_cast<std::size_t>(2 * g.ndim())),
        random(static_cast<unsigned>(17 + g.rank())),
        pause_somehow(way.pause),
        with_pauses(pauses) {}
  Driver(const Driver& other, std::vector<std::size_t> bytes)
      : grid(other.grid),
        exchange(other.exchange.sharing_buffers(bytes)),
        posted(other.posted),
        random(other.random),
        with_pauses(other.with_pauses) {}

  void pause() {
    if (!with_pauses) return;
    const unsigned draw = random() % 64;
    if (pause_somehow && draw < 16) return pause_somehow();
    if (draw == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    if (draw < 8) std::this_thread::yield();
  }

  std::uint64_t& count(Face face) { return posted[static_cast<std::size_t>(face.index())]; }

  void pack(int f) {
    const auto buffer = exchange.send_buffer(Face::from_index(f));
    write_content(buffer, grid.rank(), f, posted[static_cast<std::size_t>(f)]);
    if ((reinterpret_cast<std::uintptr_t>(buffer.data()) & 63u) != 0) ++wrong;
  }

  void pack_and_post(FaceMask faces) {
    for (int f = 0; f < 2 * grid.ndim(); ++f) {
      if ((faces >> f & 1u) != 0) pack(f);
    }
    pause();
    exchange.post(faces);
    for (int f = 0; f < 2 * grid.ndim(); ++f) posted[static_cast<std::size_t>(f)] += faces >> f & 1u;
  }

  void verify(Face face) {
    const Face from = face.opposite();  // the face it left through, over there
    const auto buffer = exchange.recv_buffer(face);
    const std::uint64_t message = count(from) - 1;
    const int sender = grid.neighbour(face);
    wrong += wrong_words(buffer, sender, from.index(), message);
    verified += buffer.size();
  }

  void wait_and_verify(Face face) {
    pause();
    exchange.wait(face);
    verify(face);
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
  std::function<void()> pause_somehow{};
  bool with_pauses;
  std::uint64_t wrong = 0, verified = 0;
};

inline std::vector<std::size_t> uneven(int ndim) {
  const std::vector<std::size_t> sizes{24, 1, 4099, 640, 64, 8};
  return {sizes.begin(), sizes.begin() + ndim};
}

inline void delivers_on_every_grid(const comm::Communicator& world, const Way& way) {
  for (int ndim = 1; ndim <= way.most_axes; ++ndim) {
    std::vector<std::vector<int>> grids;
    arrangements(world.size(), ndim, {}, grids);
    for (std::size_t g = 0; g < grids.size(); g += grids.size() > 40 ? 7 : 1) {
      CAPTURE(ndim);
      CAPTURE(g);
      Driver driver(ProcessGrid(world, grids[g]), uneven(ndim), way);
      for (int k = 0; k < 5; ++k) driver.step();
      CHECK(driver.wrong == 0);
      std::size_t bytes = 0;
      for (const std::size_t b : uneven(ndim)) bytes += 2 * b;
      CHECK(driver.verified == 5 * bytes);
    }
  }
}

inline void survives_pauses(const comm::Communicator& world, const Way& way) {
  const int steps = world.size() > 3 ? 150 : 500;  // eight ranks take turns on few cores
  const std::vector<int> dims = world.size() == 8 ? std::vector<int>{2, 4} : std::vector<int>{1, world.size()};
  Driver driver(ProcessGrid(world, dims), {72, 192}, way, true);
  for (int k = 0; k < steps; ++k) driver.step();
  CHECK(driver.wrong == 0);
  CHECK(driver.verified == static_cast<std::uint64_t>(steps) * 2 * (72 + 192));
  CHECK(driver.exchange.steps(Face{1, +1}) == static_cast<std::uint64_t>(steps));
}

inline void carries_large_messages(const comm::Communicator& world, const Way& way) {
  Driver driver(ProcessGrid(world, {world.size(), 1}), {300001, 8}, way, true);
  for (int k = 0; k < 7; ++k) driver.step();
  CHECK(driver.wrong == 0);
}

inline void leaves_out_faces_of_size_zero(const comm::Communicator& world, const Way& way) {
  const ProcessGrid grid(world, {1, world.size(), 1});
  Driver driver(grid, {0, 16, 0}, way);
  CHECK_FALSE(driver.exchange.active(Face{0, +1}));
  CHECK(driver.exchange.send_buffer(Face{2, -1}).empty());
  CHECK(driver.exchange.recv_buffer(Face{2, -1}).empty());
  for (int k = 0; k < 5; ++k) driver.step();
  driver.exchange.wait(Face{0, +1});  // nothing to wait for
  CHECK(driver.exchange.arrived(Face{0, +1}));
  CHECK(driver.wrong == 0);
  CHECK(driver.verified == 5 * 2 * 16);
  Driver empty(grid, {0, 0, 0}, way);
  for (int k = 0; k < 3; ++k) empty.step();
  CHECK(empty.verified == 0);
}

inline void ends_where_an_axis_ends(const comm::Communicator& world, const Way& way) {
  const ProcessGrid grid(world, {world.size(), 1}, {false, true});
  Driver driver(grid, {40, 8}, way, true);
  for (int k = 0; k < 50; ++k) driver.step();
  CHECK(driver.wrong == 0);
  const bool lowest = grid.rank() == 0, highest = grid.rank() == grid.size() - 1;
  CHECK(driver.exchange.active(Face{0, -1}) == !lowest);
  CHECK(driver.exchange.active(Face{0, +1}) == !highest);
  const unsigned ends = (lowest ? 0u : 1u) + (highest ? 0u : 1u);
  CHECK(driver.verified == 50u * (ends * 40u + 2u * 8u));
}

inline void keeps_every_byte_with_masks(const comm::Communicator& world, const Way& way) {
  Driver driver(ProcessGrid(world, {1, world.size()}), {32, 100}, way, true);
  comm::Reduction reduction(world);
  std::mt19937 common(5);  // all ranks post the same faces
  for (int k = 0; k < 200; ++k) {
    switch (common() % 5) {
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
    case 3: {  // a reduction in between
      double one = 1.0;
      reduction.sum(std::span(&one, 1));
      CHECK(one == world.size());
      break;
    }
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

inline void posts_faces_one_by_one(const comm::Communicator& world, const Way& way) {
  Driver driver(ProcessGrid(world, {world.size(), 1}), {64, 64}, way, true);
  for (int k = 0; k < 60; ++k) {
    if (way.options.buffering == Buffering::one) {
      for (int f = 0; f < 4; ++f) driver.pack(f);
    }
    for (int f = 0; f < 4; ++f) {
      if (way.options.buffering == Buffering::two) driver.pack(f);
      driver.exchange.post(Face::from_index(f));
      ++driver.posted[static_cast<std::size_t>(f)];
    }
    std::set<int> seen;
    while (const auto face = driver.exchange.wait_any()) {
      driver.verify(*face);
      seen.insert(face->index());
    }
    CHECK(seen.size() == 4);
    driver.exchange.wait_sent();
  }
  CHECK(driver.wrong == 0);
}

/// What has arrived may be read until its own face is posted again, whatever the opposite face does.
inline void keeps_what_arrived(const comm::Communicator& world, const Way& way) {
  if (way.options.buffering == Buffering::one) return;
  Driver driver(ProcessGrid(world, {world.size()}), {48}, way, true);
  const Face up{0, +1}, down{0, -1};
  for (int k = 0; k < 40; ++k) {
    driver.pack_and_post(comm::mask_of(down));  // arrives at the upper face
    driver.wait_and_verify(up);
    const auto kept = driver.exchange.recv_buffer(up);
    const std::vector<std::byte> copy(kept.begin(), kept.end());
    driver.pack_and_post(comm::mask_of(down));  // the next one for the same face
    CHECK(std::equal(copy.begin(), copy.end(), kept.begin()));
    CHECK(driver.exchange.recv_buffer(up).data() == kept.data());
    driver.wait_and_verify(up);
    driver.step(comm::mask_of(up));  // the way back
  }
  CHECK(driver.wrong == 0);
}

inline void keeps_exchanges_apart(const comm::Communicator& world, const Way& way) {
  const ProcessGrid grid(world, {world.size()});
  Driver first(grid, {8}, way), second(grid, {808}, way);
  for (int k = 0; k < 20; ++k) {
    first.pack_and_post(comm::all_faces);
    second.step();
    first.wait_and_verify({0, -1});
    first.wait_and_verify({0, +1});
  }
  CHECK(first.wrong + second.wrong == 0);
}

inline void shares_buffers(const comm::Communicator& world, const Way& way) {
  const ProcessGrid grid(world, {world.size(), 1});
  Driver large(grid, {5000, 72}, way, true);
  Driver small(large, {136, 0}), odd(large, {3, 71});
  std::mt19937 common(11);
  for (int k = 0; k < 120; ++k) {
    Driver& driver = common() % 3 == 0 ? large : common() % 2 == 0 ? small : odd;
    for (Driver* other : {&large, &small, &odd}) {
      for (int f = 0; f < 4; ++f) {
        other->posted[static_cast<std::size_t>(f)] = driver.exchange.steps(Face::from_index(f));
      }
    }
    const FaceMask faces = common() % 4 == 0 ? comm::mask_of({0, +1}) | comm::mask_of({0, -1}) : comm::all_faces;
    driver.step(faces);
  }
  CHECK(large.wrong + small.wrong + odd.wrong == 0);
  CHECK(large.verified > 0);
  CHECK(small.verified > 0);
  CHECK(odd.verified > 0);
  const std::vector<std::size_t> longer{5001, 8};
  CHECK_THROWS_AS(static_cast<void>(large.exchange.sharing_buffers(longer)), core::InvalidArgument);
  large.exchange.post();
  CHECK_THROWS_AS(small.exchange.wait({0, +1}), core::InvalidArgument);  // it is not its message
  large.exchange.wait_all();
}

inline void refuses_a_third_message_one_way(const comm::Communicator& world, const Way& way) {
  if (way.options.buffering == Buffering::one) return;  // which waits for the acknowledgement instead
  Driver driver(ProcessGrid(world, {world.size()}), {16}, way);
  const FaceMask up = comm::mask_of({0, +1});
  driver.step(up);
  driver.step(up);
  CHECK_THROWS_AS(driver.exchange.post(up), core::InvalidArgument);
  CHECK_THROWS_AS(static_cast<void>(driver.exchange.send_buffer({0, +1})), core::InvalidArgument);
  driver.step(comm::mask_of({0, -1}));  // the refused post changed nothing
  driver.step(up);
  CHECK(driver.wrong == 0);
}

inline void goes_one_way_with_one_buffer(const comm::Communicator& world, const Way& way) {
  if (way.options.buffering == Buffering::two) return;
  Driver driver(ProcessGrid(world, {world.size()}), {160}, way, true);
  for (int k = 0; k < 30; ++k) {
    driver.step(comm::mask_of({0, +1}));
    driver.exchange.release();
  }
  CHECK(driver.wrong == 0);
}

inline void refuses_misuse(const comm::Communicator& world, const Way& way) {
  Driver driver(ProcessGrid(world, {world.size()}), {16}, way);
  CHECK_THROWS_AS(driver.exchange.wait({0, 1}), core::InvalidArgument);
  driver.step();
  CHECK_THROWS_AS(driver.exchange.wait({0, 1}), core::InvalidArgument);
  CHECK_FALSE(driver.exchange.wait_any().has_value());
  driver.pack_and_post(comm::all_faces);
  CHECK_THROWS_AS(driver.exchange.post(), core::InvalidArgument);
  driver.exchange.wait_all();
  CHECK_THROWS_AS(driver.exchange.wait({3, 1}), core::InvalidArgument);
  CHECK_THROWS_AS(driver.exchange.post(Face{0, 0}), core::InvalidArgument);
  CHECK_THROWS_AS(driver.exchange.set_time_limit(0.0), core::InvalidArgument);
}

inline void refuses_sizes_that_differ(const comm::Communicator& world, const Way& way) {
  const ProcessGrid grid(world, {world.size()});
  const std::vector<std::size_t> wrong_length{1, 2}, bytes{16};
  CHECK_THROWS_AS(HaloExchange(grid, wrong_length, way.make(grid), way.options), core::InvalidArgument);
  CHECK_THROWS_AS(HaloExchange(grid, bytes, std::unique_ptr<comm::Transport>(), way.options), core::InvalidArgument);
  HaloOptions other = way.options;
  other.time_limit = -1.0;
  CHECK_THROWS_AS(HaloExchange(grid, bytes, way.make(grid), other), core::InvalidArgument);
  if (world.size() == 1) return;
  const bool last = world.rank() == world.size() - 1;
  const std::vector<std::size_t> mine{last ? std::size_t{24} : std::size_t{16}};
  CHECK_THROWS_AS(HaloExchange(grid, mine, way.make(grid), way.options), core::InvalidArgument);
  other = way.options;
  other.checksum = last != way.options.checksum;
  CHECK_THROWS_AS(HaloExchange(grid, bytes, way.make(grid), other), core::InvalidArgument);
}

/// Rank 0 goes on while the others are late.
inline void names_a_stalled_neighbour(const comm::Communicator& world, const Way& way) {
  if (world.size() == 1) return;  // one process cannot be behind itself
  for (const std::size_t size : {std::size_t{16}, std::size_t{200000}}) {
    Driver driver(ProcessGrid(world, {world.size()}), {size}, way);
    driver.step();
    driver.exchange.release();
    world.barrier();
    driver.exchange.set_time_limit(0.2);
    if (world.rank() == 0) {
      driver.pack_and_post(comm::all_faces);
      std::string sentence;
      try {
        driver.exchange.wait({0, +1});
      } catch (const core::Error& error) {
        sentence = error.what();
      }
      const std::string transport(driver.exchange.transport().name());
      for (const std::string& part : {std::string("rank 0"), std::string("face +x"), std::string("step 1"), transport,
                                      std::string("rank 1"), std::string("0.2 s")}) {
        CAPTURE(sentence);
        CAPTURE(part);
        CHECK(sentence.find(part) != std::string::npos);
      }
      CHECK_THROWS_AS(driver.exchange.wait({0, +1}), core::Error);
      CHECK_THROWS_AS(driver.exchange.post(), core::Error);
      CHECK_THROWS_AS(static_cast<void>(driver.exchange.send_buffer({0, +1})), core::Error);
    }
    world.barrier();
  }
}

inline void all_laws(const comm::Communicator& world, const Way& way) {
  INFO("transport " << way.name << ", buffers " << static_cast<int>(way.options.buffering) << ", checksum "
                    << way.options.checksum << ", ranks " << world.size());
  delivers_on_every_grid(world, way);
  survives_pauses(world, way);
  carries_large_messages(world, way);
  leaves_out_faces_of_size_zero(world, way);
  ends_where_an_axis_ends(world, way);
  keeps_every_byte_with_masks(world, way);
  posts_faces_one_by_one(world, way);
  keeps_what_arrived(world, way);
  keeps_exchanges_apart(world, way);
  shares_buffers(world, way);
  refuses_a_third_message_one_way(world, way);
  goes_one_way_with_one_buffer(world, way);
  refuses_misuse(world, way);
  refuses_sizes_that_differ(world, way);
  names_a_stalled_neighbour(world, way);
}

}  // namespace halo_laws
