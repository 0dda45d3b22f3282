// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The lattices and process grids of the benchmarks.

#include <cstdint>
#include <memory>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::bench {

using Extents = lattice::Coordinates<4>;

/// Prime factors of the number of processes dealt to t, z, y, x, t, ... : the largest first.
std::vector<int> spread_processes(int processes);

/// A lattice of which each process holds `local` sites.
/// @throws InvalidArgument  for extents that are not positive, and as Geometry does
std::shared_ptr<const lattice::Geometry4> geometry_of(const comm::Communicator& group, const Extents& local);

std::vector<std::int64_t> to_vector(const Extents& extents);

}  // namespace halocline::bench
