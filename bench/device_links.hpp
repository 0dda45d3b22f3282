// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links and clover blocks for benchmarks on a device, made without a gauge field.
///
/// The cost of a hop does not depend on the numbers. So the entries of a small table of random SU(3) matrices are
/// distributed over sites and directions, and a large volume costs no more than writing it. The links of a site and of
/// its neighbour need not agree.

#include <vector>

#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/staggered/host_links.hpp"

namespace halocline::bench {

/// Unit hopping coefficients and boundary phases. Not collective.
qcd::device::HostLinks dealt_links(const qcd::device::Box& box);
/// The same matrices for all steps of staggered quarks, 8 or 16. Not collective.
qcd::device::HostStaggeredLinks dealt_staggered_links(const qcd::device::Box& box, int steps);
/// [parity][site][72], hermitian and near one. Not collective.
std::vector<double> dealt_clover_blocks(const qcd::device::Box& box);

}  // namespace halocline::bench
