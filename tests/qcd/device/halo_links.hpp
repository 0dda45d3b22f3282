// SPDX-License-Identifier: Apache-2.0
#pragma once
// Links and clover blocks of a random gauge field for device tests, apart from *.cu files, which cannot see the classes
// that they come from.

#include <memory>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::test {

struct HostData {
  qcd::device::HostLinks links;
  qcd::device::HostClover clover;
};

/// Of the same field on any process grid. Collective: yes.
HostData random_host_data(const std::shared_ptr<const lattice::Geometry4>& geometry, unsigned emulated,
                          const qcd::Action& action);

}  // namespace halocline::test
