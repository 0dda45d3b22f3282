// SPDX-License-Identifier: Apache-2.0
#pragma once
// The definition of halo_links.hpp, for one *.cpp file of each test program.

#include "halocline/qcd/field/gauge_field.hpp"
#include "qcd/device/halo_links.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::test {

HostData random_host_data(const std::shared_ptr<const lattice::Geometry4>& geometry, unsigned emulated,
                          const qcd::Action& action) {
  const auto whole = random_links(geometry->global_volume(), 11);
  auto gauge = qcd::GaugeField::from_canonical(geometry, local_part(*geometry, whole, 36), 1);
  gauge.exchange_ghosts();
  const auto box = qcd::device::Box::of(*geometry, emulated);
  return {qcd::device::host_links(box, gauge, qcd::wilson_part(action)), qcd::device::host_clover(box, gauge, action)};
}

}  // namespace halocline::test
