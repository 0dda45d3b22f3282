// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/grid/yee_grid.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace halocline::maxwell {

namespace {

constexpr std::array<char, 3> axis_names{'x', 'y', 'z'};

void check_axis(const YeeGrid& grid, int axis) {
  const char name = axis_names[at(axis)];
  const std::int64_t cells = grid.cells[at(axis)];
  if (cells < 1)
    throw core::InvalidArgument(
        fmt::format("axis {} has {} cells; at least 1 is needed, and 1 with periodic ends makes it flat", name, cells));
  if (!(grid.step[at(axis)] > 0) || !std::isfinite(grid.step[at(axis)]))
    throw core::InvalidArgument(
        fmt::format("the step along {} is {}; a positive length is needed", name, grid.step[at(axis)]));
  const auto& [lower, upper] = grid.ends[at(axis)];
  if ((lower == Boundary::periodic) != (upper == Boundary::periodic))
    throw core::InvalidArgument(fmt::format("axis {} is periodic at one end only; both ends are, or none", name));
  if (grid.bloch[at(axis)] != 0 && lower != Boundary::periodic)
    throw core::InvalidArgument(
        fmt::format("a Bloch phase was given along {}, whose ends are walls; make both ends periodic", name));
  const std::int64_t layers =
      (lower == Boundary::absorbing ? grid.layer.cells : 0) + (upper == Boundary::absorbing ? grid.layer.cells : 0);
  if (layers > 0 && layers >= cells)
    throw core::InvalidArgument(
        fmt::format("absorbing layers of {} cells do not fit into the {} cells of axis {}; they "
                    "lie inside the grid: make it longer, or the layers thinner",
                    layers, cells, name));
}

}  // namespace

double YeeGrid::courant_limit() const noexcept {
  double sum = 0;
  for (int a = 0; a < 3; ++a)
    if (!flat(a)) sum += 1 / (step[at(a)] * step[at(a)]);
  if (cylindrical) sum += azimuthal * azimuthal / (step[0] * step[0]);
  return sum > 0 ? 1 / std::sqrt(sum) : step[0];
}

double YeeGrid::metric(int component, std::int64_t x) const noexcept {
  if (!cylindrical) return 1;
  const int axis = axis_of(component);
  if (x == 0 && !between(component, 0)) return component == 2 && azimuthal == 0 ? 4 / step[0] : 0;
  const double r = std::abs(static_cast<double>(x) + (between(component, 0) ? 0.5 : 0.0)) * step[0];
  return axis == 1 ? r : 1 / r;
}

void YeeGrid::check() const {
  for (int a = 0; a < 3; ++a) check_axis(*this, a);
  if (layer.cells < 1 || !(layer.order >= 0) || !(layer.conductivity >= 0) || !(layer.stretch >= 1) ||
      !(layer.shift >= 0))
    throw core::InvalidArgument(
        fmt::format("an absorbing layer of {} cells with order {}, conductivity {}, stretch {} and shift {} was asked "
                    "for; it takes at least 1 cell, a stretch of at least 1, and nothing negative",
                    layer.cells, layer.order, layer.conductivity, layer.stretch, layer.shift));
  if (cylindrical && (ends[0][0] != Boundary::magnetic || ends[0][1] == Boundary::magnetic || !flat(1) ||
                      complex_fields() || azimuthal < 0))
    throw core::InvalidArgument(
        fmt::format("a cylindrical grid with m = {} needs an axis at the lower end of x (\"magnetic\"), another end "
                    "above, y flat, no Bloch phases, and m of at least 0",
                    azimuthal));
  const double limit = courant_limit();
  if (!(time_step > 0) || !(time_step < limit))
    throw core::InvalidArgument(fmt::format("the time step is {:.6g}; light crosses a cell of this grid in {:.6g} "
                                            "(Courant's limit), so it must be positive and shorter",
                                            time_step, limit));
}

