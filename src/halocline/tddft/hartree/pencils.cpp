// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/hartree/pencils.hpp"

#include <cmath>
#include <limits>

namespace halocline::tddft {
namespace {

/// Cuts each range into `parts`.
std::vector<Range> cut(const std::vector<Range>& ranges, int parts) {
  std::vector<Range> pieces;
  for (const Range& range : ranges) {
    for (int i = 0; i < parts; ++i) {
      const Range piece = part_of(range.size(), parts, i);
      pieces.push_back({range.begin + piece.begin, range.begin + piece.end});
    }
  }
  return pieces;
}

std::int64_t largest_part(std::int64_t count, int parts) { return (count + parts - 1) / parts; }

/// The numbers transformed plus the numbers exchanged by the process with most work; both cost about the same.
double cost(const Grid& grid, const std::array<std::int64_t, 3>& lengths, int p1, int p2) {
  const std::int64_t kx = largest_part(lengths[0] / 2 + 1, p1), ky = largest_part(lengths[1], p2);
  const std::int64_t y = largest_part(grid.extent[1], p1), z = largest_part(grid.extent[2], p2);
  const auto planes = static_cast<double>(z), columns = static_cast<double>(kx);
  double numbers = planes * static_cast<double>(y * lengths[0]) / 2 +
                   columns * (planes * static_cast<double>(lengths[1]) + static_cast<double>(ky * lengths[2]));
  if (p1 > 1) numbers += planes * columns * static_cast<double>(y * p1);
  if (p2 > 1) numbers += planes * columns * static_cast<double>(ky * p2);
  return numbers;
}

}  // namespace

Pencils::Pencils(const Decomposition& decomposition, bool shared, const std::array<std::int64_t, 3>& lengths) {
  const std::array<int, 3>& space = decomposition.counts().space;
  const Grid& grid = decomposition.grid();
  const int mates = shared ? decomposition.box_mates().size() : 1;

  double least = std::numeric_limits<double>::infinity();
  for (int a = 1; a <= mates; ++a) {
    for (int b = 1; b <= space[0]; ++b) {
      if (mates % a != 0 || space[0] % b != 0) continue;
      const double numbers = cost(grid, lengths, space[1] * a * b, space[2] * (mates / a) * (space[0] / b));
      if (numbers >= least) continue;
      least = numbers;
      mates_ = {a, mates / a};
      within_ = {b, space[0] / b};
    }
  }

  const comm::ProcessGrid& place = decomposition.space_grid();
  space_x_ = place.coords()[0];
  box_ = {place.coords()[1], place.coords()[2]};
  share_ = shared ? decomposition.box_mates().rank() : 0;

  std::array<std::vector<Range>, 2> parts;
  for (std::size_t a = 0; a < 2; ++a) {
    std::vector<Range> boxes;
    for (int i = 0; i < space[a + 1]; ++i) {
      const Box box = decomposition.box_of(place.rank_of(std::array{0, a == 0 ? i : 0, a == 1 ? i : 0}));
      boxes.push_back({box.offset[a + 1], box.offset[a + 1] + box.extent[a + 1]});
    }
    parts[a] = cut(cut(boxes, mates_[a]), within_[a]);
  }
  y_ = parts[0];
  z_ = parts[1];
  kx_ = cut({{0, lengths[0] / 2 + 1}}, static_cast<int>(y_.size()));
  ky_ = cut({{0, lengths[1]}}, static_cast<int>(z_.size()));

  const int i = (box_[0] * mates_[0] + share_ % mates_[0]) * within_[0] + space_x_ % within_[0];
  const int j = (box_[1] * mates_[1] + share_ / mates_[0]) * within_[1] + space_x_ / within_[0];
  const comm::Communicator& group = shared ? decomposition.world() : decomposition.space();
  among_x_ = group.split((share_ * space[2] + box_[1]) * space[1] + box_[0], space_x_);
  among_y_ = group.split(j, i);
  among_z_ = group.split(i, j);
}

Rectangle Pencils::share_of(int share) const noexcept {
  const int y = (box_[0] * mates_[0] + share % mates_[0]) * within_[0];
  const int z = (box_[1] * mates_[1] + share / mates_[0]) * within_[1];
  const auto range = [](const std::vector<Range>& parts, int first, int count) {
    return Range{parts[static_cast<std::size_t>(first)].begin, parts[static_cast<std::size_t>(first + count - 1)].end};
  };
  return {range(y_, y, within_[0]), range(z_, z, within_[1])};
}

Rectangle Pencils::rows_of(int share, int x) const noexcept {
  const int y = (box_[0] * mates_[0] + share % mates_[0]) * within_[0] + x % within_[0];
  const int z = (box_[1] * mates_[1] + share / mates_[0]) * within_[1] + x / within_[0];
  return {y_[static_cast<std::size_t>(y)], z_[static_cast<std::size_t>(z)]};
}

}  // namespace halocline::tddft
