// SPDX-License-Identifier: Apache-2.0
//
// Multigrid with a twisted mass: the term on either lattice against its definition, solutions against those of
// conjugate gradients, the adjoint system, and mu = 0.

#include <doctest/doctest.h>

#include "halocline/qcd/multigrid/multigrid_solver.hpp"
#include "halocline/qcd/multigrid/twist.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/multigrid/coarse_sample.hpp"
#include "qcd/multigrid/coarse_schur_sample.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd::multigrid {
namespace {

using test::CoarseSample;
using test::Vector;

/// Sums of some hundred terms in float.
constexpr double single = 2e-6;
/// Test vectors and blocks are rounded to 11 bits.
constexpr double half = 2e-3;

template <class S>
constexpr double accuracy = std::is_same_v<S, float> ? single : half;

WilsonCloverAction rough_action(bool with_clover) {
  auto action = test::every_term();
  if (!with_clover) action.csw = 0, action.csw_t = 0.0;
  return action;
}

/// A quark that is light on thermal_links(), where its BiCGStab takes some hundred iterations.
constexpr WilsonCloverAction light{.mass = -0.13, .csw = 1.0};

Parameters small() {
  Parameters p;
  p.vectors = 8;
  return p;
}

}  // namespace

TEST_CASE("twisted multigrid: the term of the fine lattice is i mu A^-1 gamma5") {
  for (const bool with_clover : {true, false})
    for (const double mu : {0.3, -0.2}) {
      CAPTURE(with_clover);
      CAPTURE(mu);
      const test::RoughLattice rough({4, 4, 6, 4});
      const auto gauge = rough.gauge(test::one_process(rough.extents));
      const auto action = rough_action(with_clover);
      const auto parameters = test::schwarz_parameters({2, 1, 1, 2});
      const schwarz::Matrix matrix(gauge, action, parameters);
      schwarz::Schwarz fast(matrix, 2);
      const schwarz::Reference reference(gauge, action, parameters);
      auto in = fast.create(), out = fast.create();
      schwarz::from_canonical(in, 1, rough.psi);
      Twist(matrix, mu).add(out, in);
      Vector expected = reference.multiply_inverse_clover(rough.psi), found(rough.psi.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] *= std::complex<double>(0, (i / 3) % 4 < 2 ? mu : -mu);
      schwarz::to_canonical(found, out, 1);
      CHECK(test::relative_distance(found, expected) < single);
      // It adds, and nothing for mu = 0.
      Twist(matrix, -mu).add(out, in);
      schwarz::to_canonical(found, out, 1);
      for (const auto& number : found) REQUIRE(std::abs(number) < 1e-6);
      Twist(matrix, mu).add(out, in);
      const auto before = out;
      Twist(matrix, 0).add(out, in);
      CHECK(std::ranges::equal(out.span(), before.span()));
      Vector zeros(rough.psi.size());
      schwarz::to_canonical(found, out, 0);
      CHECK(found == zeros);  // the other column
    }
}

TEST_CASE_TEMPLATE("twisted coarse level: D_c(mu) = R D(mu) P, and its adjoint and Schur complement", S, float,
                   core::Half) {
  for (const bool with_clover : {true, false})
    for (const double mu : {0.3, -0.2}) {
      CAPTURE(with_clover);
      CAPTURE(mu);
      const test::RoughLattice rough({8, 4, 8, 4});
      CoarseSample<S> sample(rough, test::one_process(rough.extents), rough_action(with_clover), {4, 2, 2, 2},
                             {4, 2, 4, 2}, 8, 3);
      const auto blocks = std::make_shared<CoarseBlocks<S>>(*sample.blocks);
      blocks->twist(0.7);
      blocks->twist(mu);  // replaces the other one
      CHECK(blocks->mu() == mu);
      sample.blocks = blocks;
      sample.d.emplace(blocks, 3);

      const auto v = sample.random(5), w = sample.random(6);
      auto fine = sample.schwarz.create(), image = sample.schwarz.create();
      auto coarse = sample.create(), product = sample.create(), adjoint = sample.create();
      sample.transfer->prolongate(fine, v);
      sample.schwarz.apply(image, fine);
      Twist(sample.matrix, mu).add(image, fine);
      sample.transfer->restrict_to(coarse, image, &*sample.clover);
      sample.d->apply(product, v);
      CHECK(test::distance(product, coarse) < 4 * accuracy<S>);

      sample.d->apply_dagger(adjoint, w);
      for (int c = 0; c < 3; ++c) {
        const auto nv = test::numbers(v, c), nw = test::numbers(w, c), dv = test::numbers(product, c),
                   dw = test::numbers(adjoint, c);
        std::complex<double> left = 0, right = 0;
        double size = 0;
        for (std::size_t i = 0; i < nv.size(); ++i) {
          left += std::conj(nw[i]) * dv[i];
          right += std::conj(dw[i]) * nv[i];
          size += std::abs(nw[i] * dv[i]);
        }
        CHECK(std::abs(left - right) < 1e-6 * size);
      }

      const auto errors = test::check_schur(sample);
      CHECK(errors.equation < 10 * accuracy<S>);
      CHECK(errors.reconstruction < 10 * accuracy<S>);
    }
}

