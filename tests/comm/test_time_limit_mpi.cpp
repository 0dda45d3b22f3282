// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/time_limit.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/field_sum.hpp"
#include "halocline/core/error.hpp"

using namespace halocline;
using comm::Communicator;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

std::string sentence_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A group of its own, so that what fails here fails nothing else.
Communicator some_group(const Communicator& world) { return world.split(0, world.rank()); }

struct Operation {
  const char* name;
  std::function<void(const Communicator&)> run;
};

/// Everything that waits for all ranks.
const std::vector<Operation>& operations() {
  static const std::vector<Operation> all{
      {"barrier", [](const Communicator& group) { group.barrier(); }},
      {"broadcast",
       [](const Communicator& group) {
         std::array<std::byte, 24> bytes{};
         group.broadcast(bytes, group.size() - 1);
       }},
      {"all-gather",
       [](const Communicator& group) {
         std::array values{1.0, 2.0};
         group.sum(values);
       }},
      {"all-reduce", [](const Communicator& group) { static_cast<void>(group.any(false)); }},
      {"all-to-all",
       [](const Communicator& group) {
         std::vector<double> values(20000, 1.0);
         group.sum(values);
       }},
      {"MPI_Iallgather",
       [](const Communicator& group) {
         std::array values{1.0};
         auto pending = group.begin_sum(values);
         pending.wait();
       }},
      {"all-gather", [](const Communicator& group) { static_cast<void>(group.split(0, 0)); }},
      {"barrier", [](const Communicator& group) { static_cast<void>(group.split_by_node()); }},
  };
  return all;
}

}  // namespace

TEST_CASE("time limit: with one, every operation gives what it gives without") {
  const Communicator world = comm::world(), group = some_group(world);
  CHECK(std::isinf(comm::time_limit(group)));
  std::vector<std::vector<double>> found;
  for (const double limit : {unlimited, 60.0, unlimited}) {
    comm::set_time_limit(group, limit);
    if (world.size() > 1) CHECK(comm::time_limit(group) == limit);
    group.barrier();
    std::vector<double> numbers(20011);
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = 1.0 / (3.0 + static_cast<double>(i) + world.rank());
    for (const std::size_t n : {std::size_t{3}, numbers.size()}) {
      auto values = std::vector(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n));
      group.sum(values);
      found.push_back(values);
      auto again = std::vector(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(n));
      auto pending = group.begin_sum(again);
      pending.wait();
      CHECK(again == values);
    }
    std::array<std::uint64_t, 2> counts{7, static_cast<std::uint64_t>(world.rank())};
    group.sum(counts);
    CHECK(counts[0] == 7 * static_cast<std::uint64_t>(world.size()));
    std::array<std::uint32_t, 1> bits{1u << (world.rank() % 32)};
    group.bit_xor(bits);
    CHECK(bits[0] == (world.size() < 32 ? (1u << world.size()) - 1 : bits[0]));
    std::array<std::byte, 3> word{};
    if (world.rank() == world.size() - 1) word = {std::byte{1}, std::byte{2}, std::byte{3}};
    group.broadcast(word, world.size() - 1);
    CHECK(word[2] == std::byte{3});
    const std::vector<std::byte> mine(static_cast<std::size_t>(world.rank()), std::byte{9});
    const auto expected = static_cast<std::size_t>(world.size() * (world.size() - 1) / 2);
    CHECK(group.gather(mine, 0).size() == (world.rank() == 0 ? expected : 0));
    CHECK(group.allgather(mine).size() == expected);
    if (world.size() > 1) {
      std::array<std::byte, 2> here{};
      const std::array there{std::byte{4}, std::byte{5}};
      if (world.rank() == 0) group.send(there, 1, 3);
      if (world.rank() == 1) group.receive(here, 0, 3);
      CHECK(here[1] == (world.rank() == 1 ? std::byte{5} : std::byte{0}));
    }
    const Communicator part = group.split(world.rank() % 2, 0);
    if (world.size() > 1) CHECK(comm::time_limit(part) == limit);
    CHECK(part.all(true));
  }
  CHECK(found[2] == found[0]);
  CHECK(found[3] == found[1]);
}

TEST_CASE("time limit: what is not positive, or not everywhere, is refused on every rank") {
  const Communicator world = comm::world(), group = some_group(world);
  const bool last = world.rank() == world.size() - 1;
  for (const double wrong : {0.0, -1.0, std::nan("")})
    CHECK_THROWS_AS(comm::set_time_limit(group, last ? wrong : 5.0), core::InvalidArgument);
  if (world.size() > 1) CHECK_THROWS_AS(comm::set_time_limit(group, last ? 5.0 : unlimited), core::InvalidArgument);
  CHECK(std::isinf(comm::time_limit(group)));
  comm::set_time_limit(group, 5.0 + world.rank());
  group.barrier();
}

