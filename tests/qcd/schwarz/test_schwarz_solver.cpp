// SPDX-License-Identifier: Apache-2.0
//
// The Schwarz-preconditioned solver against the plain operator: every outer solver, domain shape, number of columns.

#include "halocline/qcd/schwarz/schwarz_solver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <limits>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/schwarz/layout_change.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"
#include "qcd/random_fields.hpp"
#include "qcd/reference_operator.hpp"
#include "qcd/schwarz/sample.hpp"

namespace halocline::qcd::schwarz {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{8, 4, 4, 4};
constexpr std::int64_t volume = 8 * 4 * 4 * 4;
const WilsonCloverAction action{.mass = 0.3, .csw = 1.1};

struct System {
  System()
      : links(test::random_links(volume, 1)),
        gauge(GaugeField::from_canonical(test::one_process(extents), links)),
        d(WilsonSetup(gauge, action)) {}

  /// |b - D x| / |b| by the plain loops of the test.
  double residual(const Numbers& x, const Numbers& b) const {
    test::ReferenceParameters reference;
    reference.mass = action.mass;
    reference.csw = action.csw;
    return test::relative_distance(test::ReferenceOperator(extents, links, reference).apply(x), b);
  }

  Numbers links;
  GaugeField gauge;
  WilsonClover<double> d;
};

SpinorField<double> field_of(const System& system, const std::vector<Numbers>& columns) {
  const int count = static_cast<int>(columns.size());
  const WilsonClover<double> d(system.d, count);
  auto field = spinor_field<double>(d.layout(), lattice::Subset::full, count);
  for (int c = 0; c < count; ++c) qcd::from_canonical<double>(field, c, columns[static_cast<std::size_t>(c)]);
  return field;
}

Numbers column(const SpinorField<double>& field, int c) {
  Numbers out(volume * 12);
  qcd::to_canonical<double>(out, field, c);
  return out;
}

}  // namespace

TEST_CASE("schwarz solver: the way to domains and back gives every site its own number") {
  const System system;
  const std::vector<Numbers> b{test::random_numbers(volume * 12, 2), test::random_numbers(volume * 12, 3)};
  const auto tiles = field_of(system, b);
  const std::array factor{1.0, 0.25}, back{1.0, 4.0};
  for (const int lanes : {1, 4, 16}) {
    const auto layout = lattice::DomainLayout::best(tiles.layout().geometry_ptr(), {2, 1, 2, 1}, lanes);
    const LayoutChange change(tiles.layout_ptr(), layout);
    lattice::DomainField<float> domains(layout, 24, 2);
    change.to_domains(domains, tiles, factor);
    // The same as the way through canonical arrays, which is tested on its own.
    lattice::DomainField<float> expected(layout, 24, 2);
    Numbers quarter = b[1];
    for (auto& z : quarter) z *= 0.25;
    from_canonical(expected, 0, b[0]);
    from_canonical(expected, 1, quarter);
    CHECK(std::ranges::equal(domains.span(), expected.span()));
    auto again = field_of(system, {Numbers(volume * 12), Numbers(volume * 12)});
    change.to_tiles(again, domains, back);
    for (int c = 0; c < 2; ++c)
      CHECK(test::relative_distance(column(again, c), b[static_cast<std::size_t>(c)]) <
            std::numeric_limits<float>::epsilon());

    // A field of one parity is zero on the other one, and takes only its own sites back.
    for (const auto subset : {lattice::Subset::even, lattice::Subset::odd}) {
      auto half = spinor_field<float>(tiles.layout_ptr(), subset, 2), returned = half;
      Numbers part(volume * 12);
      qcd::from_canonical(half, 0, b[0]);
      qcd::to_canonical<float>(part, half, 0);
      change.to_domains(domains, half, back);
      lattice::DomainField<float> wanted(layout, 24, 2);
      from_canonical(wanted, 0, part);
      CHECK(std::ranges::equal(domains.span(), wanted.span()));
      from_canonical(domains, 0, b[0]);  // now on all sites
      change.to_tiles(returned, domains, back);
      CHECK(std::ranges::equal(returned.span(), half.span()));
    }
  }
}

TEST_CASE("schwarz solver: every outer solver reaches 1e-13 with every kind of preconditioner" *
          doctest::skip(test::takes_samples)) {
  const System system;
  const auto b = test::random_numbers(volume * 12, 2);
  for (const char* outer : outer_solvers())
    for (const char* inner : {"jacobi", "even-odd", "minres"})
      for (const char* storage : {"float", "half"}) {
        CAPTURE(outer);
        CAPTURE(inner);
        CAPTURE(storage);
        Parameters parameters;
        parameters.inner = inner;
        parameters.storage = storage;
        parameters.nsap = 2;
        SchwarzSolver solver(system.d, system.gauge, action, parameters, outer);
        auto x = field_of(system, {Numbers(volume * 12)});
        const auto source = field_of(system, {b});
        solve::SolveOptions options;
        options.tolerance = 1e-13;
        const auto result = solver.solve(x, source, options);
        CHECK(result.converged());
        CHECK(result.residual[0] <= 1e-13);
        CHECK(result.iterations > 0);
        // The plain loops round by a few epsilon.
        CHECK(std::abs(system.residual(column(x, 0), b) - result.residual[0]) < 3e-15);
      }
}

