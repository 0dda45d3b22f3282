// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Boxes of sites that become the sites of a coarser lattice.
///
/// An aggregate is a box of `size` sites. Aggregates tile the box of every process, so the coarse lattice is divided
/// over the same process grid, and a coarse site belongs to one process. Coarse extents may be odd, and one coarse site
/// a process is enough: the step over the edge of an axis with one site leads back to that site. A coarse lattice is an
/// ordinary Geometry4 and can be coarsened again.
///
/// Coarse sites of a process have the canonical order, x fastest. So have the fine sites of an aggregate.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "halocline/lattice/coarsening.hpp"
#include "halocline/lattice/geometry.hpp"

namespace halocline::lattice {

class Aggregates {
public:
  /// @param fine  the lattice that is coarsened
  /// @param size  sites of an aggregate along x, y, z, t
  /// @throws InvalidArgument  for a size that does not divide the extent of a process, on every rank; names the axis
  ///                          and the nearest sizes that do
  /// Collective: no.
  Aggregates(std::shared_ptr<const Geometry4> fine, const Coordinates<4>& size);

  /// On each axis the divisor of the process's extent that is nearest to the wanted size; of two equally near ones the
  /// smaller.
  static Coordinates<4> nearest(const Geometry4& fine, const Coordinates<4>& wanted) {
    return nearest_divisors(fine.local(), wanted);
  }

  const std::shared_ptr<const Geometry4>& fine() const noexcept { return fine_; }
  const std::shared_ptr<const Geometry4>& coarse() const noexcept { return coarse_; }
  const Coordinates<4>& size() const noexcept { return size_; }
  /// Number of fine sites of an aggregate.
  std::int64_t sites() const noexcept { return product<4>(size_); }
  /// Number of aggregates of this process.
  std::int64_t count() const noexcept { return coarse_->local_volume(); }

  /// The aggregate of a fine site with these local coordinates.
  std::int64_t of(const Coordinates<4>& x) const noexcept;
  /// The index of a fine site within its aggregate.
  std::int64_t within(const Coordinates<4>& x) const noexcept;
  /// Local coordinates of fine site `i` of an aggregate.
  Coordinates<4> site(std::int64_t aggregate, std::int64_t i) const noexcept;

private:
  std::shared_ptr<const Geometry4> fine_, coarse_;
  Coordinates<4> size_;
};

/// The neighbours of the sites of a process, for lattices with few sites. A site is given by its canonical index.
class SiteNeighbours {
public:
  /// Collective: no.
  explicit SiteNeighbours(std::shared_ptr<const Geometry4> geometry);

  /// The site at x + mu (direction d = mu) or x - mu (d = 4 + mu) if this process holds it; otherwise -1 - slot, where
  /// `slot` numbers the sites of that face in canonical order.
  std::int64_t of(std::int64_t site, int d) const noexcept { return table_[static_cast<std::size_t>(8 * site + d)]; }
  /// The sites of this process that the neighbour in direction d sees, in the order of its slots; empty on an axis that
  /// is not split.
  const std::vector<std::int64_t>& face(int d) const noexcept { return face_[static_cast<std::size_t>(d)]; }
  /// Whether the step from a site in direction d crosses the edge of the whole lattice.
  bool wraps(std::int64_t site, int d) const noexcept;

  const Geometry4& geometry() const noexcept { return *geometry_; }

private:
  std::shared_ptr<const Geometry4> geometry_;
  std::vector<std::int64_t> table_;
  std::array<std::vector<std::int64_t>, 8> face_;
};

}  // namespace halocline::lattice
