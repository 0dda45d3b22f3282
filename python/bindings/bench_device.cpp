// SPDX-License-Identifier: Apache-2.0
/// @file
/// bench: the benchmarks on a device, each returning the JSON text of its case. Collective.
#include "bench/device_dslash.hpp"
#include "bench/device_solver.hpp"
#include "bench_cases.hpp"
#include "bindings.hpp"

namespace halocline::bindings {

void bind_bench_device(nb::module_& m) {
  using comm::Communicator;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "device_dslash",
      [](const Communicator& group, const std::string& device, const bench::Extents& local,
         const std::string& precision, const std::string& form, int link_reals, int columns,
         const bench::Extents& emulate, const std::string& policy, const std::string& stage, bool graph,
         const std::string& action, int ls, double seconds, double block_seconds) {
        const bench::DeviceDslashCase c{device,  local,  precision, form,  link_reals, columns,
                                        emulate, policy, stage,     graph, action,     ls};
        return bench::to_json(bench::device_dslash(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "device"_a, "local"_a, "precision"_a, "form"_a, "link_reals"_a, "columns"_a, "emulate"_a,
      "policy"_a, "stage"_a, "graph"_a, "action"_a, "ls"_a, "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "device_solver",
      [](const qcd::GaugeField& u, const std::string& gauge, const std::string& action, double mass, double csw, int ls,
         const std::array<complex, 4>& boundary, const std::string& device, const std::string& kind,
         const std::string& inner, int link_reals, const std::string& policy, double tolerance, bool even_odd,
         int columns, int runs, double seconds, double block_seconds) {
        bench::DeviceSolverCase c;
        c.action = {.name = action, .mass = mass, .csw = csw, .ls = ls, .boundary = boundary};
        c.device = device;
        c.kind = kind;
        c.inner = inner;
        c.link_reals = link_reals;
        c.policy = policy;
        c.tolerance = tolerance;
        c.even_odd = even_odd;
        c.gauge = gauge;
        c.columns = columns;
        c.runs = runs;
        return bench::to_json(bench::device_solver(u, c, effort_of(seconds, block_seconds)));
      },
      "u"_a, "gauge"_a, "action"_a, "mass"_a, "csw"_a, "ls"_a, "boundary"_a, "device"_a, "kind"_a, "inner"_a,
      "link_reals"_a, "policy"_a, "tolerance"_a, "even_odd"_a, "columns"_a, "runs"_a, "seconds"_a, "block_seconds"_a,
      Released());
  m.def("device_stages", &bench::device_stages);
}

}  // namespace halocline::bindings
