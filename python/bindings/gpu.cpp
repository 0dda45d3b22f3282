// SPDX-License-Identifier: Apache-2.0
/// @file
/// gpu: which devices there are, and what the tuner remembers.
#include <set>
#include <string>

#include "bindings.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/gpu/binding.hpp"
#include "halocline/gpu/condition.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/tuning.hpp"

namespace halocline::bindings {
namespace {

using gpu::TuneCache;
using gpu::TuneKey;

nb::dict as_dict(const gpu::Properties& of) {
  nb::dict out;
  out["name"] = of.name;
  out["uuid"] = of.uuid;
  out["pci_address"] = of.pci_address;
  out["number"] = of.ordinal;
  out["major"] = of.major;
  out["minor"] = of.minor;
  out["multiprocessors"] = of.multiprocessors;
  out["memory"] = of.memory;
  out["second_level_cache"] = of.second_level_cache;
  out["shared_memory_per_block"] = of.shared_memory_per_block;
  out["driver"] = of.driver;
  out["runtime"] = of.runtime;
  return out;
}

nb::dict as_dict(const TuneKey& key, const gpu::TuneEntry& entry) {
  const gpu::TuneParameters& p = entry.parameters;
  nb::dict out;
  out["device"] = key.device;
  out["driver"] = key.driver;
  out["kernel"] = key.kernel;
  out["problem"] = key.problem;
  out["kernel_hash"] = key.kernel_hash;
  out["block"] = nb::make_tuple(p.block_x, p.block_y, p.block_z);
  out["sites_per_thread"] = p.sites_per_thread;
  out["columns_per_thread"] = p.columns_per_thread;
  out["carveout"] = p.carveout;
  out["prefetch"] = p.prefetch;
  out["evict_first"] = p.evict_first;
  out["no_allocate"] = p.no_allocate;
  out["streaming_stores"] = p.streaming_stores;
  out["policy"] = p.policy;
  out["seconds"] = entry.seconds;
  out["first_seconds"] = entry.first_seconds;
  out["bytes"] = entry.bytes;
  out["flops"] = entry.flops;
  out["candidates"] = entry.candidates;
  out["failed"] = entry.failed;
  out["failure"] = entry.failure;
  out["when"] = entry.when;
  return out;
}

/// Keys from Python: (device, driver, kernel, problem, kernel_hash).
using KeyTuple = std::tuple<std::string, std::string, std::string, std::string, std::string>;

std::function<bool(const TuneKey&)> is_among(const std::vector<KeyTuple>& keys) {
  return [wanted = std::set<KeyTuple>(keys.begin(), keys.end())](const TuneKey& key) {
    return wanted.contains({key.device, key.driver, key.kernel, key.problem, key.kernel_hash});
  };
}

const char* word(TuneCache::Mode mode) {
  switch (mode) {
  case TuneCache::Mode::read_only:
    return "read-only";
  case TuneCache::Mode::off:
    return "off";
  case TuneCache::Mode::read_write:
    break;
  }
  return "read-write";
}

}  // namespace

void bind_gpu(nb::module_& m) {
  m.def("built_with_cuda", &gpu::built_with_cuda, "The library was compiled with the CUDA back end.");
  m.def("unavailable_reason", &gpu::unavailable_reason,
        "Why no GPU can be used here, one sentence; empty where one can.");
  m.def("kernel_hash", &gpu::kernel_hash, "16 hexadecimal digits made of the content of this build's device code.");
  m.def(
      "gpus",
      [] {
        nb::list out;
        for (const gpu::Properties& one : gpu::gpus()) out.append(as_dict(one));
        return out;
      },
      "Properties of the GPUs that this process sees.");
  m.def(
      "remarks",
      [](int number) {
        std::vector<std::pair<std::string, bool>> out;
        for (const gpu::Remark& one : gpu::remarks(gpu::condition(number))) out.emplace_back(one.sentence, one.hinders);
        return out;
      },
      "number"_a, nb::call_guard<nb::gil_scoped_release>(),
      "What hinders or slows work on a GPU: sentences, and whether they keep it from being used.");
  m.def(
      "binding",
      [](const std::string& pci_address, const std::string& sysfs) {
        const gpu::Binding found = gpu::binding_of(pci_address, sysfs);
        return std::pair(gpu::describe(found), gpu::far_from(found, gpu::allowed_cpus()));
      },
      "pci_address"_a, "sysfs"_a = "/sys",
      "Where a GPU is in its machine, and a sentence if this process may only run far from it; empty if unknown.");
  nb::list policies;
  for (const char* name : gpu::halo_policy_names()) policies.append(name);
  m.attr("HALO_POLICIES") = nb::tuple(policies);
  m.def(
      "halo_policies",
      [](const std::string& device) {
        const comm::ProcessGrid alone(comm::Communicator::self(), {1});
        nb::dict reasons;
        for (const gpu::PolicyInfo& policy : gpu::halo_policies(gpu::Device::open(device), alone))
          reasons[policy.name.c_str()] = policy.available ? std::string() : policy.reason;
        return reasons;
      },
      "device"_a,
      "Every way to exchange halos between devices, with the reason why this process cannot; empty where it can.");
  nb::class_<TuneCache>(m, "TuneCache", "The file of measured launch parameters; halocline.gpu.")
      .def_static("open", &TuneCache::open, "path"_a = "")
      .def_prop_ro("path", &TuneCache::path)
      .def_prop_ro("defaults", &TuneCache::defaults)
      .def_prop_ro("mode", [](const TuneCache& cache) { return word(cache.mode()); })
      .def("entries",
           [](const TuneCache& cache) {
             nb::list out;
             for (const auto& [key, entry] : cache.entries()) out.append(as_dict(key, entry));
             return out;
           })
      .def(
          "clear", [](TuneCache& cache, const std::vector<KeyTuple>& keys) { return cache.clear(is_among(keys)); },
          "keys"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("reset", &TuneCache::reset, nb::call_guard<nb::gil_scoped_release>())
      .def(
          "export_to",
          [](const TuneCache& cache, const std::string& path, const std::vector<KeyTuple>& keys) {
            return cache.export_to(path, is_among(keys));
          },
          "path"_a, "keys"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("take_warnings", &TuneCache::take_warnings);
}

}  // namespace halocline::bindings
