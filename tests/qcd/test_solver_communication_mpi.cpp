// SPDX-License-Identifier: Apache-2.0
//
// Solvers under every setting of comm::SolverCommunication: the messages and their order change, the solutions do not.

#include <doctest/doctest.h>
#include <omp.h>

#include <limits>
#include <string>
#include <vector>

#include "halocline/comm/exchange/transport.hpp"
#include "halocline/comm/group/solver_communication.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd {
namespace {

using test::Vector;

constexpr lattice::Coordinates<4> extents{8, 4, 8, 12};

/// Uses this many threads, and then as many as before.
class Threads {
public:
  explicit Threads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~Threads() { omp_set_num_threads(before_); }

private:
  int before_;
};

/// Every transport of this grid with one and two buffers, one and all posters, and the default first.
std::vector<comm::SolverCommunication> settings_for(const comm::ProcessGrid& grid) {
  std::vector<comm::SolverCommunication> all(1);
  for (const auto& transport : comm::available_transports()) {
    if (transport.name == "openshmem" || !comm::transport_unavailable_reason(transport.name, grid).empty()) continue;
    for (const int buffers : {1, 2})
      for (const bool posting : {false, true})
        if (buffers == 1 || posting)
          all.push_back({.transport = transport.name, .buffers = buffers, .posting_by_all = posting});
  }
  return all;
}

}  // namespace

TEST_CASE("solvers: one buffer or two, one poster or all, over every transport: the same bits") {
  const auto world = comm::world();
  const test::RoughLattice rough(extents, 5);
  const lattice::Coordinates<4> multiple{2, 1, 1, 1};
  const auto geometry = std::make_shared<const lattice::Geometry4>(
      extents, comm::ProcessGrid(world, comm::least_surface_grid(extents, world.size(), multiple)));
  const GaugeField gauge = rough.gauge(geometry);
  const Vector source = test::local_part(*geometry, rough.psi, 12);
  const Vector one_spin = test::local_part(*geometry, test::random_numbers(lattice::product<4>(extents) * 3, 6), 3);
  const Threads three(3);  // also more threads than faces where a single axis is divided

  struct Case {
    std::string name;
    Action action;
    SolverParameters parameters;
    const Vector* source;
  };
  std::vector<Case> cases;
  const WilsonCloverAction wilson{.mass = 0.6, .csw = 1.0};
  cases.push_back({"bicgstab", wilson, {.kind = "bicgstab"}, &source});
  // Domains of each colour in turn to threads, and tiles shared by all threads.
  for (const lattice::Coordinates<4>& blocks : {lattice::Coordinates<4>{2, 1, 1, 1}, {1, 2, 1, 2}}) {
    Case schwarz{"schwarz", wilson, {.kind = "schwarz"}, &source};
    schwarz.parameters.schwarz.blocks = blocks;
    bool fits = true;
    for (int axis = 0; axis < 4; ++axis) fits = fits && geometry->local()[axis] % blocks[axis] == 0;
    if (fits) cases.push_back(schwarz);
  }
  Case multigrid{"multigrid", wilson, {.kind = "multigrid"}, &source};
  multigrid.parameters.multigrid.vectors = 8;
  multigrid.parameters.multigrid.aggregate = {2, 2, 2, 2};
  cases.push_back(multigrid);
  cases.push_back({"staggered", StaggeredAction{.mass = 0.8}, {.kind = "cg"}, &one_spin});
  for (const Case& c : cases) {
    CAPTURE(c.name);
    Vector expected;
    for (const auto& settings : settings_for(geometry->grid())) {
      CAPTURE(settings.transport);
      CAPTURE(settings.buffers);
      CAPTURE(settings.posting_by_all);
      comm::set_solver_communication(world, settings);
      QuarkSolver solver(gauge, c.action, c.parameters);
      Vector solution(c.source->size());
      CHECK(solver.solve(solution, *c.source).converged);
      if (expected.empty()) expected = solution;
      CHECK(solution == expected);
    }
    for (const char* sums : {"mpi", "mpi-split", "auto"}) {
      CAPTURE(sums);
      comm::set_solver_communication(world, {.sums = sums});
      QuarkSolver solver(gauge, c.action, c.parameters);
      Vector solution(c.source->size());
      CHECK(solver.solve(solution, *c.source).converged);
      // Both solve to 1e-10; the condition number here is below 100.
      CHECK(test::relative_distance(solution, expected) < 1e-8);
    }
  }
  comm::set_solver_communication(world, {});
}

}  // namespace halocline::qcd
