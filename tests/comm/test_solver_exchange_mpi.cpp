// SPDX-License-Identifier: Apache-2.0
#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/comm/sums/solver_reduction.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <omp.h>

#include <array>
#include <cstring>
#include <string>

using namespace halocline;
using comm::Communicator;
using comm::SolverCommunication;

namespace {

template <class Action>
std::string sentence_of(Action&& action) {
  try {
    action();
  } catch (const core::InvalidArgument& error) {
    return error.what();
  }
  return "nothing";
}
bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A group whose settings the test may change: a copy of all processes would share those of the world.
struct Settings {
  explicit Settings(const Communicator& group) : group_(group), before_(comm::solver_communication(group)) {}
  ~Settings() { comm::set_solver_communication(group_, before_); }
  Communicator group_;
  SolverCommunication before_;
};

}  // namespace

TEST_CASE("solver communication: every group of a family has the settings, whichever was split off first") {
  const Communicator world = comm::world();
  const Settings restored(world);
  const Communicator earlier = world.split(0, world.rank());
  comm::set_solver_communication(world, {.transport = "mpi_persistent", .buffers = 1, .sums = "mpi"});
  const Communicator later = earlier.split(0, -world.rank());
  for (const Communicator& group : {earlier, later}) {
    CHECK(comm::solver_communication(group).transport == "mpi_persistent");
    CHECK(comm::solver_communication(group).buffers == 1);
  }
  CHECK(comm::solver_communication(Communicator::self()).buffers == 2);  // a family of its own
  if (world.size() > 1) CHECK(comm::solver_reduction(later).way(2) == comm::SumWay::mpi);
}

TEST_CASE("solver communication: impossible settings, or others on one rank, are refused on every rank") {
  const Communicator world = comm::world();
  const Settings restored(world);
  const auto refused = [&](const SolverCommunication& settings) {
    return sentence_of([&] { comm::set_solver_communication(world, settings); });
  };
  CHECK(contains(refused({.buffers = 3}), "3 buffers"));
  CHECK(contains(refused({.interfaces = {0, 1, 2}, .interface_grid = {world.size(), 1}}), "3 network interfaces"));
  CHECK(contains(refused({.interfaces = {0, 1, 2, 3}, .interface_grid = {world.size() + 1, 1}}), "the group has"));
  if (world.size() > 1) CHECK(contains(refused({.posting_by_all = world.rank() == 1}), "different ways for solvers"));
  CHECK(comm::solver_communication(world).buffers == 2);  // nothing was set
  const comm::ProcessGrid grid(world, {world.size(), 1});
  const std::array<std::size_t, 2> bytes{64, 64};
  comm::set_solver_communication(world, {.transport = "carrier_pigeon"});
  CHECK(contains(sentence_of([&] { comm::solver_exchange(grid, bytes, ""); }), "carrier_pigeon"));
  comm::set_solver_communication(world, {.sums = "by hand"});
  CHECK(contains(sentence_of([&] { static_cast<void>(comm::solver_reduction(world)); }), "by hand"));
  if (world.size() > 1) {
    comm::set_solver_communication(
        world, {.transport = "mpi_persistent", .interfaces = {0, 1, 2, 3}, .interface_grid = {world.size(), 1}});
    CHECK(contains(sentence_of([&] { comm::solver_exchange(grid, bytes, ""); }), "does not choose among interfaces"));
  }
}

TEST_CASE("solver exchange: every transport, one buffer or two, one poster or all, delivers the same messages") {
  const Communicator world = comm::world();
  const Settings restored(world);
  const comm::ProcessGrid grid(world, {world.size(), 1});
  const std::array<std::size_t, 2> bytes{256, 64};
  for (const comm::TransportInfo& transport : comm::available_transports()) {
    // "counting" is of the tests of registration and serves two buffers only.
    if (transport.name == "openshmem" || transport.name == "counting" ||
        !comm::transport_unavailable_reason(transport.name, grid).empty())
      continue;
    for (const int buffers : {1, 2})
      for (const bool all : {false, true}) {
        CAPTURE(transport.name);
        CAPTURE(buffers);
        CAPTURE(all);
        comm::set_solver_communication(world, {.transport = transport.name, .buffers = buffers, .posting_by_all = all});
        comm::HaloExchange exchange = comm::solver_exchange(grid, bytes, "self");  // the settings replace the name
        CHECK(exchange.transport().name().substr(0, transport.name.size()) == transport.name);
        CHECK(static_cast<int>(exchange.options().buffering) == buffers);
        CHECK(exchange.concurrent() == (all && exchange.transport().concurrent()));
        CHECK(exchange.time_limit() == comm::solve_time_limit(world));
        int wrong = 0;
        for (int step = 0; step < 6; ++step) {
          for (int face = 0; face < 4; ++face) {
            const auto buffer = exchange.send_buffer(comm::Face::from_index(face));
            std::memset(buffer.data(), 16 * (world.rank() % 8) + face + step, buffer.size());
          }
          if (exchange.concurrent()) {
#pragma omp parallel num_threads(3)
            exchange.post(comm::share_of(comm::all_faces & 0xf, omp_get_thread_num(), omp_get_num_threads()));
          } else {
            exchange.post();
          }
          exchange.wait_all();
          for (int face = 0; face < 4; ++face) {
            const auto at = comm::Face::from_index(face);
            const int from = grid.neighbour(at);
            for (const std::byte b : exchange.recv_buffer(at))
              wrong += b != static_cast<std::byte>(16 * (from % 8) + at.opposite().index() + step);
          }
        }
        CHECK(wrong == 0);
        exchange.close();
      }
  }
}

TEST_CASE("solver exchange: the shares of all threads are the faces, each once") {
  for (const comm::FaceMask faces : {comm::FaceMask{0}, comm::FaceMask{0xff}, comm::FaceMask{0xa5}, comm::all_faces})
    for (int threads = 1; threads < 12; ++threads) {
      comm::FaceMask together = 0;
      bool twice = false;
      for (int thread = 0; thread < threads; ++thread) {
        const comm::FaceMask share = comm::share_of(faces, thread, threads);
        twice = twice || (together & share) != 0;
        together |= share;
      }
      CHECK(together == faces);
      CHECK(!twice);
    }
}