TEST_CASE("twisted multigrid: solutions are those of conjugate gradients, at either sign of mu") {
  const GaugeField u = test::thermal_links();
  const auto sites = u.geometry().local_volume();
  const Vector b = test::random_numbers(12 * sites, 3);
  for (const double mu : {0.005, -0.05}) {
    CAPTURE(mu);
    const TwistedCloverAction action{light, mu};
    SolverParameters parameters;
    parameters.kind = "multigrid";
    parameters.multigrid = small();
    QuarkSolver multigrid(u, action, parameters);
    parameters.kind = "cg";
    parameters.tolerance = 1e-12;
    QuarkSolver plain(u, action, parameters);
    Vector x(b.size()), y(b.size()), image(b.size());
    const auto report = multigrid.solve(x, b);
    CHECK(plain.solve(y, b).converged);
    CHECK(report.converged);
    CHECK(report.method.find("multigrid") == 0);
    CHECK(report.notes.empty());
    CHECK(report.iterations < 40);
    // The residual 1e-10 times the condition number, which is about 1e3.
    CHECK(test::relative_distance(x, y) < 1e-7);
    multigrid.apply(image, x);
    CHECK(test::relative_distance(image, b) == doctest::Approx(report.residual).epsilon(1e-3));
  }
}

TEST_CASE("twisted multigrid: the cycle contracts as well as without a twisted mass, and follows links and mu") {
  const GaugeField u = test::thermal_links();
  const Setup plain(u, light, small()), twisted(u, TwistedCloverAction{light, 0.02}, small());
  CHECK(plain.mu() == 0);
  CHECK(twisted.mu() == 0.02);
  CHECK(twisted.contraction() < 1.2 * plain.contraction());
  const Setup moved = twisted.refreshed(u, TwistedCloverAction{light, -0.03});
  CHECK(moved.mu() == -0.03);
  CHECK(moved.contraction() < 1.2 * plain.contraction());
  const Setup adjoint = twisted.adjoint();
  CHECK(adjoint.mu() == -0.02);
  CHECK(adjoint.contraction() < 1.2 * plain.contraction());
  CHECK(adjoint.stored().numbers.size() == twisted.stored().numbers.size());
  const Setup again = adjoint.adjoint();
  CHECK(again.contraction() == twisted.contraction());  // to the bit: it is the same cycle
}

TEST_CASE("twisted multigrid: the adjoint system") {
  const GaugeField u = test::thermal_links();
  const Vector b = test::random_numbers(12 * u.geometry().local_volume(), 3);
  for (const double mu : {0.0, 0.02}) {
    CAPTURE(mu);
    const TwistedCloverAction action{light, mu};
    const auto d = dirac_setup(u, action)->in_double();
    MultigridSolver solver(*d, Setup(u, action, small()), 1);
    auto source = spinor_field<double>(d->layout(), lattice::Subset::full), x = source, y = source, image = source;
    from_canonical(source, b);
    solve::SolveOptions options;
    options.tolerance = 1e-10;
    options.max_iterations = 100;
    const auto result = solver.solve_adjoint(x, source, options);
    const auto there = solver.solve(y, source, options);
    CHECK(result.converged());
    CHECK(there.converged());
    // D and D^dagger have the same singular values, and the cycle is as good for both.
    CHECK(std::abs(result.iterations - there.iterations) <= 5);
    d->apply_dagger(image, x);
    Vector back(b.size());
    to_canonical(back, image);
    const double residual = test::relative_distance(back, b);
    CHECK(residual < 1e-10);
    CHECK(residual == doctest::Approx(result.worst_residual()).epsilon(1e-3));
  }
}

TEST_CASE("twisted multigrid: mu = 0 is Wilson-clover to the bit") {
  const GaugeField u = test::thermal_links();
  const Vector b = test::random_numbers(12 * u.geometry().local_volume(), 3);
  SolverParameters parameters;
  parameters.kind = "multigrid";
  parameters.multigrid = small();
  QuarkSolver one(u, light, parameters), other(u, TwistedCloverAction{light, 0}, parameters);
  Vector x(b.size()), y(b.size());
  CHECK(one.solve(x, b).iterations == other.solve(y, b).iterations);
  CHECK(x == y);
}

}  // namespace halocline::qcd::multigrid
