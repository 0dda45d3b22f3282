// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/shared_room.hpp"

#include "halocline/comm/group/world.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <span>
#include <string>

using namespace halocline;
using comm::Communicator;

namespace {

/// The text is that of rank 0. Collective.
bool same_everywhere(const Communicator& group, const std::string& text) {
  std::string first = text;
  first.resize(1000);
  group.broadcast(std::as_writable_bytes(std::span(first)), 0);
  return group.all(first.substr(0, first.find('\0')) == text);
}

}  // namespace

TEST_CASE("shared room: what one rank cannot have is said on every rank, in bytes of its node") {
  const Communicator world = comm::world();
  constexpr std::uint64_t too_much = std::uint64_t{1} << 60;
  const bool alone = !world.any(world.split_by_node().size() > 1);
  for (const int asking : {0, world.size() - 1}) {
    const std::string problem =
        comm::detail::shared_room_problem(world, world.rank() == asking ? too_much : 0, "start");
    CHECK(same_everywhere(world, problem));
    if (alone) {
      CHECK(problem.empty());
    } else {
      CHECK(problem.starts_with("needs 1099511627776 MiB of /dev/shm to start "));
      CHECK(problem.find("--shm-size") != std::string::npos);
    }
  }
  CHECK(comm::detail::shared_room_problem(world, 0, "start").empty());
  const std::string most = comm::detail::shared_room_problem(world, ~std::uint64_t{0}, "start");
  CHECK(most.empty() == alone);  // the sum of all does not begin again at 0
}

TEST_CASE("shared room: the reason is that of the lowest rank that has one") {
  const Communicator world = comm::world();
  CHECK(comm::detail::first_reason(world, "").empty());
  for (int lowest = 0; lowest < world.size(); ++lowest) {
    const std::string mine = world.rank() < lowest ? "" : "reason " + std::to_string(world.rank());
    CHECK(comm::detail::first_reason(world, mine) == "reason " + std::to_string(lowest));
  }
}
