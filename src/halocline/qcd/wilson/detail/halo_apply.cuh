// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A hop with split axes: its kernels under each halo policy, and the choice of the policy.
///
///   | policy                                           | kernels, in this order                            |
///   |--------------------------------------------------|---------------------------------------------------|
///   | staged, zero-copy, gpu-aware-mpi                 | pack; interior; exterior when all faces are there |
///   | copy-engine, mixed, nvshmem across the network   | pack; interior; wait for all faces; exterior      |
///   | remote-write                                     | pack; interior; exterior, whose blocks wait       |
///   | merged-pack                                      | pack and interior; exterior, whose blocks wait    |
///   | one-kernel, nvshmem with all neighbours in reach | one kernel for pack, interior and exterior        |
///
/// A neighbour is in reach if the loads and stores of our kernels reach its memory. Each process launches the kernels
/// that its own neighbours call for.
///
/// A step waits for all faces even if no site of the target parity reads one. Without exterior sites a kernel of its
/// own waits. Fused launches are compiled for the common storages only (`common_storage`); the others run
/// the kernels of remote-write in their place, as does a hop with split sites (hop_split.cuh). All policies compute a
/// site by the same code, so the policy changes no bit of a result.

#include <string>
#include <utility>
#include <vector>

#include "halocline/qcd/wilson/detail/hop_fused.cuh"
#include "halocline/qcd/wilson/detail/hop_sites.cuh"

namespace halocline::qcd::device {

/// @param input     complete but for input.halo
/// @param interior  `interior()` enqueues the kernel of the interior sites
/// @param exterior  `exterior(input, awaited)` enqueues the kernel of the exterior sites, which reads input.halo. If
///                  `awaited`, a pointer to FaceSignals, is not null, its blocks first wait for these signals
/// @param fuses     whether the launches of merged-pack and one-kernel may do the work of both
template <class S, int reals, class Interior, class Exterior>
void apply_with_halo(HopHalo<S>& halo, const HopSites& sites, const DeviceSpinor<S>& in, bool dagger,
                     HopInput<S, reals, true> input, const HopOutput<S>& output, bool fuses, const Interior& interior,
                     const Exterior& exterior) {
  const int parity = input.target_parity;
  gpu::FaceExchange& exchange = halo.exchange();
  const SiteList& outer = sites.exterior[static_cast<std::size_t>(parity)];
  const auto finish = [&]() {
    if (!exchange.waits_in_kernel() || outer.count == 0) {
      exchange.wait(halo.context()->stream);
      return exterior(input, static_cast<const gpu::FaceSignals*>(nullptr));
    }
    const gpu::FaceSignals awaited = exchange.signals();
    exchange.wait_in_kernel();
    exterior(input, &awaited);
  };
  if constexpr (common_storage<S, reals>) {
    if (fuses && exchange.merges_packing()) {
      Context& context = *halo.context();
      const SiteList& inner = sites.interior[static_cast<std::size_t>(parity)];
      const bool all = exchange.one_kernel() && outer.count > 0;
      exchange.begin(context.stream);
      input.halo = halo.reader();
      FusedHop<S, reals> hop{};
      hop.packer = halo.packer(in, parity, dagger);
      hop.signals = exchange.signals();
      hop.site.input = input;
      hop.site.output = output;
      hop.interior = inner.sites.data();
      hop.exterior = outer.sites.data();
      hop.interior_sites = inner.count;
      hop.exterior_sites = all ? outer.count : 0;
      launch_fused(context, hop);
      exchange.post(context.stream);
      if (all) return exchange.wait_in_kernel();
      return finish();
    }
  }
  halo.send(in, parity, dagger);
  interior();
  input.halo = halo.reader();
  finish();
}

/// The fastest of the available policies, as measured by all processes together (gpu::Tuner::best_for_all).
/// @param now  the present policy, which becomes the first candidate
/// @param run  `run(policy)` enqueues a hop under this policy; collective
/// Collective: yes.
template <class Run>
std::string quickest_policy(Context& context, const std::string& problem, const std::string& now, const Run& run) {
  std::vector<gpu::TuneParameters> candidates;
  for (const gpu::PolicyInfo& policy : gpu::halo_policies(context.device, context.geometry->grid())) {
    if (!policy.available) continue;
    gpu::TuneParameters p;
    p.policy = policy.name;
    candidates.insert(policy.name == now ? candidates.begin() : candidates.end(), p);
  }
  gpu::TuneProblem what{"wilson_halo", problem + ", split", 0, 0};
  for (int axis = 0; axis < 4; ++axis)
    if (context.box.is_split(axis)) what.problem += std::string(" ") + "xyzt"[axis];
  what.problem += ", grid";
  for (const int dim : context.geometry->grid().dims()) what.problem += " " + std::to_string(dim);
  return context.tuner
      .best_for_all(
          context.stream, what, candidates, [&](const gpu::TuneParameters& p) { run(p.policy); },
          context.geometry->communicator())
      .policy;
}

}  // namespace halocline::qcd::device
