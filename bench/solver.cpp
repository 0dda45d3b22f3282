// SPDX-License-Identifier: Apache-2.0
#include "bench/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <span>
#include <vector>

#include "bench/schwarz_cost.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"

namespace halocline::bench {
namespace {

using Canonical = std::vector<std::complex<double>>;

/// Cost of operator and preconditioner in one iteration of one column on this process, for the method that ran.
Cost cost_of(const std::string& method, const SolverCase& c, const lattice::Geometry4& geometry) {
  const double sites = static_cast<double>(geometry.local_volume());
  if (method.starts_with("schwarz")) {
    const auto& k = c.solver.schwarz;
    const bool automatic = k.blocks == Extents{0, 0, 0, 0};
    const DomainBox box{geometry.local(), automatic ? Extents{2, 1, 1, 1} : k.blocks};
    const SchwarzSteps steps{k.nsap, k.steps, k.link_reals};
    const bool fused = k.inner == "jacobi" && k.storage == "float";
    return (fused ? fused_cost(box, steps) : preconditioner_cost(box, steps) + full_cost(box, k.link_reals)) * 2;
  }
  const qcd::Action action = action_of(c.action);
  // Costs of a site are the same on every lattice.
  const qcd::GaugeField unit(geometry_of(comm::Communicator::self(), {4, 4, 4, 4}));
  const auto setup = qcd::dirac_setup(unit, action);
  const auto d = setup->in_float(setup->points());
  const char* schur = setup->points() > 1 ? "schur-asymmetric" : "schur";
  Cost applied =
      action_cost(*d, action, c.solver.even_odd ? schur : "clover") * (c.solver.even_odd ? sites / 2 : sites);
  applied.flops *= setup->points();
  applied.spinors *= setup->points();
  return applied * applications(method, c.solver.even_odd && d->hermitian_schur());
}

/// Point sources: the spins and colours of the first site of the lattice, then those of its neighbours in x.
std::vector<Canonical> point_sources(const lattice::Geometry4& geometry, int components, int columns) {
  const auto size = static_cast<std::size_t>(geometry.local_volume() * components);
  std::vector<Canonical> sources(static_cast<std::size_t>(columns), Canonical(size));
  if (geometry.offset() == Extents{})
    for (std::size_t column = 0; column < sources.size(); ++column) sources[column][column % size] = 1;
  return sources;
}

/// FMA peaks at several times, by wall time and by CPU time [Gflop/s].
class Peaks {
public:
  Peaks(const comm::Communicator& group, bool single, int threads, const Effort& effort)
      : group_(&group), single_(single), threads_(threads), effort_(effort) {}

  void add() { single_ ? add_of<float>() : add_of<double>(); }
  double median() { return middle(wall_); }
  double median_of_cpu_time() { return middle(cpu_); }

private:
  template <class T>
  void add_of() {
    const Spread measured = measure(*group_, FmaChains<T>{}, effort_);
    const double flops = 1e-9 * group_->size() * FmaChains<T>::flops(threads_);
    wall_.push_back(flops / measured.median);
    cpu_.push_back(flops / measured.cpu);
  }
  static double middle(std::vector<double>& v) {
    std::ranges::nth_element(v, v.begin() + std::ssize(v) / 2);
    return v[v.size() / 2];
  }

  const comm::Communicator* group_;
  bool single_;
  int threads_;
  Effort effort_;
  std::vector<double> wall_, cpu_;
};

}  // namespace

int applications(const std::string& method, bool hermitian) {
  if (hermitian && method.find("cg") != std::string::npos) return 1;
  return method.find("gcr") != std::string::npos || method.find("gmres") != std::string::npos ? 1 : 2;
}

Result solver(const qcd::GaugeField& gauge, const SolverCase& c, const Effort& effort) {
  if (c.runs < 1) throw core::InvalidArgument(fmt::format("{} runs were asked for; give at least 1", c.runs));
  if (c.columns < 1) throw core::InvalidArgument(fmt::format("{} columns were asked for; give at least 1", c.columns));
  const Threads threads(c.threads);
  const auto& geometry = gauge.geometry();
  const auto& group = geometry.communicator();
  qcd::SolverParameters parameters = c.solver;
  parameters.rhs_batch = c.columns;
  qcd::QuarkSolver quark(gauge, action_of(c.action), parameters);

  const std::vector<Canonical> sources =
      point_sources(geometry, qcd::components(quark.action()) * qcd::flavours(quark.action()), c.columns);
  std::vector<Canonical> solutions(sources.size(), Canonical(sources[0].size()));
  const std::vector<std::span<const std::complex<double>>> given(sources.begin(), sources.end());
  const std::vector<std::span<std::complex<double>>> wanted(solutions.begin(), solutions.end());
  std::vector<qcd::SolveReport> reports;
  const Work solve = [&] { reports = quark.solve(wanted, given); };
  Result result;
  result.bench = "solver";
  result.regions = regions_of(solve);

  const bool mixed = c.solver.precision == "mixed";
  const double real_bytes = mixed ? sizeof(float) : sizeof(double);
  const Cost cost = cost_of(reports[0].method, c, geometry);
  result.ceilings =
      bandwidth_ceilings(group, static_cast<std::int64_t>(cost.reals(c.columns) / 2 * real_bytes), effort);

  // Measures the peak before, between and after the solves, in blocks as short as elsewhere.
  std::vector<Sample> times;
  Peaks peaks(group, mixed, c.threads, effort);
  peaks.add();
  for (int run = 0; run < c.runs; ++run) {
    times.push_back(time_block(group, solve));
    peaks.add();
  }
  result.seconds = spread(times);
  count_energy(result.seconds, group, solve);
  result.ceilings.fma_gflops = peaks.median();
  result.fma_gflops_of_cpu_time = peaks.median_of_cpu_time();

  std::int64_t most = 0, total = 0;
  const qcd::SolveReport* worst = &reports[0];
  for (const auto& report : reports) {
    most = std::max(most, std::int64_t{report.iterations});
    total += report.iterations;
    if (!report.converged || report.residual > worst->residual) worst = &report;
  }
  // Columns that iterate together share links and clover blocks.
  result.flops = cost.flops * static_cast<double>(total) * group.size();
  result.bytes =
      real_bytes * (cost.spinors * static_cast<double>(total) + cost.shared * static_cast<double>(most)) * group.size();
  result.parameters = {{"gauge", c.gauge},
                       {"local", to_vector(geometry.local())},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", c.solver.precision},
                       {"solver", c.solver.kind},
                       {"storage", c.solver.schwarz.storage},
                       {"columns", std::int64_t(c.columns)},
                       {"even_odd", c.solver.even_odd},
                       {"tolerance", c.solver.tolerance},
                       {"action", c.action.name},
                       {"ls", std::int64_t{has_walls(c.action.name) ? c.action.ls : 1}},
                       {"mass", c.action.mass},
                       {"csw", c.action.csw}};
  result.outcome = {
      {"converged", std::ranges::all_of(reports, &qcd::SolveReport::converged)},
      {"reason", worst->reason},
      {"method", worst->method},
      {"iterations", most},
      {"residual", worst->residual},
      {"seconds_an_iteration", result.seconds.median / static_cast<double>(std::max<std::int64_t>(most, 1))},
      {"seconds_a_column", result.seconds.median / c.columns}};
  return result;
}

}  // namespace halocline::bench
