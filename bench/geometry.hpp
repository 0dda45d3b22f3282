// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The lattices and process grids of the benchmarks.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::bench {

using Extents = lattice::Coordinates<4>;

/// Distributes the prime factors of the number of processes, the largest first, to t, z, y, x, t, ...
std::vector<int> spread_processes(int processes);

/// A lattice on which each process holds `local` sites.
/// @param grid, ranks  of comm::ProcessGrid; empty: the processes are spread, in their order
/// @throws InvalidArgument  extents that are not positive, or an error of Geometry
std::shared_ptr<const lattice::Geometry4> geometry_of(const comm::Communicator& group, const Extents& local,
                                                      std::vector<int> grid = {}, std::span<const int> ranks = {});

std::vector<std::int64_t> to_vector(const Extents& extents);

}  // namespace halocline::bench
