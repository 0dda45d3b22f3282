// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: gauge fields, and everything that is done with links alone.
#include "bindings.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/gauge/fix.hpp"
#include "halocline/qcd/gauge/flow.hpp"
#include "halocline/qcd/gauge/heatbath.hpp"
#include "halocline/qcd/gauge/observables.hpp"
#include "halocline/qcd/gauge/smear.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/gauge/topological_charge.hpp"
#include "halocline/qcd/gauge/transform.hpp"

namespace halocline::bindings {
namespace {

using qcd::GaugeField;
namespace gauge = qcd::gauge;
using Unlocked = nb::call_guard<nb::gil_scoped_release>;

void bind_gauge_field(nb::module_& m) {
  nb::class_<GaugeField>(m, "GaugeField", nb::dynamic_attr(),
                         "Links of SU(3) in double. Boundary phases of quarks are never in them.")
      .def(
          "__init__", [](GaugeField* self, GeometryPtr geometry) { new (self) GaugeField(std::move(geometry)); },
          "geometry"_a, "Unit links.")
      .def_static(
          "from_array",
          [](GeometryPtr geometry, const ComplexIn& links) {
            const auto values = canonical_values(links, *geometry, {4, 3, 3}, "the array of links");
            return GaugeField::from_canonical(std::move(geometry), values);
          },
          "geometry"_a, "links"_a, "From the local part [t][z][y][x][mu][3][3], complex128. Collective.")
      .def(
          "array",
          [](const GaugeField& u) { return to_numpy(u.to_canonical(), canonical_shape(u.geometry(), {4, 3, 3})); },
          "The local part as a new array [t][z][y][x][mu][3][3], complex128.")
      .def(
          "copy", [](const GaugeField& u) { return GaugeField(u); }, "The same links again.")
      .def("unitarity_violation", &GaugeField::unitarity_violation, Unlocked(),
           "The largest |U U^dagger - 1| and |det U - 1|; NaN when a link holds one. Collective.")
      .def_prop_ro("geometry", &GaugeField::geometry_ptr);
}

void bind_generation(nb::module_& m) {
  m.def("unit_links", [](GeometryPtr g) { return gauge::unit_links(std::move(g)); }, "geometry"_a);
  m.def(
      "random_links", [](GeometryPtr g, std::uint64_t seed) { return gauge::random_links(std::move(g), seed); },
      "geometry"_a, "seed"_a, Unlocked());
  m.def(
      "weak_links",
      [](GeometryPtr g, double epsilon, std::uint64_t seed) { return gauge::weak_links(std::move(g), epsilon, seed); },
      "geometry"_a, "epsilon"_a, "seed"_a, Unlocked());
  m.def(
      "heatbath_sweep",
      [](GaugeField& u, double beta, int overrelaxation, std::uint64_t seed, double xi0, std::uint64_t sweep) {
        gauge::heatbath_sweep(u, {beta, overrelaxation, seed, xi0}, sweep);
      },
      "u"_a, "beta"_a, "overrelaxation"_a, "seed"_a, "xi0"_a, "sweep"_a, Unlocked());
  m.def(
      "random_transformation",
      [](GaugeField& u, std::uint64_t seed) { gauge::GaugeTransformation::random(u.geometry_ptr(), seed).apply(u); },
      "u"_a, "seed"_a, Unlocked());
}

void bind_smear(nb::module_& m) {
  const auto axes = [](bool spatial) { return spatial ? gauge::SmearedAxes::spatial : gauge::SmearedAxes::all; };
  m.def(
      "smear_ape",
      [axes](GaugeField& u, double alpha, int steps, bool spatial) {
        gauge::smear_ape(u, {.alpha = alpha, .steps = steps, .axes = axes(spatial)});
      },
      "u"_a, "alpha"_a, "steps"_a, "spatial"_a, Unlocked());
  m.def(
      "smear_stout",
      [axes](GaugeField& u, double rho, int steps, bool spatial) {
        gauge::smear_stout(u, {.rho = rho, .steps = steps, .axes = axes(spatial)});
      },
      "u"_a, "rho"_a, "steps"_a, "spatial"_a, Unlocked());
}

nb::dict to_dict(const gauge::FlowPoint& p) {
  nb::dict d;
  d["t"] = p.t;
  d["plaquette"] = p.plaquette;
  d["energy_plaquette"] = p.energy_plaquette;
  d["energy_clover"] = p.energy_clover;
  d["t2_energy_plaquette"] = p.t2_energy_plaquette();
  d["t2_energy_clover"] = p.t2_energy_clover();
  d["topological_charge"] = p.topological_charge;
  return d;
}

void bind_flow(nb::module_& m) {
  m.def(
      "wilson_flow",
      [](GaugeField& u, double t_max, double step, bool adaptive, double tolerance, int measure_every,
         const std::optional<std::function<bool(nb::dict)>>& progress) {
        gauge::FlowReport report;
        const auto each = [&progress](const gauge::FlowPoint& point) {
          if (!progress) return true;
          nb::gil_scoped_acquire lock;
          return (*progress)(to_dict(point));
        };
        {
          nb::gil_scoped_release unlocked;
          report = gauge::wilson_flow(u, {t_max, step, adaptive, tolerance, measure_every}, each);
        }
        nb::list points;
        for (const auto& point : report.points) points.append(to_dict(point));
        nb::dict d;
        d["reason"] = report.reason;
        d["points"] = points;
        d["steps"] = report.steps;
        d["rejected"] = report.rejected;
        d["t0"] = report.t0;
        d["w0"] = report.w0;
        return d;
      },
      "u"_a, "t_max"_a, "step"_a, "adaptive"_a, "tolerance"_a, "measure_every"_a, "progress"_a.none());
}

void bind_fix(nb::module_& m) {
  m.def(
      "fix_gauge",
      [](GaugeField& u, bool landau, double tolerance, int max_iterations, double omega,
         const std::optional<std::function<bool(int, double)>>& progress) {
        const auto each = [&progress](const gauge::FixPoint& point) {
          if (!progress) return true;
          nb::gil_scoped_acquire lock;
          return (*progress)(point.iterations, point.theta);
        };
        gauge::FixParameters parameters;
        parameters.tolerance = tolerance;
        parameters.max_iterations = max_iterations;
        parameters.omega = omega;
        gauge::FixReport report;
        {
          nb::gil_scoped_release unlocked;
          report = landau ? gauge::fix_landau(u, parameters, each) : gauge::fix_coulomb(u, parameters, each);
        }
        nb::dict d;
        d["reason"] = report.reason;
        d["converged"] = report.converged;
        d["iterations"] = report.iterations;
        d["theta"] = report.theta;
        d["functional"] = report.functional;
        return d;
      },
      "u"_a, "landau"_a, "tolerance"_a, "max_iterations"_a, "omega"_a, "progress"_a.none());
  m.def("landau_theta", &gauge::landau_theta, "u"_a, Unlocked());
  m.def("coulomb_theta", &gauge::coulomb_theta, "u"_a, Unlocked());
}

}  // namespace

void bind_qcd_gauge(nb::module_& m) {
  bind_gauge_field(m);
  bind_generation(m);
  bind_smear(m);
  bind_flow(m);
  bind_fix(m);
  m.def("plaquette", &gauge::plaquette, "u"_a, Unlocked());
  m.def("plaquette_planes", &gauge::plaquette_planes, "u"_a, Unlocked());
  m.def("link_trace", &gauge::link_trace, "u"_a, Unlocked());
  m.def("rectangle", &gauge::rectangle, "u"_a, Unlocked());
  m.def("polyakov", &gauge::polyakov, "u"_a, Unlocked());
  m.def("topological_charge", &gauge::topological_charge, "u"_a, Unlocked());
  m.def("energy_density", &gauge::energy_density, "u"_a, Unlocked());
}

}  // namespace halocline::bindings
