// SPDX-License-Identifier: Apache-2.0
#include "bench/heatbath.hpp"

#include "halocline/qcd/gauge/heatbath.hpp"
#include "halocline/qcd/gauge/start.hpp"

namespace halocline::bench {

Result heatbath(const comm::Communicator& group, const HeatbathCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  const auto geometry = geometry_of(group, c.local);
  qcd::GaugeField gauge = qcd::gauge::random_links(geometry, 1);
  const qcd::gauge::HeatbathParameters parameters{
      .beta = c.beta, .overrelaxation_steps = c.overrelaxation_steps, .seed = 1};
  std::uint64_t index = 0;
  const Work sweep = [&] { qcd::gauge::heatbath_sweep(gauge, parameters, index++); };
  sweep();

  Result result;
  result.bench = "heatbath";
  result.regions = regions_of(sweep);
  const double local_links = 4.0 * static_cast<double>(geometry->local_volume());
  const double sweeps = 1 + c.overrelaxation_steps;
  // Each link is written once and read once for itself; its neighbours come from a cache at best.
  const double link_bytes = 2 * 18 * sizeof(double);
  result.flops = staple_flops * local_links * sweeps * group.size();
  result.bytes = link_bytes * local_links * sweeps * group.size();
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(local_links * 18 * sizeof(double)), effort);
  const auto times = measure_together(group, sweep, FmaChains<double>{}, effort);
  result.seconds = times.work;
  const double fma_flops = 1e-9 * FmaChains<double>::flops(c.threads) * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.parameters = {{"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", std::string("double")},
                       {"beta", c.beta},
                       {"overrelaxation_steps", std::int64_t(c.overrelaxation_steps)}};
  return result;
}

}  // namespace halocline::bench
