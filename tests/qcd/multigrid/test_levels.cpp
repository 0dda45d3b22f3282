// SPDX-License-Identifier: Apache-2.0
//
// Three levels: the solutions of BiCGStab in about the cycles of two levels, from the same stored vectors to the same
// bits, with or without parities on the coarse lattices.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/multigrid/detail/hierarchy.hpp"
#include "halocline/qcd/multigrid/multigrid.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd::multigrid {
namespace {

using Numbers = std::vector<std::complex<double>>;
constexpr WilsonCloverAction action{.mass = -0.05, .csw = 1.0};

Parameters small(int levels) {
  Parameters p;
  p.vectors = 8;
  p.aggregate = {2, 2, 2, 2};
  p.levels = levels;
  p.setup_iterations = 1;
  return p;
}

struct Solved {
  Numbers x;
  SolveReport report;
};

Solved solved(const GaugeField& u, const SolverParameters& parameters, const Numbers& b) {
  QuarkSolver solver(u, action, parameters);
  Solved out{Numbers(b.size()), {}};
  out.report = solver.solve(out.x, b);
  return out;
}

std::vector<lattice::Coordinates<4>> coarse_extents(const lattice::Coordinates<4>& fine, const Parameters& p) {
  std::vector<lattice::Coordinates<4>> out;
  for (const auto& shape : level_shapes(*test::one_process(fine), p)) out.push_back(shape.global);
  return out;
}

}  // namespace

TEST_CASE("multigrid levels: three of them solve what BiCGStab solves, in the cycles of two") {
  const GaugeField u = test::thermal_links();
  const Numbers b = test::random_numbers(12 * u.geometry().local_volume(), 4);
  SolverParameters parameters;
  parameters.kind = "bicgstab";
  const auto plain = solved(u, parameters, b);
  parameters.kind = "multigrid";
  parameters.multigrid = small(2);
  const auto two = solved(u, parameters, b);
  CHECK(test::relative_distance(two.x, plain.x) < 1e-8);
  for (const auto& [cycle, storage] : {std::pair{"K", "half"}, std::pair{"V", "float"}}) {
    CAPTURE(cycle);
    CAPTURE(storage);
    parameters.multigrid = small(3);
    parameters.multigrid.cycle = cycle;
    parameters.multigrid.storage = storage;
    const auto three = solved(u, parameters, b);
    CHECK(three.report.converged);
    CHECK(three.report.residual <= 1e-10);
    CHECK(test::relative_distance(three.x, plain.x) < 1e-8);
    // A V cycle solves the coarse system less well.
    CHECK(three.report.iterations <= two.report.iterations + (cycle[0] == 'K' ? 2 : 8));
  }
}

TEST_CASE("multigrid levels: coarse lattices without parities, fewer vectors, other aggregates") {
  GaugeField u = gauge::random_links(test::one_process({12, 8, 8, 8}), 5);
  for (std::uint64_t sweep = 0; sweep < 15; ++sweep) gauge::heatbath_sweep(u, {.beta = 6.0, .seed = 5}, sweep);
  gauge::smear_stout(u, {.rho = 0.1, .steps = 3});
  const Numbers b = test::random_numbers(12 * u.geometry().local_volume(), 4);
  SolverParameters parameters;
  parameters.kind = "bicgstab";
  const auto plain = solved(u, parameters, b);
  parameters.kind = "multigrid";
  parameters.multigrid = small(2);
  parameters.multigrid.vectors = 16;
  parameters.multigrid.aggregate = {4, 2, 4, 4};
  const auto two = solved(u, parameters, b);  // 3 x 4 x 2 x 2 coarse sites, deflated on the whole lattice
  CHECK(test::relative_distance(two.x, plain.x) < 1e-8);
  parameters.multigrid.levels = 3;
  parameters.multigrid.coarse_vectors = 8;
  for (const lattice::Coordinates<4>& size : {Parameters{}.coarse_aggregate, lattice::Coordinates<4>{1, 4, 2, 1}}) {
    parameters.multigrid.coarse_aggregate = size;
    const auto three = solved(u, parameters, b);
    CHECK(test::relative_distance(three.x, plain.x) < 1e-8);
    CHECK(three.report.iterations <= two.report.iterations + 2);
  }
}

