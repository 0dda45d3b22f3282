// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/stencil/walk.hpp"

#include <algorithm>
#include <cstring>

namespace halocline::tddft {
namespace {

/// The row with its neighbours in x on both sides: in place if they are there, otherwise copied.
const double* along(const double* in, const Neighbourhood& near, double* copy, const Box& box, const Box& tile,
                    std::int64_t row) {
  const std::int64_t n = box.extent[0], x = tile.offset[0];
  const double* start = in + row * n * doubles_per_point;
  const std::int64_t first = x - stencil_reach, last = x + tile.extent[0] + stencil_reach;
  if (first >= 0 && last <= n) return start + x * doubles_per_point;
  const std::int64_t inner_first = std::max<std::int64_t>(first, 0), inner_last = std::min(last, n);
  const auto line = [&](std::int64_t to, const double* from) {
    std::memcpy(copy + (to - first) * doubles_per_point, from, doubles_per_point * sizeof(double));
  };
  for (std::int64_t i = first; i < 0; ++i) line(i, near.beyond[static_cast<std::size_t>(i + stencil_reach)].at(row));
  for (std::int64_t i = inner_first; i < inner_last; ++i) line(i, start + i * doubles_per_point);
  for (std::int64_t i = n; i < last; ++i) line(i, near.beyond[static_cast<std::size_t>(i - n + stencil_reach)].at(row));
  return copy + stencil_reach * doubles_per_point;
}

/// Sets the pointers of a row to all arrays but `in`. @param number  of the row in the box
/// @param x  first point of the tile
void place(detail::Row& row, const Pass& pass, const Box& box, std::int64_t number, std::int64_t x) {
  const std::int64_t first = x + box.extent[0] * number;
  if (pass.out != nullptr) row.out = pass.out + first * doubles_per_point;
  if (pass.base != nullptr) row.base = pass.base + first * doubles_per_point;
  if (pass.v != nullptr) row.v = pass.v + first;
  if (pass.field != nullptr) row.field = pass.field + first;
  if (pass.kept != nullptr) {
    row.kept_begin = std::max<std::int64_t>(pass.kept[number].begin - x, 0);
    row.kept_end = std::min(pass.kept[number].end - x, row.points);
  }
  if (pass.local != nullptr) {
    row.links = pass.local->links(number % box.extent[1], number / box.extent[1]) + x * links_per_axis;
    row.energies = pass.local->energies().data() + first;
  }
}

}  // namespace

Pass Pass::at(std::int64_t doubles) const {
  Pass moved = *this;
  if (out != nullptr) moved.out += doubles;
  if (base != nullptr) moved.base += doubles;
  moved.in += doubles;
  return moved;
}

Scratch::Scratch(const Box& box, const std::vector<Box>& tiles, bool windowed_)
    : row((box.extent[0] + 2 * stencil_reach) * doubles_per_point),
      products(static_cast<std::int64_t>(tiles.size()) * detail::most_directions * detail::most_products),
      windowed(windowed_) {
  if (!windowed) return;
  std::int64_t doubles = 0;
  for (const Box& tile : tiles) doubles = std::max(doubles, Window::doubles_for(tile.extent[0], tile.extent[1]));
  window = Window(doubles);
}

Scratch::Scratch(const PaddedRows& rows, const std::vector<Box>& tiles)
    : products(static_cast<std::int64_t>(tiles.size()) * detail::most_directions * detail::most_products),
      copy(rows.doubles()) {}

void walk(const Pass& pass, const Neighbourhood& near, const Box& box, const Box& tile, Scratch& scratch,
          double* products) {
  const std::int64_t x = tile.offset[0], shift = x * doubles_per_point;
  detail::Row row;
  row.points = tile.extent[0];
  row.component = pass.component;
  row.factors = pass.factors;
  if (pass.local != nullptr) {
    row.links_y = pass.local->step_y();
    row.links_z = pass.local->step_z();
    row.links_axis = pass.local->step_axis();
  }
  if (scratch.windowed) row.ahead = box.extent[0] * doubles_per_point;
  if (scratch.windowed) scratch.window.begin(near, box, tile);
  for (std::int64_t z = tile.offset[2]; z < tile.offset[2] + tile.extent[2]; ++z) {
    if (scratch.windowed) scratch.window.next();
    for (std::int64_t y = tile.offset[1]; y < tile.offset[1] + tile.extent[1]; ++y) {
      const std::int64_t number = y + box.extent[1] * z;
      if (scratch.windowed) {
        scratch.window.place(row, y);
      } else {
        for (std::size_t j = 0; j < 8; ++j) {
          const std::size_t above = j < 4 ? j : j + 1;
          row.y[j] = near.y[static_cast<std::size_t>(y) + above].at(z) + shift;
          row.z[j] = near.z[static_cast<std::size_t>(z) + above].at(y) + shift;
        }
        row.along = along(pass.in, near, scratch.row.data(), box, tile, number);
      }
      place(row, pass, box, number, x);
      pass.kernel(row, pass.weights, products);
    }
  }
}

void walk(const Pass& pass, const PaddedRows& rows, const double* copy, std::span<const Direction> directions,
          const Box& tile, double* products) {
  const Box& box = rows.box();
  const std::int64_t x = tile.offset[0];
  detail::Row row;
  row.points = tile.extent[0];
  row.component = pass.component;
  row.factors = pass.factors;
  const double* from = copy + x * doubles_per_point;
  for (std::int64_t z = tile.offset[2]; z < tile.offset[2] + tile.extent[2]; ++z)
    for (std::int64_t y = tile.offset[1]; y < tile.offset[1] + tile.extent[1]; ++y) {
      row.along = from + rows.row(y, z);
      for (std::size_t i = 0; i < 8; ++i) {
        const std::int64_t j = static_cast<std::int64_t>(i) - (i < 4 ? 4 : 3);
        for (std::size_t d = 0; d < directions.size(); ++d) {
          const auto& n = directions[d].steps;
          row.neighbours[d][i] = from + rows.row(y + j * n[1], z + j * n[2]) + j * n[0] * doubles_per_point;
        }
      }
      place(row, pass, box, y + box.extent[1] * z, x);
      pass.kernel(row, pass.weights, products);
    }
}

}  // namespace halocline::tddft
