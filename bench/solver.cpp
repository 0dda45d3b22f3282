// SPDX-License-Identifier: Apache-2.0
#include "bench/solver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "halocline/core/error.hpp"

namespace halocline::bench {

int applications(const std::string& kind) {
  if (kind == "auto" || kind == "bicgstab" || kind == "cg") return 2;
  if (kind == "gcr" || kind == "fgmres") return 1;
  throw core::InvalidArgument(fmt::format("the solver is \"{}\"; give one of auto, bicgstab, cg, gcr, fgmres", kind));
}

Result solver(const qcd::GaugeField& gauge, const SolverCase& c, const Effort& effort) {
  if (c.runs < 1) throw core::InvalidArgument(fmt::format("{} runs were asked for; give at least 1", c.runs));
  const int applied = applications(c.solver.kind);
  const Threads threads(c.threads);
  const auto& geometry = gauge.geometry();
  const auto& group = geometry.communicator();
  qcd::QuarkSolver quark(gauge, c.action, c.solver);

  const auto size = static_cast<std::size_t>(geometry.local_volume() * 12);
  std::vector<std::complex<double>> source(size), solution(size);
  if (geometry.offset() == Extents{}) source[0] = 1;

  qcd::SolveReport report;
  const Work solve = [&] { report = quark.solve(solution, source); };
  Result result;
  result.bench = "solver";
  result.regions = regions_of(solve);

  const bool mixed = c.solver.precision == "mixed";
  const double real_bytes = mixed ? sizeof(float) : sizeof(double);
  const Cost cost = c.solver.even_odd ? schur_cost(c.action.has_clover()) : wilson_cost(c.action.has_clover());
  const double local_sites = static_cast<double>(geometry.local_volume()) / (c.solver.even_odd ? 2 : 1);
  result.ceilings =
      bandwidth_ceilings(group, static_cast<std::int64_t>(cost.reals() * real_bytes * local_sites), effort);

  // The peak before, between and after the solves, in blocks as short as elsewhere.
  std::vector<Sample> times;
  std::vector<double> peaks, cpu_peaks;
  const auto add_peak = [&] {
    const auto measured =
        mixed ? measure(group, FmaChains<float>{}, effort) : measure(group, FmaChains<double>{}, effort);
    const double flops =
        1e-9 * group.size() * (mixed ? FmaChains<float>::flops(c.threads) : FmaChains<double>::flops(c.threads));
    peaks.push_back(flops / measured.median);
    cpu_peaks.push_back(flops / measured.cpu);
  };
  add_peak();
  for (int run = 0; run < c.runs; ++run) {
    times.push_back(time_block(group, solve));
    add_peak();
  }
  const auto middle = [](std::vector<double>& v) {
    std::ranges::nth_element(v, v.begin() + std::ssize(v) / 2);
    return v[v.size() / 2];
  };
  result.seconds = spread(times);
  result.ceilings.fma_gflops = middle(peaks);
  result.fma_gflops_of_cpu_time = middle(cpu_peaks);

  const double sites = local_sites * group.size();
  result.flops = cost.flops * sites * applied * report.iterations;
  result.bytes = cost.reals() * real_bytes * sites * applied * report.iterations;
  result.parameters = {{"gauge", c.gauge},
                       {"local", to_vector(geometry.local())},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", c.solver.precision},
                       {"solver", c.solver.kind},
                       {"even_odd", c.solver.even_odd},
                       {"tolerance", c.solver.tolerance},
                       {"mass", c.action.mass},
                       {"csw", c.action.csw}};
  result.outcome = {{"converged", report.converged},
                    {"reason", report.reason},
                    {"method", report.method},
                    {"iterations", std::int64_t(report.iterations)},
                    {"residual", report.residual}};
  return result;
}

}  // namespace halocline::bench
