// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/group/communicator.hpp"

#include "comm/awkward.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace halocline;
using comm::Communicator;
using tests::awkward;

namespace {

double sum_in_rank_order(int ranks, std::size_t i) {
  double sum = awkward(0, i);
  for (int r = 1; r < ranks; ++r) sum += awkward(r, i);
  return sum;
}

void random_pause(std::mt19937& random) {
  if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 500));
}

std::vector<std::byte> bytes_of(const std::string& text) {
  const auto view = std::as_bytes(std::span(text));
  return {view.begin(), view.end()};
}

#if HALOCLINE_HAVE_MPI
void ignore_errors(MPI_Comm*, int*, ...) {}  // NOLINT: MPI has it so
#endif

}  // namespace

TEST_CASE("communicator: sums are added in rank order, the same bits on every rank, short and long") {
  const Communicator world = comm::world();
  for (const std::size_t n : {1u, 3u, 700u, 5000u, 20011u}) {
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i) values[i] = awkward(world.rank(), i);
    world.sum(values);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < n; ++i) {
      wrong +=
          std::bit_cast<std::uint64_t>(values[i]) != std::bit_cast<std::uint64_t>(sum_in_rank_order(world.size(), i));
    }
    CHECK(wrong == 0);
  }
  std::vector<double> none;
  CHECK_NOTHROW(world.sum(none));
}

