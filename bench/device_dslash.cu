// SPDX-License-Identifier: Apache-2.0
#include "bench/device_dslash.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <optional>

#include "bench/device_copy.hpp"
#include "bench/device_fields.cuh"
#include "bench/device_links.hpp"
#include "bench/device_operator.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/device/spinor_space.cuh"
#include "halocline/qcd/wilson/cuda.cuh"

namespace halocline::bench {
namespace {

using GeometryPtr = std::shared_ptr<const lattice::Geometry4>;

/// A hop between fields of its own, with the operations that the form adds to it.
template <class S>
class Hop {
public:
  Hop(const ContextPtr& context, const DeviceDslashCase& c)
      : context_(context),
        form_(c.form),
        in_(filled<S>(context, lattice::Subset::odd, 1, c.columns)),
        add_(filled<S>(context, lattice::Subset::even, 0, c.form == "fused" ? c.columns : 1)),
        out_(context, lattice::Subset::even, c.columns),
        hop_(std::make_shared<const DeviceLinks<S>>(context, dealt_links(context->box), c.link_reals), c.columns),
        space_(context, lattice::Subset::even, c.columns),
        sums_(context->device, 3, context->box.sites, c.columns) {
    if (form_ != "hopping") blocks_.emplace(context, dealt_clover_blocks(context->box), 72);
  }

  void whole() {
    HopTerms<S> terms;
    if (form_ != "hopping") terms.hop_blocks = &*blocks_;
    if (form_ == "fused") {
      terms.hop_scale = -1;
      terms.add = &add_;
      terms.with = &add_;
      terms.sums = &sums_;
    }
    hop_.apply(out_, in_, 0, false, terms);
  }
  void separate() {
    hop_.apply(out_, in_, 0, false);
    if (form_ != "hopping") multiply(out_, out_, *blocks_, 0);
    if (form_ != "fused") return;
    const solve::Scalars one(static_cast<std::size_t>(out_.columns()), 1.0);
    const solve::Scalars minus(one.size(), -1.0);
    solve::Scalars found(one.size());
    space_.scale(minus, out_);
    space_.axpy(one, add_, out_);
    space_.dot(found, add_, out_);
    space_.dot(found, out_, out_);
  }
  const std::string& policy() const { return hop_.halo_policy(); }
  bool splits_sites() const { return hop_.splits_sites(); }
  gpu::FaceExchange* exchange() { return hop_.exchange(); }

private:
  ContextPtr context_;
  std::string form_;
  DeviceSpinor<S> in_, add_, out_;
  Hopping<S> hop_;
  SpinorSpace<S> space_;
  gpu::SumBuffer sums_;
  std::optional<DeviceClover<S>> blocks_;
};

/// Device memory that a case needs [bytes], apart from small fixed amounts.
template <class S>
std::int64_t needed(const Box& box, const DeviceDslashCase& c) {
  std::int64_t bytes = 2 * DeviceSpinor<S>::bytes(box, lattice::Subset::even, c.columns);
  if (c.form == "fused") bytes += DeviceSpinor<S>::bytes(box, lattice::Subset::even, c.columns);
  if (c.form != "hopping") bytes += DeviceClover<S>::bytes(box, 72);
  return bytes + DeviceLinks<S>::bytes(box, c.link_reals);
}

/// Memory that the host can provide [bytes]; a large number if it is unknown.
std::int64_t host_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    std::int64_t kilobytes = 0;
    if (!(file >> kilobytes)) break;
    std::getline(file, unit);
    if (name == "MemAvailable:") return kilobytes * 1024;
  }
  return std::int64_t{1} << 60;
}

