// SPDX-License-Identifier: Apache-2.0
//
// The C interface of qcd where ranks disagree about the call itself, where one of them has no memory, and where a
// solver cannot take what it is given: the same status on every rank, and the next call works.

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "halocline/qcd/bindings/handles.hpp"
#include "qcd/bindings/c_lattice.hpp"

using namespace halocline;
using test::CLattice;
using test::CSolver;
using test::last_error_says;
using test::on_last_rank;
using test::refused;

namespace {

std::vector<double> solution_of(halocline_solver* solver, const std::vector<double>& b) {
  std::vector<double> x(b.size());
  void* to = x.data();
  const void* from = b.data();
  REQUIRE_MESSAGE(halocline_solver_solve(solver, nullptr, 1, &to, &from, b.size(), nullptr, nullptr) == HALOCLINE_OK,
                  halocline_last_error());
  return x;
}

}  // namespace

TEST_CASE("c qcd: ranks that call different functions, or give different objects, are told so") {
  if (comm::world().size() == 1) return;
  const CLattice on(comm::world()), twin(comm::world());
  const CSolver first(on, on.action()), second(on, on.action());
  const bool mine = on_last_rank();
  const std::string words = "gave other values than rank 0, or made another call";
  const auto b = on.numbers(24, 3);
  std::vector<double> x(b.size());
  double plaquette = 0;
  const auto apply = [&](halocline_solver* solver) {
    return halocline_solver_apply(solver, "D", nullptr, x.data(), b.data(), b.size());
  };
  refused(mine ? halocline_gauge_plaquette(on.gauge, &plaquette) : apply(first), words);
  refused(apply(mine ? first : second), words);
  refused(halocline_solver_refresh(mine ? first : second, on.gauge, nullptr), words);
  refused(halocline_gauge_plaquette(mine ? on.gauge : twin.gauge, &plaquette), words);
  refused(halocline_lattice_set_time_limit(on.lattice, mine ? 100 : 200), words);
  CHECK(apply(first) == HALOCLINE_OK);
  CHECK(apply(second) == HALOCLINE_OK);
}

TEST_CASE("c qcd: a rank without memory for its arrays is a status on every rank, and the next call works") {
  const CLattice on(comm::world());
  bool acted = false;
  const int status = qcd::bindings::collective(
      *on.lattice->context, "halocline_test",
      [&](qcd::bindings::Digest&) {
        if (on_last_rank()) throw std::bad_alloc();
      },
      [&] { acted = true; });
  CHECK(status == HALOCLINE_OUT_OF_MEMORY);
  CHECK(last_error_says("halocline_test: rank " + std::to_string(comm::world().size() - 1) + " has no memory for it"));
  CHECK_FALSE(acted);
  double plaquette = 0;
  CHECK(halocline_gauge_plaquette(on.gauge, &plaquette) == HALOCLINE_OK);
}

TEST_CASE("c qcd: a refused refresh leaves the solver with its old links and action, to the last bit") {
  const CLattice on(comm::world());
  halocline_gauge* other = nullptr;
  REQUIRE(halocline_gauge_create(on.lattice, &other) == HALOCLINE_OK);
  REQUIRE(halocline_gauge_start(other, "weak", 0.3, 8) == HALOCLINE_OK);
  const auto b = on.numbers(24, 4);
  for (const char* kind : {"schwarz", "bicgstab"}) {
    CAPTURE(kind);
    const CSolver solver(on, on.action(), CLattice::parameters(kind));
    const auto before = solution_of(solver, b);
    auto twisted = on.action("twisted-clover");
    twisted.mu = 0.1;
    refused(halocline_solver_refresh(solver, other, &twisted), "of another kind");
    CHECK(solution_of(solver, b) == before);
    auto impossible = on.action();
    impossible.mass = std::numeric_limits<double>::quiet_NaN();
    refused(halocline_solver_refresh(solver, other, &impossible), "mass");
    CHECK(solution_of(solver, b) == before);
    REQUIRE(halocline_solver_refresh(solver, other, nullptr) == HALOCLINE_OK);
    CHECK(solution_of(solver, b) != before);
  }
  halocline_gauge_destroy(other);
}

