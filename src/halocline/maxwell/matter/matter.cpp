// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/matter/matter.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace halocline::maxwell {

namespace {

/// Samples along one axis of a cell that a surface cuts.
constexpr int samples = 8;

}  // namespace

Matter::Matter(Medium background) {
  add_poles(background);
  media_.push_back(std::move(background));
}

void Matter::add_poles(const Medium& medium) {
  for (const Pole& pole : medium.poles)
    if (std::none_of(poles_.begin(), poles_.end(), [&](const Pole& known) { return known.same_motion(pole); }))
      poles_.push_back(pole);
}

void Matter::add(std::shared_ptr<const Shape> body, Medium medium) {
  add_poles(medium);
  bodies_.push_back({std::move(body), media_.size()});
  media_.push_back(std::move(medium));
}

std::size_t Matter::medium_at(const Vector3& place) const noexcept {
  for (auto body = bodies_.rbegin(); body != bodies_.rend(); ++body)
    if (body->shape->contains(place)) return body->medium;
  return 0;
}

std::vector<double> Matter::strengths_of(const Medium& medium) const {
  std::vector<double> strengths(poles_.size());
  for (const Pole& pole : medium.poles)
    for (std::size_t p = 0; p < poles_.size(); ++p)
      if (poles_[p].same_motion(pole)) strengths[p] += pole.strength;
  return strengths;
}

Matter::Local Matter::of_medium(std::size_t number) const {
  const Medium& medium = media_[number];
  return {1 / medium.permittivity, medium.conductivity, strengths_of(medium)};
}

Matter::Local Matter::local(const YeeGrid& grid, int component, const Index3& point, bool smooth) const {
  const Vector3 centre = place_of(grid, component, point);
  const std::size_t middle = medium_at(centre);
  if (!smooth || bodies_.empty()) return of_medium(middle);
  std::array<int, 3> count;
  for (int a = 0; a < 3; ++a) count[at(a)] = grid.flat(a) ? 1 : samples;
  // Samples lie in the middles of equal parts of the cell; the outermost ones tell whether a surface cuts it.
  const auto sample = [&](int a, int i) {
    return centre[at(a)] + (count[at(a)] == 1 ? 0 : ((i + 0.5) / count[at(a)] - 0.5) * grid.step[at(a)]);
  };
  bool cut = false;
  for (int corner = 0; corner < 8 && !cut; ++corner)
    cut = medium_at({sample(0, corner & 1 ? count[0] - 1 : 0), sample(1, corner & 2 ? count[1] - 1 : 0),
                     sample(2, corner & 4 ? count[2] - 1 : 0)}) != middle;
  if (!cut) return of_medium(middle);

  // Where the surface lies: moments of the set of points that are of the middle's medium, and of the permittivity.
  Vector3 of_set{}, slope{};
  for (int k = 0; k < count[2]; ++k)
    for (int j = 0; j < count[1]; ++j)
      for (int i = 0; i < count[0]; ++i) {
        const Vector3 place{sample(0, i), sample(1, j), sample(2, k)};
        const std::size_t number = medium_at(place);
        for (std::size_t a = 0; a < 3; ++a) {
          const double away = (place[a] - centre[a]) / grid.step[a];
          slope[a] += away * media_[number].permittivity;
          if (number == middle) of_set[a] += away;
        }
      }
  int across = 0;
  for (int a = 1; a < 3; ++a)
    if (std::abs(of_set[at(a)]) > std::abs(of_set[at(across)])) across = a;

  // Means over lines along that axis, with the places where the medium changes found by bisection.
  Local mean{0, 0, std::vector<double>(poles_.size())};
  double permittivity = 0, inverse = 0;
  const auto add = [&](std::size_t number, double share) {
    const Medium& medium = media_[number];
    permittivity += share * medium.permittivity;
    inverse += share / medium.permittivity;
    mean.conductivity += share * medium.conductivity;
    const std::vector<double> strengths = strengths_of(medium);
    for (std::size_t p = 0; p < strengths.size(); ++p) mean.strengths[p] += share * strengths[p];
  };
  const std::array<int, 2> others{(across + 1) % 3, (across + 2) % 3};
  const double line = 1.0 / (static_cast<double>(count[at(others[0])]) * count[at(others[1])]);
  const double from = centre[at(across)] - 0.5 * grid.step[at(across)], step = grid.step[at(across)];
  for (int j = 0; j < count[at(others[1])]; ++j)
    for (int i = 0; i < count[at(others[0])]; ++i) {
      const auto number_at = [&](double share) {
        Vector3 place;
        place[at(across)] = from + share * step;
        place[at(others[0])] = sample(others[0], i);
        place[at(others[1])] = sample(others[1], j);
        return medium_at(place);
      };
      double begin = 0;
      std::size_t number = number_at(0);
      for (int s = 1; s <= samples; ++s) {
        const double next = static_cast<double>(s) / samples;
        const std::size_t here = number_at(next);
        if (here == number) continue;
        double low = next - 1.0 / samples, high = next;
        for (int halving = 0; halving < 20; ++halving) {
          const double half = (low + high) / 2;
          (number_at(half) == number ? low : high) = half;
        }
        add(number, line * (high - begin));
        begin = high;
        number = here;
      }
      add(number, line * (1 - begin));
    }
  const double square = slope[0] * slope[0] + slope[1] * slope[1] + slope[2] * slope[2];
  const double along = slope[at(axis_of(component))];
  const double share = square > 0 ? along * along / square : 0;
  mean.inverse_permittivity = share * inverse + (1 - share) / permittivity;
  return mean;
}

void Matter::check_layer(const YeeGrid& grid, int axis, int side) const {
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  const std::int64_t layer = grid.layer.cells, cells = grid.cells[at(axis)];
  const std::int64_t first = side == 0 ? 0 : cells - layer;
  for (std::int64_t j = 0; j < grid.cells[at(c)]; ++j)
    for (std::int64_t i = 0; i < grid.cells[at(b)]; ++i) {
      Vector3 place;
      place[at(b)] = (static_cast<double>(i) + 0.5) * grid.step[at(b)];
      place[at(c)] = (static_cast<double>(j) + 0.5) * grid.step[at(c)];
      const auto medium_of_cell = [&](std::int64_t k) {
        place[at(axis)] = (static_cast<double>(k) + 0.5) * grid.step[at(axis)];
        return medium_at(place);
      };
      const std::size_t number = medium_of_cell(first);
      for (std::int64_t k = first + 1; k < first + layer; ++k)
        if (medium_of_cell(k) != number)
          throw core::InvalidArgument(fmt::format(
              "matter changes inside the absorbing layer of {} cells at the {} end of axis {}, near ({:.4g}, {:.4g}, "
              "{:.4g}) from the first node; let bodies end before the layer, or go on through it",
              layer, side == 0 ? "lower" : "upper", "xyz"[axis], place[0], place[1], place[2]));
    }
}

void Matter::check(const YeeGrid& grid) const {
  for (int axis = 0; axis < 3 && !bodies_.empty(); ++axis)
    for (int side = 0; side < 2; ++side)
      if (grid.ends[at(axis)][at(side)] == Boundary::absorbing) check_layer(grid, axis, side);
  for (const Medium& medium : media_) medium.check(grid.time_step, grid.courant_limit());
}

}  // namespace halocline::maxwell
