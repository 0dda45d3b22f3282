// SPDX-License-Identifier: Apache-2.0
#include "bench/device_operator.hpp"

#include <optional>
#include <type_traits>
#include <variant>

#include "bench/device_copy.hpp"
#include "bench/device_fields.cuh"
#include "bench/device_links.hpp"
#include "halocline/qcd/domain_wall/cuda.cuh"
#include "halocline/qcd/schur/cuda.cuh"
#include "halocline/qcd/staggered/cuda.cuh"
#include "halocline/qcd/twisted/cuda.cuh"

namespace halocline::bench {
namespace {

/// D of an action, on links and blocks that are dealt.
template <class S>
std::unique_ptr<DeviceDirac<S>> dirac(const ContextPtr& context, const DeviceDslashCase& c) {
  const qcd::Action action = device_action(c);
  if (const auto* staggered = std::get_if<qcd::StaggeredAction>(&action)) {
    if constexpr (Storage<S>::scaled) {
      throw core::InvalidArgument("staggered quarks on a device have no fixed point; give double or float");
    } else {
      const int steps = staggered->has_long_links() ? 16 : 8;
      return std::make_unique<DeviceStaggered<S>>(
          std::make_shared<const DeviceStaggeredLinks<S>>(context, dealt_staggered_links(context->box, steps), 0.1),
          c.columns);
    }
  }
  WilsonData<S> data{.links = std::make_shared<const DeviceLinks<S>>(context, dealt_links(context->box), c.link_reals),
                     .diagonal = qcd::hopping_part(action).diagonal(),
                     .mu = qcd::twisted_mass(action)};
  if (const auto* walls = std::get_if<qcd::DomainWallAction>(&action)) {
    auto d = std::make_unique<DeviceDomainWall<S>>(
        data, std::make_shared<const DeviceWallMatrices<S>>(*context, *walls), c.columns * c.ls);
    d->fuse(c.stage == "whole");
    return d;
  }
  // A solver keeps A in 56 reals. These blocks have no such form.
  data.blocks = std::make_shared<const DeviceClover<S>>(context, dealt_clover_blocks(context->box), 72);
  data.inverse = std::make_shared<const DeviceClover<S>>(context, dealt_clover_blocks(context->box), 72);
  if (data.mu != 0) return std::make_unique<DeviceTwisted<S>>(data, c.columns);
  return std::make_unique<DeviceWilson<S>>(data, c.columns);
}

template <class S>
void run(DeviceResult& result, const std::shared_ptr<const lattice::Geometry4>& geometry, const gpu::Device& device,
         const DeviceDslashCase& c, const Effort& effort) {
  const auto& group = geometry->communicator();
  const auto context = std::make_shared<Context>(device, geometry, 0u, HaloChoice{.policy = c.policy});
  const CopyBandwidth copy = copy_bandwidth(group, context->stream, effort);
  result.copy_gbytes_per_s = copy.gbytes_per_s;
  result.copy_bytes = copy.bytes;

  const auto d = dirac<S>(context, c);
  const int columns = d->columns(), components = d->components();
  const auto in = filled<S>(context, lattice::Subset::odd, 1, columns, components);
  const auto add = filled<S>(context, lattice::Subset::even, 0, columns, components);
  DeviceSpinor<S> out(context, lattice::Subset::even, columns, components);
  DeviceClock clock(group, context->stream);
  if (c.form == "hopping") {
    measure(result, clock, c.graph, [&] { d->hop(out, in, 0, false, {}); }, effort, d->exchange());
  } else {
    DeviceSchur<S> schur(*d, c.form == "schur" ? qcd::SchurForm::symmetric : qcd::SchurForm::asymmetric);
    schur.use_graphs(false);  // the clock records them
    measure(result, clock, c.graph, [&] { schur.apply(out, add); }, effort, d->exchange());
  }
  d->check();
  result.outcome = {{"policy", d->exchange() != nullptr ? d->exchange()->policy() : "none"}};
  const DeviceCost cost = device_operator_cost(c);
  const double sites = static_cast<double>(context->box.sites) * group.size();
  result.flops = cost.flops * sites;
  result.bytes = cost.bytes * sites;
  result.bytes_with_reuse = cost.bytes_with_reuse * sites;
  result.memory_bytes = static_cast<double>(device.memory().most_ours);
}

}  // namespace

void measure_device_operator(DeviceResult& result, const std::shared_ptr<const lattice::Geometry4>& geometry,
                             const gpu::Device& device, const DeviceDslashCase& c, const Effort& effort) {
  if (c.precision == "double") return run<double>(result, geometry, device, c, effort);
  if (c.precision == "float") return run<float>(result, geometry, device, c, effort);
  if (c.precision == "fixed16") return run<Fixed16>(result, geometry, device, c, effort);
  return run<Fixed8>(result, geometry, device, c, effort);
}

}  // namespace halocline::bench
