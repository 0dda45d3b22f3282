// SPDX-License-Identifier: Apache-2.0
#include "halocline/lattice/aggregates.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/lattice/neighbours.hpp"

namespace halocline::lattice {
namespace {

/// "4, 2 or 8": the divisors of `extent` nearest to `wanted`.
std::string nearby_divisors(std::int64_t extent, std::int64_t wanted) {
  std::int64_t below = 1, above = extent;
  for (std::int64_t d = 1; d <= extent; ++d) {
    if (extent % d != 0) continue;
    if (d <= wanted) below = d;
    if (d >= wanted && d < above) above = d;
  }
  return below == above ? fmt::format("{}", below) : fmt::format("{} or {}", below, above);
}

}  // namespace

Aggregates::Aggregates(std::shared_ptr<const Geometry4> fine, const Coordinates<4>& size)
    : fine_(std::move(fine)), size_(size) {
  const auto& local = fine_->local();
  Coordinates<4> coarse{};
  for (int axis = 0; axis < 4; ++axis) {
    if (size_[axis] < 1 || local[axis] % size_[axis] != 0)
      throw core::InvalidArgument(
          fmt::format("aggregates of {} sites along {} were asked for, but a process holds {} sites there; give {}",
                      size_[axis], axis_name[axis], local[axis], nearby_divisors(local[axis], size_[axis])));
    coarse[axis] = fine_->global()[axis] / size_[axis];
  }
  constexpr Coordinates<4> any{1, 1, 1, 1};
  coarse_ = std::make_shared<const Geometry4>(coarse, fine_->grid(), any);
}

std::int64_t Aggregates::of(const Coordinates<4>& x) const noexcept {
  Coordinates<4> at{};
  for (int axis = 0; axis < 4; ++axis) at[axis] = x[axis] / size_[axis];
  return linear_index<4>(at, coarse_->local());
}

std::int64_t Aggregates::within(const Coordinates<4>& x) const noexcept {
  Coordinates<4> at{};
  for (int axis = 0; axis < 4; ++axis) at[axis] = x[axis] % size_[axis];
  return linear_index<4>(at, size_);
}

Coordinates<4> Aggregates::site(std::int64_t aggregate, std::int64_t i) const noexcept {
  Coordinates<4> x = coordinates_of<4>(i, size_);
  const auto first = coordinates_of<4>(aggregate, coarse_->local());
  for (int axis = 0; axis < 4; ++axis) x[axis] += first[axis] * size_[axis];
  return x;
}

SiteNeighbours::SiteNeighbours(std::shared_ptr<const Geometry4> geometry) : geometry_(std::move(geometry)) {
  const auto& local = geometry_->local();
  const std::int64_t sites = geometry_->local_volume();
  table_.resize(static_cast<std::size_t>(8 * sites));
  for (int d = 0; d < 8; ++d) {
    const int mu = axis_of(d);
    std::int64_t slots = 0;
    for (std::int64_t site = 0; site < sites; ++site) {
      auto x = coordinates_of<4>(site, local);
      // The neighbour in direction d sees the sites that end the box on its side.
      if (geometry_->is_split(mu) && x[mu] == (step_of(d) > 0 ? local[mu] - 1 : 0))
        face_[static_cast<std::size_t>(d)].push_back(site);
      x[mu] += step_of(d);
      const bool leaves = x[mu] < 0 || x[mu] >= local[mu];
      x[mu] = (x[mu] + local[mu]) % local[mu];
      table_[static_cast<std::size_t>(8 * site + d)] =
          leaves && geometry_->is_split(mu) ? -1 - slots++ : linear_index<4>(x, local);
    }
  }
}

bool SiteNeighbours::wraps(std::int64_t site, int d) const noexcept {
  const int mu = axis_of(d);
  const auto x = coordinates_of<4>(site, geometry_->local())[static_cast<std::size_t>(mu)] +
                 geometry_->offset()[static_cast<std::size_t>(mu)] + step_of(d);
  return x < 0 || x >= geometry_->global()[static_cast<std::size_t>(mu)];
}

}  // namespace halocline::lattice
