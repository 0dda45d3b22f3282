// SPDX-License-Identifier: Apache-2.0
/// @file
/// The choice of a process grid: all possible grids, the one with the least halo, and the error message when there is
/// none.
///
/// A grid (d0, d1, ...) is possible when every local extent, extent / d, is a multiple of the required number. So
/// each d is a divisor of extent / required. The halo of one process is counted as the sum over split axes of local
/// volume / local extent, an integer. Both faces of an axis and all processes are alike, so factors are left out.

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/comm/group/text.hpp"
#include "halocline/core/error.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace halocline::comm {
namespace {

using Grid = std::vector<int>;
using Extents = std::span<const std::int64_t>;

/// Numbers of parts that an axis can be split into, ascending; empty when even one part is impossible.
std::vector<int> splits(std::int64_t extent, std::int64_t required, std::int64_t most) {
  std::vector<int> result;
  if (extent % required != 0) return result;
  for (std::int64_t d = 1; d <= std::min(extent / required, most); ++d) {
    if ((extent / required) % d == 0) result.push_back(static_cast<int>(d));
  }
  return result;
}

std::int64_t surface(Extents extents, const Grid& dims) {
  std::int64_t volume = 1, sum = 0;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) volume *= extents[axis] / dims[axis];
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    if (dims[axis] > 1) sum += volume / (extents[axis] / dims[axis]);
  }
  return sum;
}

std::string shape(Extents extents) { return detail::joined(extents, " x "); }

void check_extents(Extents extents, int ranks, Extents required) {
  if (extents.empty()) throw core::InvalidArgument("a lattice without axes was given, expected at least one");
  if (ranks < 1) throw core::InvalidArgument(std::to_string(ranks) + " processes given, expected at least one");
  if (required.size() != extents.size()) {
    throw core::InvalidArgument(std::to_string(required.size()) + " required multiples given for " +
                                std::to_string(extents.size()) + " axes, expected one for each");
  }
  std::int64_t sites = 1;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    if (extents[axis] < 1 || required[axis] < 1) {
      throw core::InvalidArgument("lattice " + shape(extents) + " with local extents in multiples of " +
                                  shape(required) + ": every number must be positive");
    }
    if (extents[axis] > std::numeric_limits<std::int64_t>::max() / sites) {
      throw core::InvalidArgument("lattice " + shape(extents) + " has more sites than a 64-bit integer counts");
    }
    sites *= extents[axis];
  }
  if (ranks > sites) {
    throw core::InvalidArgument("lattice " + shape(extents) + " has " + std::to_string(sites) +
                                " sites, fewer than the " + std::to_string(ranks) +
                                " processes given; use at most one process a site");
  }
}

std::vector<std::int64_t> even_x(std::size_t axes) {
  std::vector<std::int64_t> required(axes, 1);
  if (!required.empty()) required[0] = 2;
  return required;
}

/// "6, 12": the nearest numbers of processes, up to two on either side, that some grid allows.
std::string possible_ranks(Extents extents, int ranks, Extents required) {
  std::set<std::int64_t> products{1};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    std::set<std::int64_t> next;
    for (const std::int64_t product : products) {
      for (const int d : splits(extents[axis], required[axis], std::numeric_limits<int>::max()))
        next.insert(product * d);
    }
    products = std::move(next);
  }
  if (products.empty()) return "none";
  std::vector<std::int64_t> near;
  const auto above = products.upper_bound(ranks);
  auto it = above;
  for (int n = 0; n < 2 && it != products.begin(); ++n) near.insert(near.begin(), *--it);
  it = above;
  for (int n = 0; n < 2 && it != products.end(); ++n) near.push_back(*it++);
  return detail::joined(std::span<const std::int64_t>(near), ", ");
}

std::string impossible(Extents extents, int ranks, Extents required) {
  return "no process grid of " + std::to_string(ranks) + " processes divides the lattice " + shape(extents) +
         " into local extents that are multiples of " + shape(required) +
         "; nearest possible numbers of processes: " + possible_ranks(extents, ranks, required);
}

}  // namespace

std::vector<Grid> possible_grids(Extents extents, int ranks, Extents required) {
  check_extents(extents, ranks, required);
  const std::size_t axes = extents.size();
  std::vector<Grid> grids;
  Grid dims(axes, 1);
  const auto fill = [&](const auto& self, std::size_t axis, int left) -> void {
    for (const int d : splits(extents[axis], required[axis], left)) {
      if (left % d != 0) continue;
      dims[axis] = d;
      if (axis + 1 < axes) {
        self(self, axis + 1, left / d);
      } else if (d == left) {
        grids.push_back(dims);
      }
    }
  };
  fill(fill, 0, ranks);
  std::sort(grids.begin(), grids.end(), [&](const Grid& a, const Grid& b) {
    const std::int64_t of_a = surface(extents, a), of_b = surface(extents, b);
    if (of_a != of_b) return of_a < of_b;
    return std::lexicographical_compare(b.rbegin(), b.rend(), a.rbegin(), a.rend());
  });
  return grids;
}

Grid least_surface_grid(Extents extents, int ranks, Extents required) {
  if (!required.empty()) {
    const std::vector<Grid> grids = possible_grids(extents, ranks, required);
    if (grids.empty()) throw core::InvalidArgument(impossible(extents, ranks, required));
    return grids.front();
  }
  const std::vector<std::int64_t> all_even(extents.size(), 2);
  const std::vector<Grid> grids = possible_grids(extents, ranks, all_even);
  return grids.empty() ? least_surface_grid(extents, ranks, even_x(extents.size())) : grids.front();
}

void check_grid(Extents extents, std::span<const int> dims, int ranks, Extents required) {
  const std::vector<std::int64_t> fallback = even_x(extents.size());
  if (required.empty()) required = fallback;
  std::vector<Grid> grids = possible_grids(extents, ranks, required);
  if (std::any_of(grids.begin(), grids.end(), [&](const Grid& grid) { return std::ranges::equal(grid, dims); })) return;
  const std::string given = "process grid " + detail::joined(dims, " x ") + " was given; ";
  if (grids.empty()) throw core::InvalidArgument(given + impossible(extents, ranks, required));
  constexpr std::size_t most = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(grids.size(), most); ++i) {
    list += (i == 0 ? "" : ", ") + detail::joined(std::span<const int>(grids[i]), " x ");
  }
  if (grids.size() > most) list += ", and " + std::to_string(grids.size() - most) + " more";
  throw core::InvalidArgument(given + "for lattice " + shape(extents) + ", " + std::to_string(ranks) +
                              " processes and local extents in multiples of " + shape(required) +
                              " possible are: " + list);
}

}  // namespace halocline::comm
