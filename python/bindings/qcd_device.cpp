// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: arrays that a solve left in the memory of a device, and which device a name means.
#include <cstring>

#include "bindings.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/gpu/stream.hpp"
#include "halocline/qcd/quark/device_backend.hpp"

namespace halocline::bindings {
namespace {

using qcd::device::DeviceSolutions;

std::vector<std::size_t> shape_of(const DeviceSolutions& held) { return {held.shape.begin(), held.shape.end()}; }

/// The array for DLPack: memory that is shared, and kept alive by what comes out.
nb::ndarray<nb::array_api, complex, nb::c_contig> exported(const DeviceSolutions& held) {
  auto* kept = new std::shared_ptr<void>(held.owner);
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::shared_ptr<void>*>(p); });
  const auto shape = shape_of(held);
  return {held.data,
          shape.size(),
          shape.data(),
          owner,
          nullptr,
          nb::dtype<complex>(),
          held.on_gpu ? nb::device::cuda::value : nb::device::cpu::value,
          held.on_gpu ? held.ordinal : 0};
}

std::vector<complex> copied(const DeviceSolutions& held) {
  std::vector<complex> values(static_cast<std::size_t>(held.bytes) / sizeof(complex));
  const auto bytes = values.size() * sizeof(complex);
  if (held.on_gpu) {
    const auto device = gpu::Device::open("cuda:" + std::to_string(held.ordinal));
    gpu::Stream stream(device);
    stream.copy_to_host(values.data(), held.data, bytes);
    stream.synchronize();
  } else {
    std::memcpy(values.data(), held.data, bytes);
  }
  return values;
}

}  // namespace

void bind_qcd_device(nb::module_& m) {
  nb::class_<DeviceSolutions>(m, "DeviceArray", "Numbers in the memory of a device; halocline.device.DeviceArray.")
      .def_ro("shape", &DeviceSolutions::shape)
      .def_ro("bytes", &DeviceSolutions::bytes)
      .def_ro("on_gpu", &DeviceSolutions::on_gpu)
      .def_ro("ordinal", &DeviceSolutions::ordinal)
      .def_prop_ro("address", [](const DeviceSolutions& held) { return reinterpret_cast<std::uintptr_t>(held.data); })
      .def("exported", &exported)
      .def("copy", [](const DeviceSolutions& held) {
        std::vector<complex> values;
        {
          const nb::gil_scoped_release unlocked;
          values = copied(held);
        }
        return to_numpy(std::move(values), shape_of(held));
      });
  m.attr("device_kernels") = qcd::device::has_kernels();
  m.def(
      "open_device",
      [](const std::string& name) {
        const std::string said = gpu::Device::open(name).describe();
        qcd::device::require_kernels(name);
        return said;
      },
      "name"_a, "What the name means here; refuses with one sentence where there is no such device.");
}

}  // namespace halocline::bindings
