// SPDX-License-Identifier: Apache-2.0
/// @file
/// Iterations of a solver on a simulated machine: real exchanges and sums of comm, with sleep in place of computation.
///
/// A separate program, compiled by SimGrid's smpicxx with the sources of core and comm and started by its smpirun
/// (python/halocline/bench/simulate does both). All ranks are fibers of one process, so there must be no mutable
/// globals, and from_mpi replaces comm::world(), which exists once for each process.
///
/// For each exchange an iteration sleeps for the computation before it, sleeps for posting and the latency of a put
/// (SimGrid's links model hops only), posts and waits. Then come the sums. An axis with one direction alternates
/// between upwards and downwards. The printed times are simulated seconds, the same in every run.
///
///   weak grid=6,12,6,4 bytes=3456,9216,13824,18432 directions=1,2,2,2 transport=mpi_persistent iterations=3
///        exchanges=20 computation=2e-5 posting=5e-6 latency=5e-7 sums=1,2,3,3

#include <simgrid/actor.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/mpi/mpi.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/core/error.hpp"

namespace {

using namespace halocline;

/// Wall-clock limits are meaningless for a simulated rank that waits.
constexpr double no_limit = 1e9;

struct Case {
  std::vector<int> grid, directions, sums;
  std::vector<std::size_t> bytes;
  std::string transport = "mpi_persistent";
  int iterations = 1, exchanges = 1;
  double computation = 0, posting = 0, latency = 0;  // before each exchange [s]
};

template <class T>
std::vector<T> numbers(const std::string& text) {
  std::vector<T> found;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) found.push_back(static_cast<T>(std::stold(item)));
  return found;
}

Case read(int count, char** arguments) {
  std::map<std::string, std::string> given;
  for (int i = 1; i < count; ++i) {
    const std::string text = arguments[i];
    const std::size_t sign = text.find('=');
    if (sign == std::string::npos) throw core::InvalidArgument("argument " + text + " has no =; give name=value");
    given[text.substr(0, sign)] = text.substr(sign + 1);
  }
  Case c;
  c.grid = numbers<int>(given.at("grid"));
  c.directions = numbers<int>(given.at("directions"));
  c.bytes = numbers<std::size_t>(given.at("bytes"));
  c.sums = numbers<int>(given["sums"]);
  c.transport = given.at("transport");
  c.iterations = std::stoi(given.at("iterations"));
  c.exchanges = std::stoi(given.at("exchanges"));
  c.computation = std::stod(given.at("computation"));
  c.posting = std::stod(given.at("posting"));
  c.latency = std::stod(given.at("latency"));
  if (c.directions.size() != c.grid.size()) throw core::InvalidArgument("give one direction for each axis of the grid");
  return c;
}

comm::FaceMask faces_of(const Case& c, int exchange) {
  comm::FaceMask faces = 0;
  for (int axis = 0; axis < static_cast<int>(c.grid.size()); ++axis) {
    const bool both = c.directions[static_cast<std::size_t>(axis)] == 2;
    if (both || exchange % 2 == 0) faces |= comm::mask_of({axis, +1});
    if (both || exchange % 2 == 1) faces |= comm::mask_of({axis, -1});
  }
  return faces;
}

/// Fills the outgoing messages with numbers that differ from those of the previous exchange.
void fill(comm::HaloExchange& halo, comm::FaceMask faces, int exchange, int ndim) {
  for (int index = 0; index < 2 * ndim; ++index) {
    const comm::Face face = comm::Face::from_index(index);
    if ((faces & comm::mask_of(face)) == 0 || !halo.active(face)) continue;
    const std::span<std::byte> out = halo.send_buffer(face);
    out.front() = out.back() = static_cast<std::byte>((exchange * 16 + index) % 251);
  }
}

/// Checks the arrived messages. A message sent through a face arrives at the opposite one.
void verify(const comm::HaloExchange& halo, comm::FaceMask faces, int exchange, int ndim) {
  for (int index = 0; index < 2 * ndim; ++index) {
    const comm::Face face = comm::Face::from_index(index);
    if ((faces & comm::mask_of(face)) == 0 || !halo.active(face)) continue;
    const std::span<const std::byte> in = halo.recv_buffer(face.opposite());
    const auto expected = static_cast<std::byte>((exchange * 16 + index) % 251);
    if (in.empty() || in.front() != expected || in.back() != expected)
      throw core::Error("a message of exchange " + std::to_string(exchange) + " is not what was sent");
  }
}

struct Spent {
  double total = 0, exchange = 0, sums = 0;  // simulated seconds of this rank
};

/// Makes all ranks return at the same simulated time, which a barrier of messages cannot do. @return that time [s]
double common_start(const comm::Communicator& group) {
  constexpr double notice = 1.0;  // [s] simulated; longer than the ranks need to receive it
  std::array<double, 1> latest{MPI_Wtime()};
  group.max(latest);
  sg_actor_sleep_until(latest[0] + notice);
  return MPI_Wtime();
}

Spent run(const Case& c, const comm::Communicator& group) {
  const comm::ProcessGrid grid(group, c.grid);
  comm::HaloOptions options;
  options.time_limit = no_limit;
  // Never destroyed: the destructor of mpi_persistent cancels receives, and SimGrid 3.32 mishandles the count of a
  // cancelled persistent request. The program ends anyway.
  auto& halo =
      *std::make_unique<comm::HaloExchange>(grid, c.bytes, comm::make_transport(c.transport, grid), options).release();
  comm::ReductionOptions reduction;
  reduction.time_limit = no_limit;
  comm::Reduction sum(group, reduction);

  Spent spent;
  const double begin = common_start(group);
  for (int step = 0; step < c.iterations; ++step) {
    for (int e = 0; e < c.exchanges; ++e) {
      const int number = step * c.exchanges + e;
      const comm::FaceMask faces = faces_of(c, number);
      fill(halo, faces, number, grid.ndim());
      sg_actor_sleep_for(c.computation + c.posting);
      const double posted = MPI_Wtime();
      sg_actor_sleep_for(c.latency);
      halo.post(faces);
      halo.wait_all();
      spent.exchange += MPI_Wtime() - posted;
      verify(halo, faces, number, grid.ndim());
    }
    for (const int elements : c.sums) {
      const double before = MPI_Wtime();
      std::array<double, comm::Reduction::most> values{};
      values.fill(1.0);
      sum.sum(std::span(values).first(static_cast<std::size_t>(elements)));
      spent.sums += MPI_Wtime() - before;
      if (values[0] != group.size()) throw core::Error("a sum over all ranks is " + std::to_string(values[0]));
    }
  }
  spent.total = MPI_Wtime() - begin;
  return spent;
}

void report(const Case& c, const comm::Communicator& group, const Spent& spent) {
  std::array<double, 3> longest{spent.total, spent.exchange, spent.sums};
  group.max(longest);
  if (group.rank() != 0) return;
  std::printf("{\"processes\": %d, \"iteration\": %.9e, \"exchange\": %.9e, \"sums\": %.9e}\n", group.size(),
              longest[0] / c.iterations, longest[1] / (c.iterations * c.exchanges), longest[2] / c.iterations);
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** arguments) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&count, &arguments, MPI_THREAD_SERIALIZED, &level);
  int status = 0;
  try {
    const Case c = read(count, arguments);
    const comm::Communicator group = comm::from_mpi(MPI_COMM_WORLD);
    report(c, group, run(c, group));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    status = 1;
  }
  if (status != 0) MPI_Abort(MPI_COMM_WORLD, status);
  MPI_Finalize();
  return status;
}