TEST_CASE("time limit: a rank that stays away is an error on every rank that waits, which names the operation") {
  const Communicator world = comm::world();
  if (world.size() == 1) return;  // nobody can stay away
  const int absent = world.size() - 1;
  std::vector<Communicator> groups;
  for (std::size_t i = 0; i <= operations().size(); ++i) groups.push_back(some_group(world));
  for (std::size_t i = 0; i < operations().size(); ++i) {
    const std::string name = operations()[i].name;
    const auto& run = operations()[i].run;
    comm::set_time_limit(groups[i], 0.2);
    if (world.rank() != absent) {
      const std::string sentence = sentence_of([&] { run(groups[i]); });
      CAPTURE(sentence);
      CHECK(sentence.starts_with("rank " + std::to_string(world.rank()) + ": " + name + ": "));
      CHECK(contains(sentence, "not all of the " + std::to_string(world.size()) + " ranks have come within 0.2 s"));
      CHECK(contains(sentence_of([&] { groups[i].barrier(); }),
                     std::string("this group failed in an earlier ") + name + " and cannot be used further"));
    }
    world.barrier();
  }
  comm::set_time_limit(groups.back(), 0.2);
  if (world.rank() == 0) {
    std::array<std::byte, 1> here{};
    CHECK(contains(sentence_of([&] { groups.back().receive(here, absent, 1); }),
                   "receive: rank " + std::to_string(absent) + " has not taken part within 0.2 s"));
  }
  world.barrier();
}

TEST_CASE("time limit: every collective has one while a solve is under way, and none before and after") {
  const Communicator world = comm::world(), group = some_group(world);
  const bool several = world.size() > 1;
  const int absent = world.size() - 1;
  CHECK(comm::solve_time_limit(group) == 300.0);
  comm::set_solve_time_limit(group, 60);
  CHECK(comm::solve_time_limit(world) == 60);  // one for all groups that come from each other
  const Communicator part = group.split(0, world.rank());
  // Sums and transports hold back ends rather than groups; these have the limit too.
  const Communicator node(part.backend().split_by_node()), half(part.backend().split(0, world.rank()));
  CHECK(std::isinf(comm::time_limit(group)));
  {
    const comm::SolveUnderWay under_way(group);
    if (several)
      for (const Communicator& each : {part, node, half}) CHECK(comm::time_limit(each) == 60);
    {
      const comm::SolveUnderWay inside(part);
      CHECK(part.all(true));
    }
    if (several) CHECK(comm::time_limit(part) == 60);
    comm::set_solve_time_limit(group, 0.2);
    if (several && world.rank() != absent)
      CHECK(contains(sentence_of([&] { part.barrier(); }), "have come within 0.2 s"));
  }
  CHECK(std::isinf(comm::time_limit(part)));
  for (const double wrong : {0.0, -1.0, std::nan(""), unlimited})
    CHECK_THROWS_AS(comm::set_solve_time_limit(world, world.rank() == absent ? wrong : 5.0), core::InvalidArgument);
  comm::set_solve_time_limit(world, 300.0);
}

TEST_CASE("time limit: a rank that is missing in the sum of a field is an error, and the sum cannot be used further") {
  const Communicator world = comm::world(), group = some_group(world);
  if (world.size() == 1) return;  // nobody can be missing
  const int absent = world.size() - 1;
  comm::FieldSum sum(group, 1000);
  std::vector<double> field(1000, 1.0);
  sum.begin(field);
  sum.wait(field);
  CHECK(field[999] == world.size());
  {
    const comm::SolveUnderWay under_way(group);
    comm::set_solve_time_limit(group, 0.2);
    if (world.rank() != absent) {
      sum.begin(field);
      const std::string sentence = sentence_of([&] { sum.wait(field); });
      CAPTURE(sentence);
      CHECK(sentence.starts_with("rank " + std::to_string(world.rank()) + ": "));
      CHECK(contains(sentence, "ranks have come within 0.2 s"));
      CHECK(
          contains(sentence_of([&] { sum.begin(field); }), "a sum was begun after an earlier one failed; end the run"));
    }
  }
  world.barrier();
  comm::set_solve_time_limit(world, 300.0);
}
