// SPDX-License-Identifier: Apache-2.0
//
// Multigrid on the Schur complement: the solution of even-odd BiCGStab, in either form and parity, with and without a
// twisted mass, in about as many cycles as the full operator takes.

#include <doctest/doctest.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/multigrid/multigrid_solver.hpp"
#include "halocline/qcd/multigrid/schur_solver.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"
#include "halocline/solve/bicgstab.hpp"
#include "qcd/multigrid/thermal_links.hpp"

namespace halocline::qcd::multigrid {
namespace {

constexpr WilsonCloverAction light{.mass = -0.1, .csw = 1.0};

Parameters small() {
  Parameters p;
  p.vectors = 8;
  return p;
}

std::vector<std::complex<double>> numbers(const SpinorField<double>& field, int column) {
  std::vector<std::complex<double>> out(static_cast<std::size_t>(12 * field.layout().geometry().local_volume()));
  to_canonical(out, field, column);
  return out;
}

}  // namespace

TEST_CASE("multigrid on the Schur complement: the solution of BiCGStab, in cycles as many as on D") {
  const GaugeField u = test::thermal_links();
  for (const Action& action : {Action(light), Action(TwistedCloverAction{light, 0.02})}) {
    const auto operators = dirac_setup(u, action);
    const auto d = operators->in_double(2);
    const auto single = operators->in_float(2);
    const Setup setup(u, action, small());
    solve::SolveOptions options;
    options.max_iterations = 2000;

    auto full = spinor_field<double>(d->layout(), lattice::Subset::full, 2), whole = full;
    for (int c = 0; c < 2; ++c)
      from_canonical(full, c, test::random_numbers(12 * u.geometry().local_volume(), static_cast<unsigned>(3 + c)));
    const auto on_d = MultigridSolver(*d, setup, 2).solve(whole, full, options);

    for (const int parity : {0, 1}) {
      CAPTURE(twisted_mass(action));
      CAPTURE(parity);
      const auto form = parity == 0 ? SchurForm::symmetric : SchurForm::asymmetric;
      SchurSolver solver(*d, *single, setup, 2, form, parity);
      auto& schur = solver.schur();
      SpinorSpace<double> space(d->layout(), schur.subset(), 2);
      auto b = space.create(), x = space.create(), y = space.create(), image = space.create();
      for (int c = 0; c < 2; ++c)
        from_canonical(b, c, test::random_numbers(12 * u.geometry().local_volume(), static_cast<unsigned>(7 + c)));
      const auto result = solver.solve(x, b, options);
      CHECK(result.converged());
      CHECK(std::abs(result.iterations - on_d.iterations) <= 2);
      options.tolerance = 1e-12;
      CHECK(solve::bicgstab(space, schur, y, b, options).converged());
      options.tolerance = 1e-10;
      schur.apply(image, x);
      for (int c = 0; c < 2; ++c) {
        // The residual 1e-10 times the condition number, which is about 1e3.
        CHECK(test::relative_distance(numbers(x, c), numbers(y, c)) < 1e-7);
        const double residual = test::relative_distance(numbers(image, c), numbers(b, c));
        CHECK(residual <= 1e-10);
        CHECK(residual == doctest::Approx(result.residual[static_cast<std::size_t>(c)]).epsilon(1e-3));
      }
    }
  }
}

TEST_CASE("multigrid on the Schur complement: fields of another parity are refused") {
  const GaugeField u(test::one_process({4, 4, 4, 4}));
  const WilsonCloverAction action{.mass = 0.1};
  const auto operators = dirac_setup(u, action);
  const auto d = operators->in_double();
  const auto single = operators->in_float();
  Parameters p = small();
  p.aggregate = {2, 2, 2, 2};
  p.setup_iterations = 0;
  SchurSolver solver(*d, *single, Setup(u, action, p), 1);
  auto x = spinor_field<double>(d->layout(), lattice::Subset::odd), b = x;
  CHECK_THROWS_WITH_AS(solver.solve(x, b, {}), doctest::Contains("fields of its parity and of 1 columns"),
                       core::InvalidArgument);
}

}  // namespace halocline::qcd::multigrid
