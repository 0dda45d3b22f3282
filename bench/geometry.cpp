// SPDX-License-Identifier: Apache-2.0
#include "bench/geometry.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halocline/core/error.hpp"

namespace halocline::bench {

std::vector<int> spread_processes(int processes) {
  std::vector<int> factors;
  for (int p = 2; processes > 1; ++p)
    for (; processes % p == 0; processes /= p) factors.push_back(p);
  std::vector<int> grid(4, 1);
  int axis = 3;
  for (auto factor = factors.rbegin(); factor != factors.rend(); ++factor, axis = axis == 0 ? 3 : axis - 1)
    grid[static_cast<std::size_t>(axis)] *= *factor;
  return grid;
}

std::shared_ptr<const lattice::Geometry4> geometry_of(const comm::Communicator& group, const Extents& local,
                                                      std::vector<int> grid, std::span<const int> ranks) {
  if (std::ranges::any_of(local, [](std::int64_t n) { return n < 1 || n > 4096; }))
    throw core::InvalidArgument(fmt::format("the local lattice is {}x{}x{}x{}; give four extents from 1 to 4096",
                                            local[0], local[1], local[2], local[3]));
  if (grid.empty()) grid = spread_processes(group.size());
  if (grid.size() != 4)
    throw core::InvalidArgument(fmt::format("a process grid of {} axes was given; give four numbers", grid.size()));
  Extents global = local;
  for (std::size_t axis = 0; axis < 4; ++axis) global[axis] *= grid[axis];
  return std::make_shared<const lattice::Geometry4>(global, comm::ProcessGrid(group, grid, {}, ranks));
}

std::vector<std::int64_t> to_vector(const Extents& extents) { return {extents.begin(), extents.end()}; }

}  // namespace halocline::bench