TEST_CASE("c qcd: communication can be set, and settings that nobody knows are refused") {
  const comm::Communicator part = comm::world().split(0, comm::world().rank());  // settings are those of a family
  const CLattice on(part);
  const auto b = on.numbers(24, 5);
  const auto usual = solution_of(CSolver(on, on.action()), b);
  const bool mine = on_last_rank();
  refused(halocline_lattice_set_communication(on.lattice, "", 2, 0, mine ? "sometimes" : "", nullptr), "sometimes");
  refused(halocline_lattice_set_communication(on.lattice, mine ? "pigeon" : "", 2, 0, "", nullptr),
          comm::world().size() == 1 ? "pigeon" : "");
  CHECK(halocline_lattice_set_communication(on.lattice, "", 3, 0, "", nullptr) == HALOCLINE_INVALID_ARGUMENT);
  REQUIRE_MESSAGE(halocline_lattice_set_communication(on.lattice, nullptr, 1, 0, "ordered", nullptr) == HALOCLINE_OK,
                  halocline_last_error());
  CHECK(solution_of(CSolver(on, on.action()), b) == usual);
  REQUIRE(halocline_lattice_set_communication(on.lattice, nullptr, 2, 0, nullptr, nullptr) == HALOCLINE_OK);
}

TEST_CASE("c qcd: arrays that overlap, and lattices with more sites than can be counted, are refused") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  const std::size_t count = 24 * on.sites;
  std::vector<double> room(3 * count);
  const std::array<void*, 2> to{room.data(), room.data() + 2 * count};
  std::array<const void*, 2> from{room.data() + count, room.data() + count};
  CHECK(halocline_solver_solve(solver, nullptr, 2, to.data(), from.data(), count, nullptr, nullptr) == HALOCLINE_OK);
  from[1] = room.data() + count - 2;
  refused(halocline_solver_solve(solver, nullptr, 2, to.data(), from.data(), count, nullptr, nullptr),
          "solution 0 has the memory of source 1, or a part of it");
  refused(halocline_solver_apply(solver, "D", nullptr, room.data() + 2, room.data(), count), "shares memory with it");
  halocline_communicator group{comm::world()};
  halocline_lattice* lattice = nullptr;
  const std::array<std::int64_t, 4> huge{65536, 65536, 65536, 65536};
  refused(halocline_lattice_create(&group, huge.data(), nullptr, nullptr, &lattice), "1099511627776 sites");
}

TEST_CASE("c qcd: reports of a solver cannot be read while it solves") {
  const CLattice on(comm::world());
  const CSolver solver(on, on.action());
  const auto b = on.numbers(24, 6);
  std::vector<double> x(b.size());
  void* to = x.data();
  const void* from = b.data();
  struct Inner {
    halocline_solver* solver;
    int status = HALOCLINE_OK;
  } inner{solver};
  const auto progress = [](void* data, int, double) {
    auto& mine = *static_cast<Inner*>(data);
    halocline_report report;
    halocline_report_init(&report, sizeof report);
    mine.status = halocline_solver_report(mine.solver, 0, &report);
    return 0;
  };
  REQUIRE(halocline_solver_solve(solver, nullptr, 1, &to, &from, b.size(), progress, &inner) == HALOCLINE_OK);
  CHECK(inner.status == HALOCLINE_INVALID_ARGUMENT);
  halocline_report report;
  REQUIRE(halocline_report_init(&report, sizeof report) == HALOCLINE_OK);
  CHECK(halocline_solver_report(solver, 0, &report) == HALOCLINE_OK);
  int columns = 0;
  std::size_t count = 0;
  const std::array<std::int64_t, 4> origin{0, 0, 0, 0};
  halocline_propagator* propagator = nullptr;
  REQUIRE(halocline_propagator_create(on.lattice, origin.data(), 1, &propagator) == HALOCLINE_OK);
  REQUIRE(halocline_propagator_count(propagator, &columns, &count) == HALOCLINE_OK);
  CHECK(columns == 3);
  CHECK(count == 6 * on.sites);
  halocline_propagator_destroy(propagator);
}
