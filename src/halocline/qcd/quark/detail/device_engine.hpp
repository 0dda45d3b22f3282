// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The interface between device_backend.cpp, which knows the gauge field, and device_engine.cu, which knows the device.

#include <functional>
#include <memory>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/quark/device_backend.hpp"
#include "halocline/qcd/staggered/host_links.hpp"

namespace halocline::qcd::device {

/// What an action needs of the gauge field, in the order of a device's memory.
struct HostData {
  HostLinks links{};
  HostClover clover{};
  HostStaggeredLinks staggered{};  ///< of staggered quarks, instead of the others
};
/// Makes the data of a box. Collective: yes.
using ReadGauge = std::function<HostData(const Box&)>;

/// As open_backend(). Opens the device and checks that its free memory suffices, then calls `read`. Collective: yes.
std::unique_ptr<Backend> make_backend(std::shared_ptr<const lattice::Geometry4> geometry, const ReadGauge& read,
                                      const Action& action, const BackendOptions& options);

}  // namespace halocline::qcd::device
