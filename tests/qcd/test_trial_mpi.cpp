// SPDX-License-Identifier: Apache-2.0
//
// The trial of "auto" on several ranks, where Schwarz is a candidate: one choice for all, and the bits of the chosen
// method.

#include <doctest/doctest.h>

#include <array>
#include <span>

#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/first_rank.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

constexpr lattice::Coordinates<4> extents{4, 4, 6, 8}, least{2, 2, 2, 2};
const WilsonCloverAction action{.mass = 0.1, .csw = 1.0};

std::shared_ptr<const lattice::Geometry4> on_ranks() {
  const auto world = comm::world();
  const auto grids = comm::possible_grids(extents, world.size(), least);
  REQUIRE(!grids.empty());
  return std::make_shared<const lattice::Geometry4>(extents, comm::ProcessGrid(world, grids[0]));
}

}  // namespace

TEST_CASE("trial on ranks: all choose the same method, and their solution has its bits") {
  const auto world = comm::world();
  const auto geometry = on_ranks();
  const GaugeField u = gauge::weak_links(geometry, 0.4, 3);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  for (const bool tried_before : {false, true}) {
    CAPTURE(tried_before);
    std::vector<std::complex<double>> x(b.size()), named(b.size());
    SolverParameters parameters;
    QuarkSolver solver(u, action, parameters);
    const std::array<std::span<const std::complex<double>>, 1> sources{b};
    if (tried_before) CHECK(solver.choose(sources).has_value());
    const auto report = solver.solve(x, b);
    CHECK(report.converged);
    REQUIRE(solver.trials().size() == 1);
    const Trial trial = solver.trials()[0];
    const bool several = world.size() > 1;
    CHECK((trial.schwarz_seconds > 0) == several);
    CHECK((report.notes.at(0).text.find(", schwarz ") != std::string::npos) == several);
    std::array<double, 2> seconds{trial.bicgstab_seconds, trial.schwarz_seconds}, most = seconds;
    world.max(most);
    CHECK(seconds == most);  // so is all that follows from them
    parameters.kind = trial.chosen;
    const auto by_name = QuarkSolver(u, action, parameters).solve(named, b);
    CHECK(x == named);
    CHECK(report.iterations == by_name.iterations);
  }
}

TEST_CASE("trial on ranks: domains that do not fit leave Schwarz out, and this is said") {
  const auto world = comm::world();
  const auto geometry = on_ranks();
  const GaugeField u = gauge::weak_links(geometry, 0.4, 3);
  const auto b = test::local_part(*geometry, test::random_numbers(12 * geometry->global_volume(), 4), 12);
  std::vector<std::complex<double>> x(b.size());
  SolverParameters parameters;
  parameters.schwarz.blocks = {1, 5, 1, 1};
  QuarkSolver solver(u, action, parameters);
  const auto report = solver.solve(x, b);
  CHECK(report.converged);
  bool said = false;
  for (const auto& note : report.notes) said = said || note.text.find("Schwarz does not fit") != std::string::npos;
  CHECK(said == (world.size() > 1));
  parameters.kind = "schwarz";
  CHECK_THROWS_AS(QuarkSolver(u, action, parameters), core::InvalidArgument);
}

}  // namespace halocline::qcd