TEST_CASE("communicator: sums do not depend on timing, blocking or not") {
  const Communicator world = comm::world();
  std::mt19937 random(static_cast<unsigned>(world.rank()));
  int wrong = 0;
  for (int k = 0; k < 60; ++k) {
    random_pause(random);
    std::vector<double> values(5), later(5);
    for (std::size_t i = 0; i < 5; ++i) values[i] = later[i] = awkward(world.rank(), i);
    comm::PendingSum pending = world.begin_sum(later);
    random_pause(random);
    world.sum(values);  // another collective in between
    pending.wait();
    pending.wait();
    for (std::size_t i = 0; i < 5; ++i) {
      wrong += values[i] != sum_in_rank_order(world.size(), i);
      wrong += later[i] != sum_in_rank_order(world.size(), i);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("communicator: integer sums, xor, min, max, any and all") {
  const Communicator world = comm::world();
  const int n = world.size(), me = world.rank();
  std::vector<std::uint64_t> counts{static_cast<std::uint64_t>(me), ~std::uint64_t{0}};
  world.sum(std::span<std::uint64_t>(counts));
  CHECK(counts[0] == static_cast<std::uint64_t>(n * (n - 1) / 2));
  CHECK(counts[1] == ~static_cast<std::uint64_t>(n - 1));  // n times -1, modulo 2^64
  std::vector<std::uint32_t> bits{1u << me, 0xffu};
  world.bit_xor(bits);
  CHECK(bits[0] == (1u << n) - 1u);
  CHECK(bits[1] == (n % 2 == 0 ? 0u : 0xffu));
  std::vector<double> low{-1.0 * me, 7.0}, high{-1.0 * me, 7.0};
  world.min(low);
  world.max(high);
  CHECK(low == std::vector<double>{-1.0 * (n - 1), 7.0});
  CHECK(high == std::vector<double>{0.0, 7.0});
  for (int bad = 0; bad < n; ++bad) {
    std::vector<double> a{me == bad ? std::nan("") : 1.0}, b = a;
    world.min(a);
    world.max(b);
    CHECK(std::isnan(a[0]));
    CHECK(std::isnan(b[0]));
    CHECK(world.any(me == bad));
    CHECK(world.all(me == bad) == (n == 1));
  }
  CHECK_FALSE(world.any(false));
  CHECK(world.all(true));
}

TEST_CASE("communicator: gathers keep rank order and unequal lengths") {
  const Communicator world = comm::world();
  std::string expected;
  for (int r = 0; r < world.size(); ++r)
    expected += std::string(static_cast<std::size_t>(r * r % 5), static_cast<char>('a' + r));
  const std::string mine(static_cast<std::size_t>(world.rank() * world.rank() % 5),
                         static_cast<char>('a' + world.rank()));
  CHECK(world.allgather(bytes_of(mine)) == bytes_of(expected));
  for (int root = 0; root < world.size(); ++root) {
    CHECK(world.gather(bytes_of(mine), root) == (world.rank() == root ? bytes_of(expected) : std::vector<std::byte>{}));
    std::vector<std::byte> word = bytes_of(world.rank() == root ? "halo" : "----");
    world.broadcast(word, root);
    CHECK(word == bytes_of("halo"));
  }
  CHECK_THROWS_AS(static_cast<void>(world.gather(bytes_of(mine), world.size())), core::InvalidArgument);
}

TEST_CASE("communicator: an all-to-all takes block r to rank r, and there and back is where it was") {
  const Communicator world = comm::world();
  const auto ranks = static_cast<std::size_t>(world.size());
  for (const std::size_t length : {0u, 1u, 3u, 4099u}) {
    CAPTURE(length);
    const auto value = [&](std::size_t from, std::size_t to, std::size_t i) {
      return static_cast<std::byte>((31 * from + 7 * to + i) % 251);
    };
    const auto me = static_cast<std::size_t>(world.rank());
    std::vector<std::byte> mine(ranks * length), all(mine.size()), again(mine.size());
    for (std::size_t to = 0; to < ranks; ++to)
      for (std::size_t i = 0; i < length; ++i) mine[to * length + i] = value(me, to, i);
    world.all_to_all(mine, all);
    bool right = true;
    for (std::size_t from = 0; from < ranks; ++from)
      for (std::size_t i = 0; i < length; ++i) right = right && all[from * length + i] == value(from, me, i);
    CHECK(right);
    world.all_to_all(all, again);
    CHECK(again == mine);
  }
  std::vector<std::byte> few(ranks), more(2 * ranks), odd(ranks + 1);
  CHECK_THROWS_AS(world.all_to_all(few, more), core::InvalidArgument);
  if (ranks > 1) CHECK_THROWS_AS(world.all_to_all(odd, odd), core::InvalidArgument);
}

TEST_CASE("communicator: messages keep their order, to others and to oneself") {
  const Communicator world = comm::world();
  const int to = (world.rank() + 1) % world.size(), from = (world.rank() + world.size() - 1) % world.size();
  // Even ranks send first, so that no ring of blocking sends closes; odd rings end at a receiver too.
  const auto send = [&] {
    for (int k = 0; k < 5; ++k) world.send(bytes_of(std::string(1000, static_cast<char>('0' + k))), to, 7);
  };
  const auto receive = [&] {
    for (int k = 0; k < 5; ++k) {
      std::vector<std::byte> got(1000);
      world.receive(got, from, 7);
      CHECK(got == bytes_of(std::string(1000, static_cast<char>('0' + k))));
    }
  };
  if (world.size() == 1 || world.rank() % 2 == 0) {
    send();
    receive();
  } else {
    receive();
    send();
  }
  std::vector<std::byte> byte(1);
  CHECK_THROWS_AS(world.receive(byte, world.rank(), 3), core::Error);
  CHECK_THROWS_AS(world.send(byte, world.size(), 0), core::InvalidArgument);
  CHECK_THROWS_AS(world.send(byte, world.rank(), -1), core::InvalidArgument);
  world.send(byte, world.rank(), 3);
  std::vector<std::byte> two(2);
  CHECK_THROWS_AS(world.receive(two, world.rank(), 3), core::Error);
  if (world.size() > 1) {  // a message of another length is an error with the rank, not an abort
    if (world.rank() == 0) world.send(two, 1, 9);
    if (world.rank() == 1) CHECK_THROWS_AS(world.receive(byte, 0, 9), core::Error);
    if (world.rank() == 0) world.send(byte, 1, 10);
    if (world.rank() == 1) CHECK_THROWS_AS(world.receive(two, 0, 10), core::Error);
  }
}

TEST_CASE("communicator: split groups by colour and orders by key") {
  const Communicator world = comm::world();
  const Communicator part = world.split(world.rank() % 2, -world.rank());
  std::vector<double> one{1.0}, rank{static_cast<double>(world.rank())};
  part.sum(one);
  CHECK(one[0] == part.size());
  const int in_colour = world.rank() % 2 == 0 ? (world.size() + 1) / 2 : world.size() / 2;
  CHECK(part.size() == in_colour);
  part.max(rank);
  CHECK(part.rank() == (static_cast<int>(rank[0]) - world.rank()) / 2);
  CHECK_THROWS_AS(static_cast<void>(world.split(world.rank() == 0 ? -1 : 0, 0)), core::Error);
}

TEST_CASE("raise_everywhere: the lowest failing rank's error reaches every rank, with its type") {
  const Communicator world = comm::world();
  CHECK_NOTHROW(comm::raise_everywhere(world, std::nullopt));
  CHECK_NOTHROW(comm::on_every_rank(world, [] {}));
  for (int first = 0; first < world.size(); ++first) {
    const auto fails = [&] { return world.rank() >= first; };
    const std::string own = "trouble of " + std::to_string(world.rank());
    std::string sentence;
    try {
      comm::raise_everywhere(world, fails() ? std::optional(own) : std::nullopt);
    } catch (const core::Error& error) {
      sentence = error.what();
      CHECK(error.rank() == first);
    }
    CHECK(sentence.find("trouble of " + std::to_string(first)) != std::string::npos);
    CHECK_THROWS_AS(comm::on_every_rank(world,
                                        [&] {
                                          if (fails()) throw core::InvalidArgument(own);
                                        }),
                    core::InvalidArgument);
    CHECK_THROWS_AS(comm::on_every_rank(world,
                                        [&] {
                                          if (fails()) throw 7;
                                        }),
                    core::Error);
    try {
      comm::on_every_rank(world, [&] {
        if (fails()) throw core::FileError("cfg.lime", "CHECKSUM", own);
      });
      CHECK(false);
    } catch (const core::FileError& error) {
      CHECK(error.path() == "cfg.lime");
      CHECK(error.record() == "CHECKSUM");
      CHECK(std::string(error.what()) == "cfg.lime (CHECKSUM): trouble of " + std::to_string(first));
    }
  }
}

TEST_CASE("raise_everywhere: an error that passes through two groups says its rank once") {
  const Communicator world = comm::world();
  const auto ends_with_the_lowest_of_its_group = [](const Communicator& inner, const Communicator& outer, int failing) {
    std::string sentence;
    int rank = -1;
    try {
      comm::on_every_rank(outer, [&] {  // the inner group fails as a whole
        comm::on_every_rank(inner, [&] {
          if (inner.rank() == failing) throw core::Error("no room");
        });
      });
    } catch (const core::Error& error) {
      sentence = error.what();
      rank = error.rank();
    }
    CHECK(sentence == (outer.size() > 1 ? "rank " + std::to_string(rank) + ": no room" : "no room"));
    return rank;
  };
  for (int failing = 0; failing < world.size(); ++failing)
    CHECK(ends_with_the_lowest_of_its_group(world, world, failing) == failing);
  const Communicator half = world.split(world.rank() % 2, 0);
  CHECK(ends_with_the_lowest_of_its_group(half, world, 0) == 0);
}

#if HALOCLINE_HAVE_MPI
TEST_CASE("mpi: a group from somebody else's communicator has its ranks, and null is refused") {
  static_cast<void>(comm::world());
  const Communicator theirs = comm::from_fortran_handle(static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)));
  CHECK(theirs.size() == comm::world().size());
  CHECK(theirs.rank() == comm::world().rank());
  int relation = MPI_UNEQUAL;
  MPI_Comm_compare(comm::mpi_comm(theirs), MPI_COMM_WORLD, &relation);
  CHECK(relation == MPI_CONGRUENT);  // a duplicate
  CHECK(comm::from_mpi(MPI_COMM_SELF).size() == 1);
  CHECK(comm::mpi_comm(Communicator::self()) == MPI_COMM_NULL);
  CHECK_THROWS_AS(static_cast<void>(comm::from_mpi(MPI_COMM_NULL)), core::InvalidArgument);
}

TEST_CASE("mpi: two threads that take errors as return codes leave the host's handler of MPI_COMM_WORLD in place") {
  static_cast<void>(comm::world());
  MPI_Errhandler of_the_host = MPI_ERRHANDLER_NULL, now = MPI_ERRHANDLER_NULL;
  REQUIRE(MPI_Comm_create_errhandler(ignore_errors, &of_the_host) == MPI_SUCCESS);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
  const MPI_Errhandler before = now;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_the_host);
  // The order of two threads: the first one to begin is the first one to end.
  std::optional<comm::ErrorsReturned> first(std::in_place), second(std::in_place);
  first.reset();
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
  CHECK(now == MPI_ERRORS_RETURN);
  second.reset();
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &now);
  CHECK(now == of_the_host);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
}
#endif