Part::Part(const YeeGrid& grid, const comm::ProcessGrid& processes, int depth) : grid_(grid), depth_(depth) {
  grid.check();
  if (processes.ndim() != 3)
    throw core::InvalidArgument(fmt::format("a process grid of {} axes was given; Yee's grid has 3", processes.ndim()));
  if (depth < 1) throw core::InvalidArgument(fmt::format("{} ghosts were asked for; at least 1 is needed", depth));
  for (int a = 0; a < 3; ++a) {
    const int split = processes.dims()[at(a)];
    const std::int64_t cells = grid.cells[at(a)];
    if (split > 1 && processes.periodic(a) != grid.periodic(a))
      throw core::InvalidArgument(
          fmt::format("the process grid and Yee's grid differ in whether axis {} is periodic", axis_names[at(a)]));
    const std::int64_t place = processes.coords()[at(a)];
    first_[at(a)] = cells * place / split;
    cells_[at(a)] = cells * (place + 1) / split - first_[at(a)];
    exchanged_[at(a)] = split > 1 || (grid.periodic(a) && !grid.flat(a));
    if (exchanged_[at(a)] && cells / split < depth)
      throw core::InvalidArgument(fmt::format(
          "{} cells along {} on {} processes leave {} for a process; {} steps between exchanges need as many", cells,
          axis_names[at(a)], split, cells / split, depth));
  }
}

Box Part::memory() const noexcept {
  Box box;
  for (int a = 0; a < 3; ++a) {
    box.lower[at(a)] = -ghosts(a);
    box.upper[at(a)] = cells_[at(a)] + ghosts(a);
  }
  return box;
}

Box Part::changing(int component, std::int64_t below, std::int64_t above) const noexcept {
  Box box;
  for (int a = 0; a < 3; ++a) {
    std::int64_t lower = first_[at(a)] - (exchanged(a) ? below : 0);
    std::int64_t upper = first_[at(a)] + cells_[at(a)] + (exchanged(a) ? above : 0);
    if (!grid_.periodic(a)) {
      const std::int64_t n = grid_.cells[at(a)];
      const auto& [low, high] = grid_.ends[at(a)];
      if (between(component, a)) {
        lower = std::max<std::int64_t>(lower, 0);
        upper = std::min(upper, n);
      } else {
        const std::int64_t past = high == Boundary::magnetic ? n + 1 : n;
        if (first_[at(a)] + cells_[at(a)] == n) upper = past;
        // The normal H of an electric wall stays zero by itself.
        lower = std::max<std::int64_t>(lower, low == Boundary::magnetic || !electric(component) ? 0 : 1);
        if (a == 0 && grid_.metric(component, 0) == 0) lower = std::max<std::int64_t>(lower, 1);  // zero on the axis
        upper = std::min(upper, past);
      }
    }
    box.lower[at(a)] = lower - first_[at(a)];
    box.upper[at(a)] = upper - first_[at(a)];
  }
  return box;
}

Box Part::owned(int component) const noexcept {
  Box box;
  for (int a = 0; a < 3; ++a) {
    const bool last = first_[at(a)] + cells_[at(a)] == grid_.cells[at(a)];
    box.upper[at(a)] = cells_[at(a)] + (!grid_.periodic(a) && last && !between(component, a) ? 1 : 0);
  }
  return box;
}

std::vector<Part::Image> Part::images(const Box& global, const Box& within) const {
  std::vector<Image> found;
  std::array<std::vector<std::int64_t>, 3> shifts;
  for (int a = 0; a < 3; ++a) {
    shifts[at(a)] = {0};
    if (grid_.periodic(a) && !grid_.flat(a))
      for (std::int64_t turn : {-1, 1}) shifts[at(a)].push_back(turn * grid_.cells[at(a)]);
  }
  for (const std::int64_t z : shifts[2])
    for (const std::int64_t y : shifts[1])
      for (const std::int64_t x : shifts[0]) {
        const Index3 by{x - first_[0], y - first_[1], z - first_[2]};
        const Box box = intersection(moved(global, by), within);
        if (!box.empty()) found.push_back({box, by});
      }
  return found;
}

}  // namespace halocline::maxwell
