// SPDX-License-Identifier: Apache-2.0
/// @file
/// Compares the free space, from statvfs, with the sum over the ranks of a node.

#include "halocline/comm/group/shared_room.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <sys/statvfs.h>
#include <vector>

namespace halocline::comm::detail {
namespace {

/// "12 MiB", or "152 KiB" below one.
std::string amount(std::uint64_t bytes) {
  constexpr std::uint64_t kib = 1024, mib = kib * kib;
  return bytes >= mib ? std::to_string(bytes / mib) + " MiB" : std::to_string(bytes / kib) + " KiB";
}

std::uint64_t sum_or_most(std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  return a > most - b ? most : a + b;
}

}  // namespace

std::string first_reason(const Communicator& group, const std::string& mine) {
  double lowest = mine.empty() ? group.size() : group.rank();
  group.min(std::span(&lowest, 1));
  const int root = static_cast<int>(lowest);
  if (root == group.size()) return {};
  std::uint64_t length = mine.size();
  group.broadcast(std::as_writable_bytes(std::span(&length, 1)), root);
  std::string text = mine;
  text.resize(length);
  group.broadcast(std::as_writable_bytes(std::span(text)), root);
  return text;
}

std::string shared_room_problem(const Communicator& group, std::uint64_t bytes, const std::string& purpose) {
  const Communicator node = group.split_by_node();
  std::vector<std::uint64_t> all(static_cast<std::size_t>(node.size()));
  node.backend().all_gather(std::as_bytes(std::span(&bytes, 1)), std::as_writable_bytes(std::span(all)));
  const std::uint64_t needed = std::accumulate(all.begin(), all.end(), std::uint64_t{0}, sum_or_most);
  struct statvfs room = {};
  std::string problem;
  if (node.size() > 1 && needed > 0 && statvfs("/dev/shm", &room) == 0) {
    const std::uint64_t free = static_cast<std::uint64_t>(room.f_bavail) * room.f_frsize;
    if (free < needed)
      problem = "needs " + amount(needed) + " of /dev/shm to " + purpose + " " + std::to_string(node.size()) +
                " processes on a node, and " + amount(free) +
                " are free; enlarge it (in a container: --shm-size), or choose another transport";
  }
  return first_reason(group, problem);
}

std::string shared_segment_problem(const Communicator& group) {
  const Communicator node = group.split_by_node();
  std::string problem;
  if (node.size() > 1) try {
      node.backend().share(1);
    } catch (const core::Error& error) {  // the same on every rank of the node
      if (gave_up_waiting()) throw;
      problem = std::string("finds no memory: ") + error.what();
    }
  return first_reason(group, problem);
}

}  // namespace halocline::comm::detail
