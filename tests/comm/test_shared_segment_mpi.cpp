// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/shared_segment.hpp"

#include "halocline/comm/group/communicator.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <unistd.h>
#include <vector>

using namespace halocline;
using comm::Communicator;
using comm::detail::map_shared_memory;

namespace {

std::byte mark(int writer, int owner, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(writer * 31 + owner * 7) + i * 13) % 251);
}

/// Names of segments in /dev/shm that were made by this process.
int names_left() {
  const std::string mine = "halocline-" + std::to_string(getpid()) + "-";
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm"))
    count += entry.path().filename().string().starts_with(mine);
  return count;
}

}  // namespace

TEST_CASE("shared segment: parts begin as zeros on pages of their own, and every rank sees every store") {
  const Communicator node = comm::world().split_by_node();
  const int n = node.size(), me = node.rank();
  const auto bytes_of = [](int rank) { return static_cast<std::size_t>(rank * 5000 + (rank % 2)); };
  const auto segment = map_shared_memory(node, bytes_of(me));
  int wrong = 0;
  for (int rank = 0; rank < n; ++rank) {
    const std::byte* part = segment->part(rank);
    CHECK(reinterpret_cast<std::uintptr_t>(part) % 4096 == 0);
    if (rank > 0) CHECK(part >= segment->part(rank - 1) + bytes_of(rank - 1));
    for (std::size_t i = 0; i < bytes_of(rank); ++i) wrong += part[i] != std::byte{0};
  }
  CHECK(wrong == 0);
  for (int writer = 0; writer < n; ++writer) {
    node.barrier();
    if (me == writer) {
      for (int owner = 0; owner < n; ++owner)
        for (std::size_t i = 0; i < bytes_of(owner); ++i) segment->part(owner)[i] = mark(writer, owner, i);
    }
    node.barrier();
    for (int owner = 0; owner < n; ++owner)
      for (std::size_t i = 0; i < bytes_of(owner); ++i) wrong += segment->part(owner)[i] != mark(writer, owner, i);
  }
  CHECK(wrong == 0);
}

TEST_CASE("shared segment: what one rank unmaps stays there for the others, and no name is left") {
  const Communicator node = comm::world().split_by_node();
  auto segment = map_shared_memory(node, 100);
  CHECK(names_left() == 0);
  auto second = map_shared_memory(node, 0);
  segment->part(node.rank())[0] = std::byte{42};
  node.barrier();
  if (node.rank() == 0) segment.reset();
  node.barrier();
  if (segment != nullptr) {
    segment->part(0)[99] = std::byte{1};  // a stray store
    for (int rank = 0; rank < node.size(); ++rank) CHECK(segment->part(rank)[0] == std::byte{42});
  }
  CHECK(second->part(0) != nullptr);
}

TEST_CASE("shared segment: no space is the same error on every rank, whoever asked for too much") {
  const Communicator node = comm::world().split_by_node();
  for (int greedy = 0; greedy < node.size(); ++greedy) {
    // More than any memory: the file system of shared memory refuses to reserve it.
    const std::size_t bytes = node.rank() == greedy ? std::size_t{1} << 50 : 4096;
    std::string sentence;
    try {
      map_shared_memory(node, bytes);
    } catch (const core::Error& error) {
      sentence = error.what();
    }
    CHECK(sentence.find("shared memory of ") != std::string::npos);
    CHECK(sentence.find(std::to_string((std::size_t{1} << 50) + 4096 * static_cast<std::size_t>(node.size() - 1))) !=
          std::string::npos);
    const std::vector<std::byte> all = node.allgather(std::as_bytes(std::span(sentence)));
    CHECK(all.size() == sentence.size() * static_cast<std::size_t>(node.size()));
    std::size_t differing = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      differing += all[i] != std::as_bytes(std::span(sentence))[i % sentence.size()];
    CHECK(differing == 0);
  }
  const std::size_t unspeakable = std::numeric_limits<std::size_t>::max() - 100;
  CHECK_THROWS_AS(static_cast<void>(map_shared_memory(node, unspeakable)), core::Error);
  CHECK_NOTHROW(static_cast<void>(map_shared_memory(node, 1)));
}

TEST_CASE("shared segment: a group of one process has plain memory of the same kind") {
  const auto segment = Communicator::self().backend().share(5000);
  CHECK(reinterpret_cast<std::uintptr_t>(segment->part(0)) % 4096 == 0);
  CHECK(std::all_of(segment->part(0), segment->part(0) + 5000, [](std::byte b) { return b == std::byte{0}; }));
}