TEST_CASE("schwarz solver: any domains give the same solution") {
  const System system;
  const auto b = test::random_numbers(volume * 12, 2);
  const auto source = field_of(system, {b});
  solve::SolveOptions options;
  options.tolerance = 1e-12;
  for (const lattice::Coordinates<4>& blocks :
       {lattice::Coordinates<4>{2, 1, 1, 1}, {1, 1, 1, 1}, {2, 2, 2, 2}, {4, 1, 2, 1}, {1, 1, 1, 2}, {0, 0, 0, 0}}) {
    CAPTURE(blocks[0]);
    CAPTURE(blocks[1]);
    CAPTURE(blocks[2]);
    CAPTURE(blocks[3]);
    Parameters parameters;
    parameters.blocks = blocks;
    SchwarzSolver solver(system.d, system.gauge, action, parameters);
    auto x = field_of(system, {Numbers(volume * 12)});
    CHECK(solver.solve(x, source, options).converged());
    CHECK(system.residual(column(x, 0), b) < 1.01e-12);
  }
}

TEST_CASE("schwarz solver: columns converge each for itself" * doctest::skip(test::takes_samples)) {
  const System system;
  std::vector<Numbers> b{test::random_numbers(volume * 12, 2), Numbers(volume * 12),
                         test::random_numbers(volume * 12, 3), Numbers(volume * 12)};
  for (auto& z : b[2]) z *= 1e-120;
  b[3][17] = 1.0;
  const WilsonClover<double> d(system.d, 4);
  SchwarzSolver solver(d, system.gauge, action, {}, "bicgstab", 4);
  auto x = field_of(system, b);
  const auto source = field_of(system, b);
  solve::SolveOptions options;
  options.column_tolerance = {1e-12, 1e-12, 1e-5, 1e-9};
  const auto result = solver.solve(x, source, options);
  CHECK(result.converged());
  CHECK(result.column_iterations[1] == 0);
  CHECK(result.column_iterations[2] < result.column_iterations[0]);
  CHECK(column(x, 1) == b[1]);
  for (const int c : {0, 2, 3}) {
    const auto at = static_cast<std::size_t>(c);
    CHECK(result.residual[at] <= options.column_tolerance[at]);
    CHECK(system.residual(column(x, c), b[at]) < 1.01 * options.column_tolerance[at]);
  }
}

TEST_CASE("schwarz solver: a limit, a cancellation, NaN, and what no double reaches are named" *
          doctest::skip(test::takes_samples)) {
  const System system;
  auto b = test::random_numbers(volume * 12, 2);
  for (const char* outer : outer_solvers()) {
    CAPTURE(outer);
    SchwarzSolver solver(system.d, system.gauge, action, {}, outer);
    auto x = field_of(system, {Numbers(volume * 12)});
    const auto source = field_of(system, {b});
    solve::SolveOptions options;
    options.max_iterations = 1;
    CHECK(solver.solve(x, source, options).reason == solve::Reason::iteration_limit);
    options = {};
    options.progress = [](int, double) { return false; };
    CHECK(solver.solve(x, source, options).reason == solve::Reason::cancelled);
    options = {};
    options.tolerance = 1e-18;
    const auto result = solver.solve(x, source, options);
    CHECK(result.reason == solve::Reason::stagnation);
    CHECK(result.residual[0] < 1e-14);
    auto poisoned = b;
    poisoned[3] = std::numeric_limits<double>::quiet_NaN();
    CHECK(solver.solve(x, field_of(system, {poisoned}), {}).reason == solve::Reason::not_finite);
  }
}

TEST_CASE("schwarz solver: what cannot work is refused with what would") {
  const System system;
  CHECK_THROWS_WITH_AS(SchwarzSolver(system.d, system.gauge, action, {}, "richardson"),
                       doctest::Contains("defect_correction"), core::InvalidArgument);
  SchwarzSolver solver(system.d, system.gauge, action, {});
  auto x = field_of(system, {Numbers(volume * 12), Numbers(volume * 12)});
  const auto b = x;
  CHECK_THROWS_WITH_AS(solver.solve(x, b, {}), doctest::Contains("1 columns"), core::InvalidArgument);
}

}  // namespace halocline::qcd::schwarz
