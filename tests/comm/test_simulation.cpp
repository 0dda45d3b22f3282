// SPDX-License-Identifier: Apache-2.0
/// @file
/// Laws of the simulated machine: a seed is one history, collectives give what anybody can work out, and a rank that
/// fails, stops or waits in vain is reported and leaves nothing behind.

#include "halocline/comm/simulation/simulation.hpp"

#include "halocline/comm/group/backend.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <memory>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

using namespace halocline;
using comm::Communicator;
using comm::simulate;
using comm::SimulationOptions;

namespace {

struct Moment {
  int rank;
  int step;
  double time;
  friend bool operator==(const Moment&, const Moment&) = default;
};

struct History {
  std::vector<Moment> moments;
  comm::SimulationReport report;
};

History history(std::uint64_t seed) {
  History h;
  SimulationOptions options{.seed = seed, .pause_probability = 0.1};
  h.report = simulate(4, options, [&](const Communicator& group) {
    for (int step = 0; step < 20; ++step) {
      double value = group.rank();
      group.sum(std::span(&value, 1));
      for (int look = 0; look < group.rank(); ++look) group.backend().idle();
      h.moments.push_back({group.rank(), step, group.backend().now()});
    }
  });
  return h;
}

/// What simulate() throws.
template <class Program>
std::string failure(int ranks, const SimulationOptions& options, Program&& program) {
  try {
    simulate(ranks, options, program);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Counts those that live.
struct Guest {
  explicit Guest(int& count) : count_(count) { ++count_; }
  Guest(const Guest&) = delete;
  Guest& operator=(const Guest&) = delete;
  ~Guest() { --count_; }
  int& count_;
};

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <class T>
std::span<std::byte> bytes_of(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

}  // namespace

TEST_CASE("simulation: a seed is one history, another seed another") {
  const History one = history(7), again = history(7), other = history(8);
  CHECK(one.moments.size() == 80);
  CHECK(one.moments == again.moments);
  CHECK(one.report.seconds == again.report.seconds);
  CHECK(one.report.switches == again.report.switches);
  CHECK(one.moments != other.moments);
  CHECK(one.report.seconds > 0.0);
  CHECK(one.report.switches > 80);
}

TEST_CASE("simulation: collectives give what everybody can work out") {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    CAPTURE(ranks);
    int visited = 0, wrong = 0;
    const auto expect = [&](bool fine) { wrong += fine ? 0 : 1; };
    simulate(ranks, {.seed = 3, .pause_probability = 0.2}, [&](const Communicator& group) {
      ++visited;
      const int rank = group.rank();
      expect(group.size() == ranks);
      for (int round = 0; round < 5; ++round) {
        std::vector<double> values{1.0 * rank, 1.0};
        group.sum(values);
        expect(values[0] == ranks * (ranks - 1) / 2.0 && values[1] == ranks);
        std::vector<std::uint64_t> counts{static_cast<std::uint64_t>(rank + round)};
        group.sum(std::span(counts));
        expect(counts[0] == static_cast<std::uint64_t>(ranks * (ranks - 1) / 2 + ranks * round));
        std::uint32_t bits = 1u << rank;
        group.bit_xor(std::span(&bits, 1));
        expect(bits == (1u << ranks) - 1);
        const int root = round % ranks;
        int word = rank == root ? 1000 + round : -1;
        group.broadcast(bytes_of(word), root);
        expect(word == 1000 + round);
        double late = rank;
        auto pending = group.begin_sum(std::span(&late, 1));
        group.barrier();
        pending.wait();
        expect(late == ranks * (ranks - 1) / 2.0);
        const std::vector<char> text(static_cast<std::size_t>(rank), static_cast<char>('a' + rank));
        const auto all = group.allgather(std::as_bytes(std::span(text)));
        expect(all.size() == static_cast<std::size_t>(ranks * (ranks - 1) / 2));
        expect(all.empty() || all.back() == static_cast<std::byte>('a' + ranks - 1));
        expect(group.gather(std::as_bytes(std::span(text)), root).size() == (rank == root ? all.size() : 0u));
      }
      // The large sum goes by all_to_all.
      std::vector<double> many(10000, rank + 1.0);
      group.sum(many);
      for (const double sum : many) expect(sum == ranks * (ranks + 1) / 2.0);
    });
    CHECK(visited == ranks);
    CHECK(wrong == 0);
  }
}

TEST_CASE("simulation: messages keep their order and wait for their receiver") {
  int wrong = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    simulate(3, {.seed = seed, .pause_probability = 0.2}, [&](const Communicator& group) {
      const int right = (group.rank() + 1) % 3, left = (group.rank() + 2) % 3;
      for (int k = 0; k < 10; ++k) group.send(bytes_of(k), right, k % 2);
      for (const int tag : {1, 0}) {
        for (int k = tag; k < 10; k += 2) {
          int got = -1;
          group.receive(bytes_of(got), left, tag);
          wrong += got == k ? 0 : 1;
        }
      }
      const int mine = 100 + group.rank();
      int theirs = 0;
      const int partner = group.rank() == 2 ? 0 : 2;
      if (group.rank() == 1) return;
      const auto swap = group.backend().begin_swap(bytes_of(mine), bytes_of(theirs), partner, 9);
      while (!swap->test()) group.backend().idle();
      wrong += theirs == 100 + partner ? 0 : 1;
    });
  }
  CHECK(wrong == 0);
}

TEST_CASE("simulation: parts of a group, by colour and by node") {
  int wrong = 0, visited = 0;
  const auto expect = [&](bool fine) { wrong += fine ? 0 : 1; };
  simulate(7, {.seed = 5, .ranks_per_node = 3}, [&](const Communicator& group) {
    ++visited;
    const int rank = group.rank();
    const Communicator part = group.split(rank % 2, -rank);
    expect(part.size() == (rank % 2 == 0 ? 4 : 3));
    expect(part.rank() == (rank % 2 == 0 ? 6 - rank : 5 - rank) / 2);
    double sum = rank;
    part.sum(std::span(&sum, 1));
    expect(sum == (rank % 2 == 0 ? 12.0 : 9.0));
    const auto node = group.backend().split_by_node();
    expect(node->size() == (rank < 6 ? 3 : 1));
    expect(node->rank() == rank % 3);
    const auto memory = node->share(static_cast<std::size_t>(16 + rank));
    expect((reinterpret_cast<std::uintptr_t>(memory->part(node->rank())) & 4095u) == 0);
    expect(memory->part(node->rank())[15] == std::byte{0});
    const int next = (node->rank() + 1) % node->size();
    std::memcpy(memory->part(next), &rank, sizeof(rank));
    node->barrier();
    int writer = -1;
    std::memcpy(&writer, memory->part(node->rank()), sizeof(writer));
    expect(writer == rank / 3 * 3 + (node->rank() + node->size() - 1) % node->size());
    bool refused = false;
    try {
      group.backend().share(8);
    } catch (const core::Error& error) {
      refused = contains(error.what(), "nodes 0 and 1");
    }
    expect(refused);
  });
  CHECK(visited == 7);
  CHECK(wrong == 0);
}

TEST_CASE("simulation: an error on one rank reaches the caller") {
  int guests = 0, caught = 0;
  const auto program = [&](const Communicator& group) {
    const Guest guest(guests);
    double value = 1.0;
    const auto pending = group.begin_sum(std::span(&value, 1));  // destroyed while two ranks never come
    if (group.rank() >= 2) throw std::runtime_error("rank " + std::to_string(group.rank()) + " fails");
    group.barrier();
    ++caught;
  };
  CHECK(failure(4, {}, program) == "rank 2 fails");
  CHECK(guests == 0);
  CHECK(caught == 0);
  // An error that is made everybody's is everybody's.
  const auto shared = [&](const Communicator& group) {
    try {
      comm::on_every_rank(group, [&] {
        if (group.rank() == 1) throw core::InvalidArgument("seven given");
      });
    } catch (const core::InvalidArgument& error) {
      group.barrier();  // other ranks run inside this catch block
      caught += contains(error.what(), "rank 1: seven given") ? 1 : 0;
      throw;
    }
  };
  CHECK_THROWS_AS(simulate(3, {}, shared), core::InvalidArgument);
  CHECK(caught == 3);
}

TEST_CASE("simulation: errors that are handled stay with their rank") {
  int handled = 0;
  simulate(5, {.seed = 2}, [&](const Communicator& group) {
    for (int k = 0; k < 10; ++k) {
      try {
        throw group.rank() * 100 + k;
      } catch (const int number) {
        group.barrier();
        group.backend().idle();
        handled += number == group.rank() * 100 + k && std::uncaught_exceptions() == 0 ? 1 : 0;
        try {
          std::rethrow_exception(std::current_exception());
        } catch (const int same) {
          handled += same == number ? 1 : 0;
        }
      }
    }
  });
  CHECK(handled == 100);
}

TEST_CASE("simulation: a deadlock is reported with what each rank does") {
  int guests = 0;
  const std::string sentence = failure(3, {}, [&](const Communicator& group) {
    const Guest guest(guests);
    int word = 0;
    if (group.rank() == 1) group.receive(bytes_of(word), 2, 4);
    if (group.rank() != 1) group.barrier();
  });
  CAPTURE(sentence);
  CHECK(contains(sentence, "every rank waits"));
  CHECK(contains(sentence, "rank 0 in barrier"));
  CHECK(contains(sentence, "rank 1 in receive from rank 2"));
  CHECK(contains(sentence, "rank 2 in barrier"));
  CHECK(guests == 0);
}

TEST_CASE("simulation: ranks that meet in different collectives are told") {
  const std::string other = failure(2, {}, [](const Communicator& group) {
    double value = 0.0;
    if (group.rank() == 0) group.barrier();
    if (group.rank() == 1) group.sum(std::span(&value, 1));
  });
  CHECK(contains(other, "barrier"));
  CHECK(contains(other, "all_gather of 8 bytes"));
  const std::string longer = failure(2, {}, [](const Communicator& group) {
    const char text[8] = {};
    if (group.rank() == 0) group.send(std::as_bytes(std::span(text)), 1, 0);
    int word = 0;
    if (group.rank() == 1) group.receive(bytes_of(word), 0, 0);
  });
  CHECK(contains(longer, "receives 4 bytes"));
  CHECK(contains(longer, "sent 8"));
}

TEST_CASE("simulation: a rank that stops is known to be dead, or not, and is cleared away") {
  for (const bool dies : {true, false}) {
    int guests = 0, later = 0;
    bool alive_before = false, alive_after = true;
    SimulationOptions options{.seed = 4};
    (dies ? options.dead_rank : options.stalled_rank) = 1;
    (dies ? options.dead_after : options.stalled_after) = 0.5;
    simulate(3, options, [&](const Communicator& group) {
      const Guest guest(guests);
      auto& backend = group.backend();
      if (group.rank() == 0) alive_before = backend.alive(1);
      while (backend.now() < 1.0) backend.idle();
      if (group.rank() == 0) alive_after = backend.alive(1);
      if (group.rank() == 1) ++later;
    });
    CHECK(alive_before);
    CHECK(alive_after == !dies);
    CHECK(later == 0);
    CHECK(guests == 0);
    const std::string sentence = failure(3, options, [&](const Communicator& group) {
      const Guest guest(guests);
      while (group.backend().now() < 1.0) group.backend().idle();
      group.barrier();
    });
    CHECK(contains(sentence, dies ? "rank 1 has died" : "rank 1 has stalled"));
    CHECK(contains(sentence, "rank 0 in barrier"));
    CHECK(guests == 0);
  }
}

TEST_CASE("simulation: a stopped rank that catches everything ends all the same") {
  int swallowed = 0;
  simulate(2, {.stalled_rank = 1, .stalled_after = 0.1}, [&](const Communicator& group) {
    for (int k = 0; k < 3; ++k) {
      try {
        while (group.backend().now() < 1.0 + k) group.backend().idle();
      } catch (...) {
        ++swallowed;
      }
    }
  });
  CHECK(swallowed >= 1);
  CHECK(swallowed <= 3);
}

TEST_CASE("simulation: time passes for those who poll without waiting") {
  double seconds = 0.0;
  simulate(2, {.seed = 9, .latency = 1e-3}, [&](const Communicator& group) {
    double value = 1.0;
    double all[2] = {};
    const auto pending = group.backend().begin_all_gather(bytes_of(value), std::as_writable_bytes(std::span(all)));
    while (!pending->test()) {
    }
    seconds = group.backend().now();
  });
  CHECK(seconds >= 1e-3);
}

TEST_CASE("simulation: a simulated rank may run a simulation of its own") {
  int inner = 0;
  const auto report = simulate(2, {}, [&](const Communicator& group) {
    simulate(3, {}, [&](const Communicator& part) {
      part.barrier();
      ++inner;
    });
    group.barrier();
  });
  CHECK(inner == 6);
  CHECK(report.seconds < 1e-3);
}

TEST_CASE("simulation: a group is used by its own rank only, and only while it runs") {
  std::vector<Communicator> groups;
  const std::string sentence = failure(2, {}, [&](const Communicator& group) {
    groups.push_back(group);
    group.barrier();
    if (group.rank() == 0) groups[groups[0].rank() == 0 ? 1 : 0].barrier();
  });
  CHECK(contains(sentence, "rank 1"));
  CHECK_THROWS_AS(groups[0].barrier(), core::Error);
  CHECK_THROWS_AS(groups[0].backend().idle(), core::Error);
  const std::string threaded = failure(1, {}, [&](const Communicator& group) {
    std::exception_ptr thrown;
    std::thread([&] {
      try {
        group.backend().barrier();
      } catch (...) {
        thrown = std::current_exception();
      }
    }).join();
    if (thrown != nullptr) std::rethrow_exception(thrown);
  });
  CHECK(contains(threaded, "by another rank or thread"));
}

TEST_CASE("simulation: options out of range are refused") {
  const auto nothing = [](const Communicator&) {};
  CHECK_THROWS_AS(simulate(0, {}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.ranks_per_node = -1}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.latency = -1e-6}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.bytes_per_second = 0.0}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.piece_bytes = 0}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.pause_probability = 1.5}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.damage_probability = -0.5}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.stalled_rank = 2}, nothing), core::InvalidArgument);
  CHECK_THROWS_AS(simulate(2, {.dead_rank = -2}, nothing), core::InvalidArgument);
}
