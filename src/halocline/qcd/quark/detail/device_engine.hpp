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

namespace halocline::qcd::device {

/// Fills in the links and clover blocks of a box. Collective: yes.
using ReadGauge = std::function<void(const Box&, HostLinks&, HostClover&)>;

/// As open_backend(). Opens the device and checks that its free memory suffices, then calls `read` for links and
/// blocks. Collective: yes.
std::unique_ptr<Backend> make_backend(std::shared_ptr<const lattice::Geometry4> geometry, const ReadGauge& read,
                                      const Action& action, const BackendOptions& options);

}  // namespace halocline::qcd::device