std::string gib(std::int64_t bytes) {
  const auto tenths = (bytes * 10 + (std::int64_t{1} << 29)) / (std::int64_t{1} << 30);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

/// The reason why some process has too little memory; empty if all have enough. Collective.
template <class S>
std::string shortage(const comm::Communicator& group, const ContextPtr& context, const DeviceDslashCase& c) {
  const std::int64_t here = needed<S>(context->box, c);
  // Links in double are generated and reordered on the host.
  const std::int64_t there = 2 * 16 * 18 * 8 * static_cast<std::int64_t>(context->box.sites);
  if (group.any(here > context->device.memory().free))
    return "the device has " + gib(context->device.memory().free) + " free, and the fields need " + gib(here);
  if (group.any(there > host_memory()))
    return "the host has " + gib(host_memory()) + " free, and the making of the links needs " + gib(there);
  return {};
}

/// Bytes of all messages of a hop that this process sends.
template <class S>
double message_bytes(const Box& box, int columns) {
  double bytes = 0;
  for (int axis = 0; axis < 4; ++axis)
    if (box.is_split(axis)) bytes += 2.0 * static_cast<double>(halo_bytes<S>(box.face_sites(axis), columns));
  return bytes;
}

unsigned emulated_axes(const DeviceDslashCase& c, const lattice::Geometry4& geometry) {
  unsigned axes = 0;
  for (int axis = 0; axis < 4; ++axis)
    if (c.emulate[static_cast<std::size_t>(axis)] > 1 && geometry.grid().dims()[static_cast<std::size_t>(axis)] == 1)
      axes |= 1u << axis;
  return axes;
}

/// The reason why the policy is unavailable here; empty if it is available. @throws InvalidArgument  an unknown policy
std::string policy_unavailable_reason(const gpu::Device& device, const comm::ProcessGrid& grid,
                                      const std::string& policy) {
  if (policy.empty() || policy == "auto") return {};
  std::string known;
  for (const auto& info : gpu::halo_policies(device, grid)) {
    if (info.name == policy) return info.available ? "" : info.reason;
    known += info.name + ", ";
  }
  throw core::InvalidArgument("the halo policy is \"" + policy + "\"; give " + known + "or auto");
}

/// Measures the halo without the hop.
template <class S>
void measure_halo(DeviceResult& result, DeviceClock& clock, const ContextPtr& context, const DeviceDslashCase& c,
                  const Effort& effort) {
  HopHalo<S> halo(context, c.columns, c.policy);
  gpu::FaceExchange& exchange = halo.exchange();
  result.outcome = {{"policy", exchange.policy()}, {"message_bytes", message_bytes<S>(context->box, c.columns)}};
  if (c.stage == "messages" && exchange.packs_remotely()) {
    result.skipped = "the packing kernel of the policy " + exchange.policy() + " is its message";
    return;
  }
  const auto in = filled<S>(context, lattice::Subset::odd, 1, c.columns);
  const Work all = [&] {
    halo.send(in, 0, false);
    halo.receive();
  };
  const Work messages = [&] {
    exchange.begin(context->stream);
    exchange.post(context->stream);
    exchange.wait(context->stream);
  };
  measure(result, clock, c.graph, c.stage == "halo" ? all : messages, effort, &exchange);
}

template <class S>
void run(DeviceResult& result, const GeometryPtr& geometry, const gpu::Device& device, const DeviceDslashCase& c,
         const Effort& effort) {
  const auto& group = geometry->communicator();
  const bool split = c.stage == "split-sites";
  const unsigned emulated = c.stage == "no-halo" ? 0u : emulated_axes(c, *geometry);
  const auto context =
      std::make_shared<Context>(device, geometry, emulated, HaloChoice{.policy = c.policy, .split_sites = split});
  const bool halo = c.stage == "halo" || c.stage == "messages";
  if ((halo || split) && context->box.split == 0) {
    result.skipped = "no axis is split: give more processes, or axes to emulate";
    return;
  }
  if (c.stage == "no-halo" && group.size() > 1) {
    result.skipped = "the axes between processes cannot be switched off";
    return;
  }
  if (c.graph && c.stage == "separate" && c.form == "fused") {
    result.skipped = "dot products of their own wait for the host, so it cannot be recorded as a graph";
    return;
  }
  if (context->box.split != 0) result.skipped = policy_unavailable_reason(device, geometry->grid(), c.policy);
  if (result.skipped.empty()) result.skipped = shortage<S>(group, context, c);
  if (!result.skipped.empty()) return;

  const CopyBandwidth copy = copy_bandwidth(group, context->stream, effort);
  result.copy_gbytes_per_s = copy.gbytes_per_s;
  result.copy_bytes = copy.bytes;

  DeviceClock clock(group, context->stream);
  if (halo) {
    measure_halo<S>(result, clock, context, c, effort);
  } else {
    Hop<S> hop(context, c);
    if (split && !hop.splits_sites()) {
      result.skipped = "sites are split for links of 18 reals in double, 12 in float, 12 or 8 in fixed16";
      return;
    }
    const Work whole = [&] { hop.whole(); };
    const Work separate = [&] { hop.separate(); };
    measure(result, clock, c.graph, c.stage == "separate" ? separate : whole, effort, hop.exchange());
    result.outcome = {{"policy", context->box.split != 0 ? hop.policy() : "none"},
                      {"message_bytes", message_bytes<S>(context->box, c.columns)}};
    const DeviceCost cost = device_cost(c.form, c.precision, c.link_reals, c.columns);
    const double sites = static_cast<double>(context->box.sites) * group.size();
    result.flops = cost.flops * sites;
    result.bytes = cost.bytes * sites;
    result.bytes_with_reuse = cost.bytes_with_reuse * sites;
  }
  result.memory_bytes = static_cast<double>(device.memory().most_ours);
}

}  // namespace

void measure_device_dslash(DeviceResult& result, const GeometryPtr& geometry, const DeviceDslashCase& c,
                           const Effort& effort) {
  const gpu::Device device = gpu::Device::open(c.device, geometry->communicator().split_by_node().rank());
  result.host_executor = !device.on_gpu();
  result.parameters.emplace_back("device_name", device.describe());
  if (c.has_operator()) return measure_device_operator(result, geometry, device, c, effort);
  if (c.precision == "double") return run<double>(result, geometry, device, c, effort);
  if (c.precision == "float") return run<float>(result, geometry, device, c, effort);
  if (c.precision == "fixed16") return run<Fixed16>(result, geometry, device, c, effort);
  return run<Fixed8>(result, geometry, device, c, effort);
}

}  // namespace halocline::bench
