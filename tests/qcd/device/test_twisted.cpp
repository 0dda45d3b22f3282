// SPDX-License-Identifier: Apache-2.0
//
// A twisted mass on a device, against the processor.

#include <doctest/doctest.h>

#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/device/host_parameters.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;

constexpr lattice::Coordinates<4> extents{4, 4, 4, 4};
constexpr std::int64_t volume = 256;

}  // namespace

TEST_CASE("device twisted: D, its adjoint and every method are those of the processor") {
  auto gauge = GaugeField::from_canonical(test::one_process(extents), test::random_links(volume, 1));
  gauge.exchange_ghosts();
  const auto b = test::random_numbers(volume * 12, 2);
  for (const TwistedCloverAction& action :
       {TwistedCloverAction{{.mass = 0.2, .csw = 1.0}, 0.5}, TwistedCloverAction{{.mass = 0.1}, -0.3}}) {
    QuarkSolver here(gauge, action);
    for (const char* kind : {"auto", "cg", "gcr"})
      for (const char* inner : {"double", "float", "fixed16", "fixed8"})
        for (const char* form : {"symmetric", "asymmetric"}) {
          CAPTURE(kind);
          CAPTURE(inner);
          CAPTURE(form);
          SolverParameters parameters = test::on_host_executor(kind, inner);
          parameters.schur = form;
          QuarkSolver there(gauge, action, parameters);
          Numbers x(b.size()), dx(b.size()), expected(b.size());
          for (const bool dagger : {false, true}) {
            here.apply(expected, b, dagger);
            there.apply(dx, b, dagger);
            CHECK(test::relative_distance(dx, expected) < 1e-14);
          }
          const auto report = there.solve(x, b);
          CHECK(report.converged);
          here.apply(dx, x);
          CHECK(test::relative_distance(dx, b) <= 1.01 * parameters.tolerance);
        }
  }
}

}  // namespace halocline::qcd
