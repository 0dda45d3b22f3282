// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/cell_currents.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/tddft/base/index.hpp"

#include <algorithm>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

std::size_t numbers_of(std::int64_t cells, std::int64_t mine) {
  if (cells < 0 || mine < 0 || mine > cells)
    throw core::InvalidArgument(
        fmt::format("{} cells of a run given, {} of them of this process; give numbers that fit", cells, mine));
  return 3 * size(cells);
}

}  // namespace

CellCurrents::CellCurrents(const comm::Communicator& world, std::int64_t cells, std::int64_t mine)
    : sum_(world, numbers_of(cells, mine)), parts_(3 * size(cells)), mine_(mine) {}

void CellCurrents::put(std::int64_t cell, const Vec3& part) {
  if (cell < 0 || 3 * size(cell) >= parts_.size() || given_ == mine_)
    throw core::InvalidArgument(
        fmt::format("the current of cell {} was given, the {}th of {} of this process in a step "
                    "of {} cells; give each of its cells once, and wait for the sum",
                    cell, given_ + 1, mine_, parts_.size() / 3));
  for (std::size_t axis = 0; axis < 3; ++axis) parts_[3 * size(cell) + axis] += part[axis];
  if (++given_ == mine_) sum_.begin(parts_);
}

void CellCurrents::advance() { sum_.advance(); }

std::vector<double> CellCurrents::wait() {
  const core::Region region("tddft/currents of all cells");
  if (given_ != mine_)
    throw core::InvalidArgument(fmt::format("the currents of all cells were asked for after {} of {} of this process; "
                                            "take a step of each first",
                                            given_, mine_));
  if (mine_ == 0) sum_.begin(parts_);
  std::vector<double> total(parts_.size());
  sum_.wait(total);
  std::ranges::fill(parts_, 0.0);
  given_ = 0;
  return total;
}

}  // namespace halocline::tddft
