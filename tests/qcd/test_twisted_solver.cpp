// SPDX-License-Identifier: Apache-2.0
//
// The one call D x = b with a twisted mass: every method reaches what it reports, by the plain operator and gamma5.

#include <doctest/doctest.h>

#include <algorithm>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/eigenvalues.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 4, 6, 4};
constexpr std::int64_t volume = 4 * 4 * 6 * 4;

/// (D + i mu gamma5) x by the plain operator.
Numbers plain(std::span<const std::complex<double>> links, const TwistedCloverAction& action, const Numbers& x) {
  test::ReferenceParameters reference;
  reference.mass = action.wilson.mass;
  reference.csw = action.wilson.csw;
  Numbers out = test::ReferenceOperator(extents, links, reference).apply(x);
  for (std::size_t i = 0; i < x.size(); ++i)
    out[i] += std::complex<double>(0, (i / 3) % 4 < 2 ? action.mu : -action.mu) * x[i];
  return out;
}

}  // namespace

TEST_CASE("twisted solver: every method, precision and form reaches the residual that it reports") {
  const auto links = test::random_links(volume, 1);
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), links);
  const auto b = test::random_numbers(volume * 12, 2);
  for (const TwistedCloverAction& action :
       {TwistedCloverAction{{.mass = 0.2, .csw = 1.0}, 0.5}, TwistedCloverAction{{.mass = 0.1}, -0.3}})
    for (const char* kind : {"auto", "bicgstab", "cg", "gcr", "fgmres"})
      for (const char* precision : {"mixed", "double"})
        for (const bool even_odd : {true, false}) {
          CAPTURE(kind);
          CAPTURE(precision);
          CAPTURE(even_odd);
          SolverParameters parameters;
          parameters.kind = kind;
          parameters.precision = precision;
          parameters.even_odd = even_odd;
          parameters.schur = action.mu > 0 ? "symmetric" : "asymmetric";
          parameters.tolerance = 1e-11;
          QuarkSolver solver(gauge, action, parameters);
          Numbers x(b.size());
          const SolveReport report = solver.solve(x, b);
          CHECK(report.converged);
          CHECK(report.residual <= 1e-11);
          CHECK(std::abs(test::relative_distance(plain(links, action, x), b) - report.residual) < 1e-14);
        }
}

TEST_CASE("twisted solver: auto tries bicgstab and multigrid, and schwarz is refused") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 3));
  const TwistedCloverAction action{{.mass = 0.2, .csw = 1.0}, 0.5};
  QuarkSolver solver(gauge, action);
  const auto b = test::random_numbers(volume * 12, 4);
  Numbers x(b.size());
  const auto report = solver.solve(x, b);
  // One right-hand side of a heavy quark pays for no set-up.
  CHECK(report.method == "even-odd bicgstab, mixed precision");
  const auto said = [&](const char* text) {
    return std::ranges::any_of(report.notes, [&](const SolveNote& note) {
      return note.kind == SolveNote::Kind::choice && note.text.find(text) != std::string::npos;
    });
  };
  CHECK(said("knows Wilson and Wilson-clover quarks only, and mu is 0.5"));
  CHECK(said("; bicgstab is used"));
  REQUIRE(solver.trials().size() == 1);
  CHECK(solver.trials()[0].schwarz_seconds == 0);
  // The choice of an earlier run, without a trial.
  SolverParameters given;
  given.choice = "multigrid";
  given.multigrid.vectors = 8;
  given.multigrid.aggregate = {2, 2, 2, 2};
  const auto chosen = QuarkSolver(gauge, action, given).solve(x, b);
  CHECK(chosen.converged);
  CHECK(chosen.method.find("multigrid (") == 0);
  SolverParameters schwarz;
  schwarz.kind = "schwarz";
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, action, schwarz), doctest::Contains("give the solver \"auto\""),
                       core::InvalidArgument);
  CHECK_THROWS_WITH_AS(low_eigenvalues(gauge, action), doctest::Contains("not hermitian with mu = 0.5"),
                       core::InvalidArgument);
}

TEST_CASE("twisted solver: with mu = 0 solutions are those of Wilson-clover quarks to the bit") {
  const GaugeField gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 5));
  const WilsonCloverAction wilson{.mass = 0.2, .csw = 1.0};
  const auto b = test::random_numbers(volume * 12, 6);
  for (const char* kind : {"bicgstab", "schwarz"}) {
    SolverParameters parameters;
    parameters.kind = kind;
    parameters.schwarz.blocks = {2, 1, 1, 1};
    QuarkSolver one(gauge, wilson, parameters), other(gauge, TwistedCloverAction{wilson, 0.0}, parameters);
    Numbers x(b.size()), y(b.size());
    one.solve(x, b);
    other.solve(y, b);
    CHECK(x == y);
  }
}

}  // namespace halocline::qcd
