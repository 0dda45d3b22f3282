// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/coarse_field.hpp"

#include <fmt/format.h>

#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::qcd::multigrid {
namespace {

int checked_rows(int rows) {
  if (rows < 2 * row_group || rows % (2 * row_group) != 0)
    throw core::InvalidArgument(
        fmt::format("a coarse site of {} rows was asked for; give twice the number of test vectors, a multiple of {}",
                    rows, 2 * row_group));
  return rows;
}

}  // namespace

CoarseSpace::CoarseSpace(std::shared_ptr<const lattice::Geometry4> geometry, int rows, int columns)
    : CoarseSpace(geometry, rows, columns, geometry->local_volume()) {}

CoarseSpace::CoarseSpace(std::shared_ptr<const lattice::Geometry4> geometry, int rows, int columns, std::int64_t sites)
    : TiledSpace({sites, columns, 2 * checked_rows(rows) / row_group, row_group}, geometry->communicator()),
      geometry_(std::move(geometry)),
      rows_(rows),
      sites_(sites) {}

}  // namespace halocline::qcd::multigrid
