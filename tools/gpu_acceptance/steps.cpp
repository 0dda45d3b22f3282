// SPDX-License-Identifier: Apache-2.0
#include "tools/gpu_acceptance/steps.hpp"

#include <fmt/format.h>

#include <cmath>
#include <complex>
#include <utility>

#include "bench/device_copy.hpp"
#include "bench/device_dslash.hpp"
#include "bench/device_solver.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/qcd/gauge/heatbath.hpp"
#include "halocline/qcd/gauge/start.hpp"

namespace halocline::acceptance {
namespace {

using Emit = std::function<void(Json)>;
using bench::Extents;
using Numbers = std::vector<std::complex<double>>;

/// Solutions of device and CPU differ by at most this, relatively; both have residuals of 1e-11.
constexpr double agreement = 1e-9;

Extents cube(std::int64_t length) { return {length, length, length, length}; }
std::int64_t length(const Request& r, std::int64_t wanted) { return r.small ? 4 : wanted; }

bench::Effort effort(const Request& r) {
  if (r.small) return {.seconds = 1e-4, .block_seconds = 1e-6, .minimum_runs = 1, .maximum_runs = 1};
  return {.seconds = 0.3, .block_seconds = 0.002};
}

/// Runs one case. What it throws becomes its line.
void in_its_own_line(const Emit& emit, const std::string& step, Json named, const std::function<void(Json&)>& run) {
  Json line{{"step", step}, {"case", std::move(named)}, {"status", "ok"}};
  try {
    run(line);
  } catch (const std::exception& error) {
    line["status"] = "failed";
    line["reason"] = error.what();
  }
  emit(std::move(line));
}

/// Puts the result of a benchmark into a line.
void report(Json& line, const bench::DeviceResult& result) {
  Json found = Json::parse(to_json(result));
  line["case"] = found["case"];
  if (!result.skipped.empty()) {
    line["status"] = "skipped";
    line["reason"] = result.skipped;
    return;
  }
  found.erase("case");
  line.update(found);
}

void device(const Request& r, const Emit& emit) {
  in_its_own_line(emit, "device", {{"device", r.device}}, [&](Json& line) {
    const auto opened = gpu::Device::open(r.device);
    const auto& p = opened.properties();
    const auto memory = opened.memory();
    line["result"] = {{"name", p.name},
                      {"compute_capability", fmt::format("{}.{}", p.major, p.minor)},
                      {"multiprocessors", p.multiprocessors},
                      {"memory_bytes", memory.total},
                      {"free_bytes", memory.free},
                      {"second_level_cache_bytes", p.second_level_cache},
                      {"shared_memory_per_block_bytes", p.shared_memory_per_block},
                      {"driver", p.driver},
                      {"runtime", p.runtime},
                      {"kernel_hash", gpu::kernel_hash()}};
  });
}

void copy(const Request& r, const Emit& emit) {
  in_its_own_line(emit, "copy", {{"device", r.device}}, [&](Json& line) {
    gpu::Stream stream(gpu::Device::open(r.device));
    const auto found = bench::copy_bandwidth(comm::world(), stream, effort(r));
    line["result"] = {{"gbytes_per_s", found.gbytes_per_s}, {"bytes", found.bytes}};
  });
}

struct Storage {
  const char* precision;
  int link_reals;
};
constexpr Storage storages[]{{"double", 18}, {"float", 12}, {"fixed16", 12}, {"fixed16", 8}};

void hop_case(const Request& r, const Emit& emit, const std::string& step, const bench::DeviceDslashCase& c) {
  const Json named{{"precision", c.precision}, {"link_reals", c.link_reals}, {"columns", c.columns}};
  in_its_own_line(emit, step, named,
                  [&](Json& line) { report(line, bench::device_dslash(comm::world(), c, effort(r))); });
}

void hop(const Request& r, const Emit& emit) {
  std::vector<std::int64_t> lengths{32};
  if (r.sweep) lengths = {8, 12, 16, 24, 32};
  for (const std::int64_t l : lengths)
    for (const auto& [precision, reals] : storages)
      for (const int columns : {1, 12})
        hop_case(r, emit, "hop",
                 {.device = r.device,
                  .local = cube(length(r, l)),
                  .precision = precision,
                  .link_reals = reals,
                  .columns = columns});
}

/// Operators of the other actions; the hop of walls beside their Schur complement, which has two.
void operators(const Request& r, const Emit& emit) {
  const auto measure = [&](const char* action, int ls, const char* form, const Storage& storage,
                           const char* stage = "whole") {
    hop_case(r, emit, "operators",
             {.device = r.device,
              .local = cube(length(r, 16)),
              .precision = storage.precision,
              .form = form,
              .link_reals = storage.link_reals,
              .stage = stage,
              .action = action,
              .ls = ls});
  };
  for (const Storage& storage : {storages[0], storages[1], storages[2]})
    for (const int ls : {8, 16}) {
      measure("domain-wall", ls, "hopping", storage);
      for (const char* form : {"schur", "schur-asymmetric"})
        for (const char* stage : {"whole", "separate"}) measure("domain-wall", ls, form, storage, stage);
    }
  for (const Storage& storage : {storages[0], storages[1], storages[2]})
    for (const char* action : {"wilson", "twisted"}) measure(action, 1, "schur", storage);
  for (const Storage& storage : {storages[0], storages[1]})
    for (const char* action : {"one-link", "hisq"}) measure(action, 1, "schur", storage);
}

void graph(const Request& r, const Emit& emit) {
  for (const char* form : {"hopping", "fused"})
    for (const bool recorded : {false, true})
      hop_case(r, emit, "graph", {.device = r.device, .local = cube(length(r, 16)), .form = form, .graph = recorded});
}

void policies(const Request& r, const Emit& emit) {
  const auto measure = [&](const char* policy, const char* stage) {
    hop_case(
        r, emit, "policies",
        {.device = r.device, .local = cube(length(r, 16)), .emulate = {1, 2, 2, 2}, .policy = policy, .stage = stage});
  };
  measure("", "no-halo");
  for (const char* policy : {"staged", "zero-copy", "copy-engine", "remote-write", "merged-pack", "one-kernel"})
    for (const char* stage : {"whole", "halo"}) measure(policy, stage);
  for (const char* policy : {"staged", "copy-engine", "remote-write"}) measure(policy, "split-sites");
}

/// A thermal field, the same in every run.
qcd::GaugeField thermal(const Request& r, std::int64_t wanted) {
  qcd::GaugeField u = qcd::gauge::weak_links(bench::geometry_of(comm::world(), cube(length(r, wanted))), 0.4, 3);
  const qcd::gauge::HeatbathParameters parameters{.beta = 6.0, .overrelaxation_steps = 1, .seed = 7};
  for (std::uint64_t sweep = 0; sweep < (r.small ? 2U : 20U); ++sweep) qcd::gauge::heatbath_sweep(u, parameters, sweep);
  return u;
}
constexpr qcd::WilsonCloverAction quark{.mass = -0.2, .csw = 1.0};

void solver_case(const Request& r, const Emit& emit, const qcd::GaugeField& u, bench::DeviceSolverCase c) {
  c.device = r.device;
  c.gauge = "heatbath, beta 6";
  c.runs = r.small ? 1 : 3;
  const Json named{{"action", c.action.name}, {"solver", c.kind}, {"inner", c.inner}, {"columns", c.columns}};
  in_its_own_line(emit, "solver", named, [&](Json& line) {
    const auto found = bench::device_solver(u, c, effort(r));
    report(line, found);
    for (const auto& [key, value] : found.outcome)
      if (key == "converged" && !std::get<bool>(value)) {
        line["status"] = "failed";
        line["reason"] = "the solve did not converge";
      }
  });
}

void solver(const Request& r, const Emit& emit) {
  const qcd::GaugeField u = thermal(r, 16);
  bench::DeviceSolverCase c;
  c.action = {.mass = quark.mass, .csw = quark.csw};
  for (const char* kind : {"bicgstab", "cg"})
    for (const char* inner : {"double", "float", "fixed16", "fixed8"})
      for (const int columns : {1, 12}) {
        c.kind = kind;
        c.inner = inner;
        c.columns = columns;
        solver_case(r, emit, u, c);
      }
  c.columns = 1;
  for (const char* action : {"domain-wall", "hisq"})
    for (const char* inner : {"double", "float", "fixed16"}) {
      if (bench::is_staggered(action) && std::string(inner) == "fixed16") continue;
      c.action = {.name = action, .mass = 0.05, .ls = 8};
      c.inner = inner;
      solver_case(r, emit, u, c);
    }
}

/// Few kernels, so that a profiler can time each of them: Wilson quarks with one column and with twelve, domain walls.
void solve(const Request& r, const Emit& emit) {
  const qcd::GaugeField u = thermal(r, 16);
  Request brief = r;
  brief.small = true;
  bench::DeviceSolverCase c;
  c.action = {.mass = quark.mass, .csw = quark.csw};
  c.kind = "cg";
  for (const int columns : {1, 12}) {
    c.columns = columns;
    solver_case(brief, emit, u, c);
  }
  c.action = {.name = "domain-wall", .mass = 0.05, .ls = 8};
  c.inner = "double";
  c.columns = 1;
  c.tolerance = 1e-4;
  solver_case(brief, emit, u, c);
}

double distance(const Numbers& a, const Numbers& b) {
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(a[i] - b[i]);
    size += std::norm(b[i]);
  }
  return std::sqrt(difference / size);
}

/// Solutions of the device against those of the CPU, one line for each method and inner storage.
/// @param named  what the lines say of the action
void compare(const Request& r, const Emit& emit, const std::string& step, const qcd::GaugeField& u,
             const qcd::Action& action, const Json& named, const std::vector<const char*>& kinds,
             const std::vector<const char*>& inners) {
  Numbers b(static_cast<std::size_t>(components(action) * u.geometry().local_volume())), expected(b.size()),
      x(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) {
    const auto angle = static_cast<double>(i);
    b[i] = {std::sin(0.7 * angle), std::cos(1.3 * angle)};
  }
  qcd::SolverParameters parameters;
  parameters.kind = kinds[0];
  parameters.tolerance = 1e-11;
  if (const auto report = qcd::QuarkSolver(u, action, parameters).solve(expected, b); !report.converged)
    throw core::Error(fmt::format("the solve on the CPU did not converge ({})", report.reason));
  parameters.device = r.device;
  for (const char* kind : kinds)
    for (const char* inner : inners) {
      const bool mixed = std::string(inner) != "double";
      parameters.kind = kind;
      parameters.precision = mixed ? "mixed" : "double";
      parameters.inner_precision = mixed ? inner : "auto";
      Json of_case = named;
      of_case["solver"] = kind;
      of_case["inner"] = inner;
      in_its_own_line(emit, step, of_case, [&](Json& line) {
        const auto report = qcd::QuarkSolver(u, action, parameters).solve(x, b);
        const double apart = distance(x, expected);
        line["result"] = {{"converged", report.converged},
                          {"iterations", report.iterations},
                          {"reliable_updates", report.reliable_updates},
                          {"residual", report.residual},
                          {"seconds", report.seconds},
                          {"distance_to_cpu", std::isfinite(apart) ? Json(apart) : Json(nullptr)}};
        if (report.converged && apart <= agreement) return;
        line["status"] = "failed";
        line["reason"] = report.converged ? fmt::format("the solution differs from the CPU's by {:.1e}", apart)
                                          : fmt::format("the solve did not converge ({})", report.reason);
      });
    }
}

void agrees(const Request& r, const Emit& emit) {
  compare(r, emit, "agreement", thermal(r, 16), quark, Json::object(), {"bicgstab", "cg", "gcr"},
          {"double", "float", "fixed16", "fixed8"});
}

/// The other actions that run on a device.
void actions(const Request& r, const Emit& emit) {
  const qcd::GaugeField u = thermal(r, 8);
  const std::vector<const char*> cg{"cg"};
  compare(r, emit, "actions", u, qcd::TwistedCloverAction{quark, 0.2}, {{"action", "twisted"}}, cg,
          {"double", "float", "fixed16"});
  for (const bool moebius : {false, true}) {
    qcd::DomainWallAction walls{.mass = 0.1, .m5 = 1.6, .ls = 8};
    if (moebius) walls.b = {1.5}, walls.c = {0.5};
    compare(r, emit, "actions", u, walls, {{"action", moebius ? "mobius" : "domain-wall"}, {"ls", walls.ls}}, cg,
            {"double", "float", "fixed16"});
  }
  for (const auto kind : {qcd::StaggeredKind::one_link, qcd::StaggeredKind::asqtad, qcd::StaggeredKind::hisq})
    compare(r, emit, "actions", u, qcd::StaggeredAction{.mass = 0.1, .kind = kind}, {{"action", name(kind)}}, cg,
            {"double", "float"});
}

}  // namespace

const std::vector<Step>& measuring_steps() {
  static const std::vector<Step> steps{
      {"device", 20, "name, memory and versions of the device", device},
      {"copy", 20, "copy bandwidth, the ceiling of all others", copy},
      {"agreement", 90, "solutions in every mix of precisions equal to the CPU's", agrees},
      {"actions", 90, "twisted, domain-wall and staggered quarks at 8^4 equal to the CPU's", actions},
      {"hop", 120, "hop at 32^4 in every storage, 1 and 12 columns", hop},
      {"operators", 60, "Schur complements of all actions at 16^4, and hops of domain walls", operators},
      {"graph", 30, "hop at 16^4, launched one by one and as a graph", graph},
      {"solver", 120, "solvers at 16^4 in every mix, 1 and 12 columns", solver},
      {"policies", 60, "halo policies at 16^4 with an emulated 1x2x2x2 grid", policies}};
  return steps;
}

const Step& profiled_solve() {
  static const Step step{"solve", 120,
                         "conjugate gradients at 16^4: fixed16 with 1 and 12 columns, domain walls in double", solve};
  return step;
}

}  // namespace halocline::acceptance
