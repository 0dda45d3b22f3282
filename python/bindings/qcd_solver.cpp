// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: the Wilson-clover operator and its inverse.
#include "bindings.hpp"
#include "halocline/qcd/eigenvalues.hpp"
#include "halocline/qcd/gauge_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/quark_solver.hpp"

namespace halocline::bindings {
namespace {

using qcd::QuarkSolver;
using Progress = std::optional<std::function<bool(int, double)>>;

/// The solver with the geometry that its arrays have.
struct Quark {
  GeometryPtr geometry;
  QuarkSolver solver;
};

nb::dict to_dict(const qcd::SolveReport& report) {
  nb::dict d;
  d["converged"] = report.converged;
  d["reason"] = report.reason;
  d["method"] = report.method;
  d["iterations"] = report.iterations;
  d["residual"] = report.residual;
  d["seconds"] = report.seconds;
  d["history"] = report.history;
  return d;
}

nb::dict solve_into(Quark& q, std::span<complex> solution, std::span<const complex> source, const Progress& progress) {
  const auto each = [&progress](int iterations, double residual) {
    if (!progress) return true;
    nb::gil_scoped_acquire lock;
    return (*progress)(iterations, residual);
  };
  qcd::SolveReport report;
  {
    nb::gil_scoped_release unlocked;
    report = progress ? q.solver.solve(solution, source, each) : q.solver.solve(solution, source);
  }
  return to_dict(report);
}

}  // namespace

void bind_qcd_solver(nb::module_& m) {
  m.def("kappa_from_mass", &qcd::kappa_from_mass, "mass"_a);
  m.def("mass_from_kappa", &qcd::mass_from_kappa, "kappa"_a);
  m.def(
      "low_eigenvalues",
      [](const qcd::GaugeField& u, double mass, double csw, const std::array<complex, 4>& boundary, double xi0,
         double nu, std::optional<double> csw_t, int count, double tolerance, int max_applications,
         std::uint64_t seed) {
        qcd::EigenvalueParameters parameters;
        parameters.count = count;
        parameters.tolerance = tolerance;
        parameters.max_applications = max_applications;
        parameters.seed = seed;
        qcd::EigenvalueReport report;
        {
          nb::gil_scoped_release unlocked;
          report = qcd::low_eigenvalues(u, {mass, csw, boundary, xi0, nu, csw_t}, parameters);
        }
        nb::dict d;
        d["converged"] = report.converged;
        d["reason"] = report.reason;
        d["values"] = report.values;
        d["residuals"] = report.residuals;
        d["applications"] = report.applications;
        d["seconds"] = report.seconds;
        return d;
      },
      "u"_a, "mass"_a, "csw"_a, "boundary"_a, "xi0"_a, "nu"_a, "csw_t"_a.none(), "count"_a, "tolerance"_a,
      "max_applications"_a, "seed"_a);
  nb::class_<Quark>(m, "Quark", "The Wilson-clover operator with a solver.")
      .def(
          "__init__",
          [](Quark* self, const qcd::GaugeField& u, double mass, double csw, const std::array<complex, 4>& boundary,
             double xi0, double nu, std::optional<double> csw_t, const std::string& kind, double tolerance,
             int max_iterations, const std::string& precision, bool even_odd) {
            qcd::SolverParameters parameters;
            parameters.kind = kind;
            parameters.tolerance = tolerance;
            parameters.max_iterations = max_iterations;
            parameters.precision = precision;
            parameters.even_odd = even_odd;
            new (self) Quark{u.geometry_ptr(), QuarkSolver(u, {mass, csw, boundary, xi0, nu, csw_t}, parameters)};
          },
          "u"_a, "mass"_a, "csw"_a, "boundary"_a, "xi0"_a, "nu"_a, "csw_t"_a.none(), "kind"_a, "tolerance"_a,
          "max_iterations"_a, "precision"_a, "even_odd"_a, nb::call_guard<nb::gil_scoped_release>())
      .def_ro("geometry", &Quark::geometry)
      .def_prop_ro("tile", [](const Quark& q) { return q.solver.tile(); })
      .def(
          "apply",
          [](Quark& q, const ComplexIn& in, bool dagger) {
            const auto values = canonical_values(in, *q.geometry, {4, 3}, "the spinor");
            std::vector<complex> out(values.size());
            {
              nb::gil_scoped_release unlocked;
              q.solver.apply(out, values, dagger);
            }
            return to_numpy(std::move(out), canonical_shape(*q.geometry, {4, 3}));
          },
          "spinor"_a, "dagger"_a = false)
      .def(
          "solve",
          [](Quark& q, const ComplexIn& source, const Progress& progress) {
            const auto values = canonical_values(source, *q.geometry, {4, 3}, "the source");
            std::vector<complex> solution(values.size());
            nb::dict report = solve_into(q, solution, values, progress);
            return nb::make_tuple(to_numpy(std::move(solution), canonical_shape(*q.geometry, {4, 3})), report);
          },
          "source"_a, "progress"_a.none())
      .def(
          "solve_column",
          [](Quark& q, qcd::measure::Propagator& s, int spin, int colour, const ComplexIn& source,
             const Progress& progress) {
            return solve_into(q, s.column(spin, colour), canonical_values(source, *q.geometry, {4, 3}, "the source"),
                              progress);
          },
          "propagator"_a, "spin"_a, "colour"_a, "source"_a, "progress"_a.none());
}

}  // namespace halocline::bindings
