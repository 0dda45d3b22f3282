// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What device_backend.cpp, which sees the gauge field, and device_engine.cu, which sees the device, tell one another.

#include <functional>
#include <memory>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/quark/device_backend.hpp"

namespace halocline::qcd::device {

/// Fills in links and clover blocks of a box. Collective.
using ReadGauge = std::function<void(const Box&, HostLinks&, HostClover&)>;

/// open_backend() for a gauge field that `read` reads when the device is open and memory has been found to suffice.
std::unique_ptr<Backend> make_backend(std::shared_ptr<const lattice::Geometry4> geometry, const ReadGauge& read,
                                      const Action& action, const BackendOptions& options);

}  // namespace halocline::qcd::device
