// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/coarsening.hpp"

#include <algorithm>
#include <cstdlib>

#include "halocline/lattice/gathering.hpp"

namespace halocline::lattice {
namespace {

/// As nearest_divisors, but a size below twice the wanted one is taken first where it leaves an even number of
/// aggregates: without parities the next lattice has twice the unknowns, and a dense inverse is out of reach sooner.
/// Six sites along an axis are so coarsened to two instead of three; on 24^4 that made set-up and solves twice as fast.
/// An axis of three sites is coarsened, too.
Coordinates<4> aggregate_of(const Coordinates<4>& local, const Coordinates<4>& global, const Coordinates<4>& wanted) {
  auto size = nearest_divisors(local, wanted);
  for (int axis = 0; axis < 4; ++axis) {
    const auto even = [&](std::int64_t d) { return global[axis] / d % 2 == 0; };
    for (std::int64_t d = 2; d <= 2 * wanted[axis] - 1; ++d) {
      if (local[axis] % d != 0) continue;
      const bool nearer = std::abs(d - wanted[axis]) < std::abs(size[axis] - wanted[axis]);
      if (size[axis] == 1 || (even(d) && (!even(size[axis]) || nearer))) size[axis] = d;
    }
  }
  return size;
}

}  // namespace

Coordinates<4> nearest_divisors(const Coordinates<4>& extents, const Coordinates<4>& wanted) {
  Coordinates<4> size{1, 1, 1, 1};
  for (int axis = 0; axis < 4; ++axis)
    for (std::int64_t d = 1; d <= extents[axis]; ++d)
      if (extents[axis] % d == 0 && std::abs(d - wanted[axis]) < std::abs(size[axis] - wanted[axis])) size[axis] = d;
  return size;
}

bool has_parities(const Coordinates<4>& global, const Coordinates<4>& local) {
  return std::ranges::all_of(global, [](std::int64_t extent) { return extent % 2 == 0; }) && product<4>(local) % 2 == 0;
}

std::vector<LevelShape> level_shapes(std::span<const int> dims, const Coordinates<4>& box,
                                     const CoarseningRules& rules) {
  std::vector<LevelShape> shapes;
  std::array<int, 4> processes{dims[0], dims[1], dims[2], dims[3]};
  Coordinates<4> local = box;
  auto size = nearest_divisors(local, rules.first);
  for (;;) {
    for (int axis = 0; axis < 4; ++axis) local[axis] /= size[axis];
    const Coordinates<4> spread = local;
    const auto merged = Gathering::merged_processes(processes, local, rules.gather_below);
    Coordinates<4> global{};
    for (std::size_t axis = 0; axis < 4; ++axis) {
      global[axis] = local[axis] * processes[axis];
      local[axis] *= merged[axis];
      processes[axis] /= merged[axis];
    }
    shapes.push_back({size, global, spread, local, processes, merged});
    const int levels = static_cast<int>(shapes.size()) + 1;
    if (rules.levels > 0 ? levels >= rules.levels : shapes.back().sites() <= rules.few_sites) break;
    size = aggregate_of(local, global, rules.next);
    if (product<4>(size) == 1) break;
  }
  return shapes;
}

}  // namespace halocline::lattice
