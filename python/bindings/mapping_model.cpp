// SPDX-License-Identifier: Apache-2.0
/// @file
/// mapping: the network model, times of exchanges, sums and iterations, and curves of them.
#include "halocline/mapping/model.hpp"

#include "halocline/mapping/collectives.hpp"
#include "halocline/mapping/published.hpp"
#include "mapping.hpp"

namespace halocline::bindings {

void bind_mapping_model(nb::module_& m) {
  using namespace mapping;
  nb::class_<ExchangeTime>(m, "ExchangeTime", "Where the time of one exchange goes [s].")
      .def_ro("latency", &ExchangeTime::latency)
      .def_ro("links", &ExchangeTime::links)
      .def_ro("interfaces", &ExchangeTime::interfaces)
      .def_ro("injection", &ExchangeTime::injection)
      .def_ro("total", &ExchangeTime::total);
  m.def("exchange_time", &exchange_time, "network"_a, "loads"_a);
  m.def("reduction_seconds", &reduction_seconds, "network"_a, "nodes"_a, "elements"_a, "hardware"_a);

  nb::class_<Iteration>(m, "Iteration", "One iteration of a solver on one process.")
      .def(
          "__init__",
          [](Iteration* self, double computation, double overlapped, int exchanges, double posting,
             std::vector<int> sums, double jitter) {
            new (self) Iteration{computation, overlapped, exchanges, posting, std::move(sums), jitter};
          },
          "computation"_a, "overlapped"_a = 0.0, "exchanges"_a = 0, "posting"_a = 0.0, "sums"_a = std::vector<int>(),
          "jitter"_a = 0.0)
      .def_ro("computation", &Iteration::computation, "[s]")
      .def_ro("overlapped", &Iteration::overlapped, "Computation that runs beside each exchange [s].")
      .def_ro("exchanges", &Iteration::exchanges)
      .def_ro("posting", &Iteration::posting, "To post and complete the messages of one exchange [s].")
      .def_ro("sums", &Iteration::sums, "Elements of each reduction.")
      .def_ro("jitter", &Iteration::jitter, "Mean time by which a process comes late to a sum [s].");
  nb::class_<IterationTime>(m, "IterationTime", "Where the time of an iteration goes [s].")
      .def_ro("computation", &IterationTime::computation)
      .def_ro("posting", &IterationTime::posting)
      .def_ro("exchange", &IterationTime::exchange, "What does not overlap.")
      .def_ro("reduction", &IterationTime::reduction)
      .def_ro("waiting", &IterationTime::waiting, "For the latest process, at all sums.")
      .def_ro("total", &IterationTime::total);
  m.def("iteration_time", &iteration_time, "network"_a, "loads"_a, "nodes"_a, "processes"_a, "iteration"_a,
        "hardware"_a);
  m.def("fitted_jitter", &fitted_jitter, "network"_a, "loads"_a, "nodes"_a, "processes"_a, "iteration"_a, "hardware"_a,
        "measured"_a);

  nb::class_<ComputationTable>(m, "ComputationTable", "Seconds of computation for any number of sites of a process.")
      .def(
          "__init__",
          [](ComputationTable* self, std::vector<double> sites, std::vector<double> seconds) {
            new (self) ComputationTable{std::move(sites), std::move(seconds)};
          },
          "sites"_a, "seconds"_a)
      .def("at", &ComputationTable::at, "sites"_a, "Raises InvalidArgument for a disordered table.");
  m.def("published_computation", &published::two_processes,
        "Iterations on two processes of one node of Fugaku [arXiv 2109.10687, table 4].");
  m.def("published_iteration", &published::domain_solver,
        "An iteration of the domain solver at 32x6x4x3 sites a process on Fugaku, without its map.");

  nb::class_<ScalingPoint>(m, "ScalingPoint", "One point of a scaling curve.")
      .def_ro("nodes", &ScalingPoint::nodes)
      .def_ro("processes", &ScalingPoint::processes)
      .def_ro("sites", &ScalingPoint::sites, "Of the whole problem.")
      .def_ro("time", &ScalingPoint::time)
      .def_ro("sites_per_second", &ScalingPoint::sites_per_second)
      .def_ro("efficiency", &ScalingPoint::efficiency, "Sites a second and node, over those of the first case.");
  nb::class_<ScalingCase>(m, "ScalingCase", "One machine and one problem of a scaling curve.")
      .def(
          "__init__",
          [](ScalingCase* self, Network network, Loads loads, std::int64_t nodes, std::int64_t processes, double sites,
             Iteration iteration) {
            new (self) ScalingCase{std::move(network), std::move(loads), nodes, processes, sites, std::move(iteration)};
          },
          "network"_a, "loads"_a, "nodes"_a, "processes"_a, "sites"_a, "iteration"_a);
  m.def(
      "scaling", [](const std::vector<ScalingCase>& cases, bool hardware) { return scaling(cases, hardware); },
      "cases"_a, "hardware"_a);

  m.def("bisection_bandwidth", &bisection_bandwidth, "network"_a,
        "Bytes a second that fit each way through the narrowest middle of the machine; infinite for a fat tree.");
  m.def("all_to_all_seconds", &all_to_all_seconds, "network"_a, "bytes"_a,
        "Least seconds in which every node can have sent so many bytes in equal shares to all nodes.");
  m.def("all_reduce_seconds", &all_reduce_seconds, "network"_a, "nodes"_a, "bytes"_a,
        "Least seconds in which so many nodes, each with so many bytes, can have their sums on all.");
}

}  // namespace halocline::bindings
