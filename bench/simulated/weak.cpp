// SPDX-License-Identifier: Apache-2.0
/// @file
/// Iterations of a solver on a simulated machine: real exchanges and sums of comm, with sleep in place of computation.
///
/// For each exchange an iteration sleeps for the computation before it, sleeps for posting and the latency of a put
/// (SimGrid's links model hops only), posts and waits. Then come the sums. An axis with one direction alternates
/// between upwards and downwards. The printed times are simulated seconds, the same in every run.
///
///   weak grid=6,12,6,4 bytes=3456,9216,13824,18432 directions=1,2,2,2 transport=mpi_persistent iterations=3
///        exchanges=20 computation=2e-5 posting=5e-6 latency=5e-7 sums=1,2,3,3

#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/simulated/program.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/sums/reduction.hpp"

namespace {

using namespace halocline;
using namespace halocline::bench::simulated;

struct Case {
  std::vector<int> grid, directions, sums;
  std::vector<std::size_t> bytes;
  std::string transport = "mpi_persistent";
  int iterations = 1, exchanges = 1;
  double computation = 0, posting = 0, latency = 0;  // before each exchange [s]
};

Case read(const Arguments& given) {
  Case c;
  c.grid = given.list<int>("grid");
  c.directions = given.list<int>("directions");
  c.bytes = given.list<std::size_t>("bytes");
  c.sums = given.list<int>("sums");
  c.transport = given.text("transport");
  c.iterations = given.count("iterations");
  c.exchanges = given.count("exchanges");
  c.computation = given.number("computation");
  c.posting = given.number("posting");
  c.latency = given.number("latency");
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

struct Spent {
  double total = 0, exchange = 0, sums = 0;  // simulated seconds of this rank
};

Spent run(const Case& c, const comm::Communicator& group) {
  const comm::ProcessGrid grid(group, c.grid);
  comm::HaloExchange& halo = make_exchange(grid, c.bytes, c.transport);
  comm::ReductionOptions reduction;
  reduction.time_limit = no_limit;
  comm::Reduction sum(group, reduction);

  Spent spent;
  const double begin = common_start(group);
  for (int step = 0; step < c.iterations; ++step) {
    for (int e = 0; e < c.exchanges; ++e) {
      const int number = step * c.exchanges + e;
      const comm::FaceMask faces = faces_of(c, number);
      fill(halo, faces, number);
      sg_actor_sleep_for(c.computation + c.posting);
      const double posted = MPI_Wtime();
      sg_actor_sleep_for(c.latency);
      halo.post(faces);
      halo.wait_all();
      spent.exchange += MPI_Wtime() - posted;
      verify(halo, faces, number);
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
  return run_program(count, arguments, [](const Arguments& given, const comm::Communicator& group) {
    const Case c = read(given);
    report(c, group, run(c, group));
  });
}
