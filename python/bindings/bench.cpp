// SPDX-License-Identifier: Apache-2.0
/// @file
/// bench: the benchmarks, each returning the JSON text of its case. Collective.
#include "bench/allreduce.hpp"
#include "bench/coarse.hpp"
#include "bench/dslash.hpp"
#include "bench/halo.hpp"
#include "bench/halo_stress.hpp"
#include "bench/heatbath.hpp"
#include "bench/jacobi2d.hpp"
#include "bench/qcdjdd.hpp"
#include "bench/reorder.hpp"
#include "bench/schwarz_cost.hpp"
#include "bench/solver.hpp"
#include "bench/su3.hpp"
#include "bench_cases.hpp"
#include "bindings.hpp"

namespace halocline::bindings {
namespace {

/// Transports as Python names them: pairs of a name and the number of buffers.
using Carriers = std::vector<std::pair<std::string, int>>;

std::vector<bench::Carrier> carriers_of(const Carriers& pairs) {
  std::vector<bench::Carrier> carriers;
  for (const auto& [transport, buffers] : pairs) carriers.push_back({transport, buffers});
  return carriers;
}

void bind_energy(nb::module_& m) {
  m.def(
      "set_energy_counter", &bench::set_energy_counter, "counter"_a.none(),
      "The function that gives the joules of all nodes, NaN for none; called on all ranks together. None: no counter.");
}

void bind_communication(nb::module_& m) {
  using comm::Communicator;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def("carriers", [] {
    Carriers pairs;
    for (const auto& [transport, buffers] : bench::all_carriers()) pairs.emplace_back(transport, buffers);
    return pairs;
  });
  m.def(
      "jacobi2d",
      [](const Communicator& group, const std::array<std::int64_t, 2>& local, const std::vector<int>& grid,
         int inflation, bool touched, double mass_squared, const Carriers& carriers, const std::vector<int>& interfaces,
         double seconds, double block_seconds) {
        const bench::JacobiProblem problem{local, mass_squared, inflation, touched};
        const bench::Jacobi2dCase c{problem, grid, carriers_of(carriers), interfaces};
        return to_json(bench::jacobi2d(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "grid"_a, "inflation"_a, "touched"_a, "mass_squared"_a, "carriers"_a, "interfaces"_a,
      "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "halo_face",
      [](const Communicator& group, std::int64_t bytes, const std::string& traffic, const Carriers& carriers,
         double seconds, double block_seconds) {
        const bench::HaloFaceCase c{bytes, traffic, carriers_of(carriers)};
        return to_json(bench::halo_face(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "bytes"_a, "traffic"_a, "carriers"_a, "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "halo_operator",
      [](const Communicator& group, const std::array<std::int64_t, 4>& local, const std::string& face, int threads,
         bool posting_by_all, const Carriers& carriers, double seconds, double block_seconds) {
        const bench::HaloOperatorCase c{local, face, threads, posting_by_all, carriers_of(carriers)};
        return to_json(bench::halo_operator(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "face"_a, "threads"_a, "posting_by_all"_a, "carriers"_a, "seconds"_a,
      "block_seconds"_a, Released());
  m.def(
      "halo_stress",
      [](const Communicator& group, const std::string& transport, int buffers, std::int64_t exchanges,
         std::uint64_t seed, std::int64_t longest, double time_limit, int ranks, double damage,
         const std::optional<std::function<void(std::int64_t, const std::string&)>>& progress) {
        const bench::HaloStressCase c{{transport, buffers}, exchanges, seed, longest, time_limit, ranks, damage};
        const auto tell = [&](std::int64_t done, const std::string& words) {
          if (!progress) return;
          nb::gil_scoped_acquire lock;
          (*progress)(done, words);
        };
        return bench::to_json(bench::halo_stress(group, c, tell));
      },
      "communicator"_a, "transport"_a, "buffers"_a, "exchanges"_a, "seed"_a, "longest"_a, "time_limit"_a, "ranks"_a,
      "damage"_a, "progress"_a.none(), Released());
  m.def(
      "allreduce",
      [](const Communicator& group, int elements, const std::string& method, const std::string& precision, bool barrier,
         double seconds, double block_seconds) {
        const bench::AllreduceCase c{elements, method, precision, barrier};
        return bench::to_json(bench::allreduce(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "elements"_a, "method"_a, "precision"_a, "barrier"_a, "seconds"_a, "block_seconds"_a,
      Released());
}

}  // namespace

void bind_bench(nb::module_& m) {
  using comm::Communicator;
  using Released = nb::call_guard<nb::gil_scoped_release>;
  bind_communication(m);
  bind_energy(m);
  m.def(
      "dslash",
      [](const Communicator& group, const bench::Extents& local, int threads, const std::string& precision,
         const std::string& form, int link_reals, int columns, const std::string& action, int ls, double seconds,
         double block_seconds) {
        const bench::DslashCase c{local, threads, precision, form, link_reals, columns, action, ls};
        return bench::to_json(bench::dslash(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "threads"_a, "precision"_a, "form"_a, "link_reals"_a, "columns"_a, "action"_a,
      "ls"_a, "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "su3",
      [](const Communicator& group, const bench::Extents& local, int threads, const std::string& precision,
         const std::string& layout, const std::string& form, double seconds, double block_seconds) {
        const bench::Su3Case c{local, threads, precision, layout, form};
        return bench::to_json(bench::su3(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "threads"_a, "precision"_a, "layout"_a, "form"_a, "seconds"_a, "block_seconds"_a,
      Released());
  m.def(
      "reorder",
      [](const Communicator& group, const bench::Extents& local, int threads, const std::string& order,
         const std::string& field, const std::string& direction, const std::string& precision, const std::string& basis,
         double seconds, double block_seconds) {
        const bench::ReorderCase c{local, threads, order, field, direction, precision, basis};
        return bench::to_json(bench::reorder(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "threads"_a, "order"_a, "field"_a, "direction"_a, "precision"_a, "basis"_a,
      "seconds"_a, "block_seconds"_a, Released());
  m.def(
      "su3_once",
      [](const bench::Extents& local, const std::string& precision, const std::string& layout, const std::string& form,
         const std::vector<complex>& x,
         const std::vector<complex>& y) { return bench::su3_once({local, 1, precision, layout, form}, x, y); },
      "local"_a, "precision"_a, "layout"_a, "form"_a, "x"_a, "y"_a, "One application in canonical order, for tests.");
  m.def(
      "coarse",
      [](const Communicator& group, const bench::Extents& local, int vectors, int columns, const std::string& storage,
         const std::string& form, int threads, double seconds, double block_seconds) {
        const bench::CoarseCase c{local, vectors, columns, storage, form, threads};
        return bench::to_json(bench::coarse(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "vectors"_a, "columns"_a, "storage"_a, "form"_a, "threads"_a, "seconds"_a,
      "block_seconds"_a, Released());
  m.def(
      "qcdjdd",
      [](const Communicator& group, const bench::Extents& local, int threads, int columns, const std::string& storage,
         int link_reals, int iterations, const std::string& transport, int buffers, bool posting_by_all,
         const std::string& sums, bool barrier, const std::vector<int>& grid, const std::vector<int>& ranks,
         const std::vector<int>& interfaces, bool cache_injection, double seconds, double block_seconds) {
        bench::QcdjddCase c{local, threads, columns, storage, link_reals, iterations};
        c.communication = {.transport = transport,
                           .buffers = buffers,
                           .posting_by_all = posting_by_all,
                           .sums = sums,
                           .interfaces = interfaces,
                           .interface_grid = interfaces.empty() ? std::vector<int>() : grid,
                           .barrier_before_sums = barrier,
                           .cache_injection = cache_injection};
        c.grid = grid;
        c.ranks = ranks;
        return to_json(bench::qcdjdd(group, c, effort_of(seconds, block_seconds)));
      },
      "communicator"_a, "local"_a, "threads"_a, "columns"_a, "storage"_a, "link_reals"_a, "iterations"_a, "transport"_a,
      "buffers"_a, "posting_by_all"_a, "sums"_a, "barrier"_a, "grid"_a, "ranks"_a, "interfaces"_a, "cache_injection"_a,
      "seconds"_a, "block_seconds"_a, Released());
  m.def("spread_processes", &bench::spread_processes, "processes"_a,
        "The grid of processes that a benchmark takes when it is given none.");
  m.def(
      "published_flops",
      [](const bench::Extents& local) {
        const bench::DomainBox box{local};
        return std::pair(bench::published_iteration_flops(box), bench::published_inside_flops(box));
      },
      "local"_a);
  m.def(
      "solver",
      [](const qcd::GaugeField& u, const std::string& gauge, double mass, double csw,
         const std::array<complex, 4>& boundary, const std::string& kind, const std::string& precision,
         const std::string& storage, double tolerance, bool even_odd, int threads, int columns, int runs,
         const std::string& action, int ls, double seconds, double block_seconds) {
        bench::SolverCase c;
        c.action = {.name = action, .mass = mass, .csw = csw, .ls = ls, .boundary = boundary};
        c.solver.kind = kind;
        c.solver.precision = precision;
        c.solver.schwarz.storage = storage;
        c.solver.tolerance = tolerance;
        c.solver.even_odd = even_odd;
        c.gauge = gauge;
        c.threads = threads;
        c.columns = columns;
        c.runs = runs;
        return bench::to_json(bench::solver(u, c, effort_of(seconds, block_seconds)));
      },
      "u"_a, "gauge"_a, "mass"_a, "csw"_a, "boundary"_a, "kind"_a, "precision"_a, "storage"_a, "tolerance"_a,
      "even_odd"_a, "threads"_a, "columns"_a, "runs"_a, "action"_a, "ls"_a, "seconds"_a, "block_seconds"_a, Released());
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
