// SPDX-License-Identifier: Apache-2.0
/// @file
/// Messages in pieces.

#include "halocline/comm/transports/simulated/detail/simulated_network.hpp"

#include "halocline/comm/group/text.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace halocline::comm::detail {
namespace {

constexpr int released_pattern = 0xA5;

}  // namespace

void SimulatedNetwork::open(int rank, int member, std::span<const int> neighbours,
                            std::span<const std::size_t> capacity, int slots) {
  Part& p = part(rank);
  p.member = member;
  const auto length = [&](std::size_t face) {
    return neighbours[face] < 0 ? 0 : (capacity[face] + 63) / 64 * 64;  // of a box
  };
  std::size_t total = 0;
  for (std::size_t face = 0; face < capacity.size(); ++face)
    total += 3 * length(face) * static_cast<std::size_t>(slots);
  p.memory = core::AlignedArray<std::byte>(static_cast<std::int64_t>(total));
  std::byte* next = p.memory.data();
  for (std::size_t face = 0; face < capacity.size(); ++face) {
    Side& s = p.sides.emplace_back();
    s.neighbour = neighbours[face];
    s.boxes.resize(static_cast<std::size_t>(slots));
    if (length(face) == 0) continue;
    for (Box& b : s.boxes) {
      for (std::byte** place : {&b.out, &b.flying, &b.in}) {
        *place = next;
        next += length(face);
      }
    }
  }
}

void SimulatedNetwork::add(double delay, Kind kind, int rank, int face, int slot, std::uint64_t value) {
  const auto place = static_cast<std::uint64_t>(rank) << 16 | static_cast<std::uint64_t>(face) << 10 |
                     static_cast<std::uint64_t>(slot) << 2;
  simulator_.happen_at(simulator_.now() + delay, *this, place | kind, value);
  ++under_way_;
}

void SimulatedNetwork::put(int rank, int face, int slot, std::size_t bytes, std::uint64_t flag) {
  Box& from = box(rank, face, slot);
  Box& to = box(neighbour(rank, face), face ^ 1, slot);
  if (!to.released) {
    throw core::Error("rank " + std::to_string(rank) + " puts through face " + name(Face::from_index(face)) +
                          " into buffer " + std::to_string(slot) + " of rank " + std::to_string(neighbour(rank, face)) +
                          ", which has not released it",
                      rank);
  }
  to.released = false;
  ++simulator_.report.messages;
  const SimulationOptions& options = simulator_.options();
  from.bytes = bytes;
  from.flag = flag;
  from.unread = from.undelivered = (bytes + options.piece_bytes - 1) / options.piece_bytes;
  from.damaged = options.damage_probability > 0.0 && simulator_.uniform() < options.damage_probability;
  if (from.damaged) from.damaged_bit = simulator_.random_bits() % (8 * static_cast<std::uint64_t>(bytes));
  for (std::size_t piece = 0; piece < from.unread; ++piece) {
    add(0.5 * options.jitter * simulator_.uniform(), piece_leaves, rank, face, slot, piece);
  }
}

void SimulatedNetwork::release(int rank, int face, int slot) noexcept {
  Box& b = box(rank, face, slot);
  b.released = true;
  std::memset(b.in, released_pattern, b.readable);
}

void SimulatedNetwork::acknowledge(int rank, int face, std::uint64_t count) {
  add(simulator_.delay(sizeof(count)), acknowledgement, rank, face, 0, count);
}

int SimulatedNetwork::happen(std::uint64_t what, std::uint64_t value) {
  --under_way_;
  const int rank = static_cast<int>(what >> 16), face = static_cast<int>(what >> 10 & 63u),
            slot = static_cast<int>(what >> 2 & 255u);
  const int there = neighbour(rank, face);
  if ((what & 3u) == acknowledgement) {
    Side& s = side(there, face ^ 1);
    s.acknowledged = std::max(s.acknowledged, value);
    return part(there).member;
  }
  Box& from = box(rank, face, slot);
  Box& to = box(there, face ^ 1, slot);
  const std::size_t begin = value * simulator_.options().piece_bytes;
  const std::size_t length = std::min(from.bytes - std::min(begin, from.bytes), simulator_.options().piece_bytes);
  switch (what & 3u) {
  case piece_leaves:
    std::memcpy(from.flying + begin, from.out + begin, length);
    add(simulator_.delay(length), piece_arrives, rank, face, slot, value);
    return --from.unread == 0 ? part(rank).member : -1;
  case piece_arrives:
    std::memcpy(to.in + begin, from.flying + begin, length);
    if (--from.undelivered > 0) return -1;
    if (from.damaged) to.in[from.damaged_bit / 8] ^= static_cast<std::byte>(1u << from.damaged_bit % 8);
    to.readable = from.bytes;
    add(0.5 * simulator_.options().jitter * simulator_.uniform(), flag_arrives, rank, face, slot, from.flag);
    return -1;
  default:
    to.arrived = value;
    return part(there).member;
  }
}

}  // namespace halocline::comm::detail
