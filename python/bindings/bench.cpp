// SPDX-License-Identifier: Apache-2.0
/// @file
/// bench: the benchmarks, each returning the JSON text of its case. Collective.
#include "bench/dslash.hpp"
#include "bench/heatbath.hpp"
#include "bench/solver.hpp"
#include "bindings.hpp"

namespace halocline::bindings {
namespace {

bench::Effort effort_of(double seconds, double block_seconds) {
  bench::Effort effort;
  effort.seconds = seconds;
  effort.block_seconds = block_seconds;
  return effort;
}

}  // namespace

void bind_bench(nb::module_& m) {
  using comm::Communicator;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "dslash",
      [](const Communicator& group, const bench::Extents& local, int threads, const std::string& precision,
         const std::string& form, double seconds, double block_seconds) {
        const bench::DslashCase c{local, threads, precision, form};
        return bench::to_json(bench::dslash(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "threads"_a, "precision"_a, "form"_a, "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "solver",
      [](const qcd::GaugeField& u, const std::string& gauge, double mass, double csw,
         const std::array<complex, 4>& boundary, const std::string& kind, const std::string& precision,
         double tolerance, bool even_odd, int threads, int runs, double seconds, double block_seconds) {
        bench::SolverCase c;
        c.action.mass = mass;
        c.action.csw = csw;
        c.action.boundary = boundary;
        c.solver.kind = kind;
        c.solver.precision = precision;
        c.solver.tolerance = tolerance;
        c.solver.even_odd = even_odd;
        c.gauge = gauge;
        c.threads = threads;
        c.runs = runs;
        return bench::to_json(bench::solver(u, c, effort_of(seconds, block_seconds)));
      },
      "u"_a, "gauge"_a, "mass"_a, "csw"_a, "boundary"_a, "kind"_a, "precision"_a, "tolerance"_a, "even_odd"_a,
      "threads"_a, "runs"_a, "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "heatbath",
      [](const Communicator& group, const bench::Extents& local, int threads, double beta, int overrelaxation_steps,
         double seconds, double block_seconds) {
        const bench::HeatbathCase c{local, threads, beta, overrelaxation_steps};
        return bench::to_json(bench::heatbath(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "threads"_a, "beta"_a, "overrelaxation_steps"_a, "seconds"_a, "block_seconds"_a,
      Released());
}

}  // namespace halocline::bindings