TEST_CASE("multigrid levels: a set-up from stored vectors makes all of them again, to the bit") {
  const GaugeField u = test::thermal_links();
  const Setup made(u, action, small(3));
  CHECK(made.levels() == 3);
  CHECK(made.bytes() <= Setup::predicted_bytes(u.geometry(), small(3), 1));
  CHECK(made.bytes() > Setup(u, action, small(2), made.stored()).bytes() / 2);
  const auto image = [](const Setup& setup) {
    Multigrid cycle(setup, 1);
    auto in = cycle.smoother().create(), out = cycle.smoother().create();
    for (std::int64_t i = 0; i < in.size(); ++i) in.data()[i] = static_cast<float>((i * 7919) % 1009) / 1009.f - 0.5f;
    cycle.precondition(out, in);
    CHECK(cycle.coarse_iterations().size() == 2);
    CHECK(cycle.coarse_iterations()[0] > 0);
    CHECK(cycle.coarse_iterations()[1] >= cycle.coarse_iterations()[0]);
    return std::vector<float>(out.span().begin(), out.span().end());
  };
  const auto before = image(made);
  CHECK(image(Setup(u, action, small(3), made.stored())) == before);
  CHECK(image(made.refreshed(u, action)) == before);
}

TEST_CASE("multigrid levels: as many as the lattice needs, and no more than it has") {
  Parameters p;
  using Extents = std::vector<lattice::Coordinates<4>>;
  CHECK(coarse_extents({8, 8, 16, 16}, p) == Extents{{2, 2, 4, 4}});
  CHECK(coarse_extents({16, 16, 16, 16}, p) == Extents{{4, 4, 4, 4}, {2, 2, 2, 2}});
  CHECK(coarse_extents({24, 24, 24, 24}, p) == Extents{{6, 6, 6, 6}, {2, 2, 2, 2}});
  CHECK(coarse_extents({48, 48, 48, 48}, p) == Extents{{12, 12, 12, 12}, {6, 6, 6, 6}, {2, 2, 2, 2}});
  p.levels = 2;
  CHECK(coarse_extents({24, 24, 24, 24}, p) == Extents{{6, 6, 6, 6}});
  p.levels = 5;
  // An axis of three sites becomes one site.
  CHECK(coarse_extents({12, 8, 8, 8}, p) == Extents{{3, 2, 2, 2}, {1, 1, 1, 1}});
  CHECK(coarse_extents({4, 4, 4, 4}, p) == Extents{{1, 1, 1, 1}});
}

TEST_CASE("multigrid levels: what cannot be is refused with a sentence") {
  const auto refused = [](auto change) {
    Parameters p;
    change(p);
    try {
      p.validate();
    } catch (const core::InvalidArgument& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refused([](auto& p) { p.levels = 1; }).find("give 2 to 8") != std::string::npos);
  CHECK(refused([](auto& p) { p.cycle = "W"; }).find("K, V") != std::string::npos);
  CHECK(refused([](auto& p) { p.coarse_vectors = 32; }).find("up to the 24") != std::string::npos);
  CHECK(refused([](auto& p) { p.coarse_vectors = 12; }).find("multiple of 8") != std::string::npos);
  CHECK(refused([](auto& p) { p.coarse_aggregate = {2, 0, 2, 2}; }).find("coarse aggregates of 0 sites along y") !=
        std::string::npos);
  CHECK(refused([](auto& p) { p.gather_below = 0; }).find("or 1 to gather none") != std::string::npos);
  CHECK(refused([](auto& p) { p.coarse_smoother_steps = 0; }).find("1 to 100") != std::string::npos);
}

}  // namespace halocline::qcd::multigrid
