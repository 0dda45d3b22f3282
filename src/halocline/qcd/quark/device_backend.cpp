// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/device_backend.hpp"

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/detail/device_engine.hpp"

namespace halocline::qcd::device {

void require_kernels(const std::string& device) {
  if (has_kernels()) return;
  throw core::InvalidArgument("device \"" + device +
                              "\": this build leaves out the kernels of devices; give \"cpu\", or configure with "
                              "-DHALOCLINE_HOST_EXECUTOR=ON to run them on the CPU, for tests");
}

std::unique_ptr<Backend> open_backend(const GaugeField& gauge, const Action& action, const BackendOptions& options) {
  const auto read = [&](const Box& box) {
    HostData data;
    if (const auto* staggered = std::get_if<StaggeredAction>(&action)) {
      data.staggered = host_links(box, gauge, *staggered);
    } else {
      data.links = host_links(box, gauge, hopping_part(action));
      data.clover = host_clover(box, gauge, action);
    }
    return data;
  };
  return make_backend(gauge.geometry_ptr(), read, action, options);
}

}  // namespace halocline::qcd::device
