// SPDX-License-Identifier: Apache-2.0
#include "halocline/maxwell/source/sheet.hpp"

#include "halocline/core/error.hpp"

#include <fmt/format.h>

namespace halocline::maxwell {

void check_sheet(const YeeGrid& grid, const SheetSpec& spec) {
  if (spec.axis < 0 || spec.axis > 2 || (spec.direction != 1 && spec.direction != -1))
    throw core::InvalidArgument(
        fmt::format("light through a plane across axis {} in direction {} was given; the axis is 0, 1 or 2 and the "
                    "direction 1 or -1",
                    spec.axis, spec.direction));
  if (grid.complex_fields())
    throw core::InvalidArgument("light through a plane and Bloch phases were given; leave the phases out");
  if (grid.periodic(spec.axis))
    throw core::InvalidArgument(fmt::format(
        "light through a plane across axis {} was given, which is periodic; give it other ends", spec.axis));
  const auto& [low, high] = grid.ends[at(spec.axis)];
  const std::int64_t from = (low == Boundary::absorbing ? grid.layer.cells : 0) + 1;
  const std::int64_t to = grid.cells[at(spec.axis)] - 1 - (high == Boundary::absorbing ? grid.layer.cells : 0);
  if (spec.node < from || spec.node > to)
    throw core::InvalidArgument(fmt::format(
        "light through node {} of axis {} was given; nodes {} to {} are outside of absorbing layers and walls",
        spec.node, spec.axis, from, to));
  for (int a = 0; a < 3; ++a) {
    const std::int64_t lower = a == spec.axis ? spec.node : 0;
    const std::int64_t upper = a == spec.axis ? spec.node + 1 : grid.cells[at(a)] + (grid.periodic(a) ? 0 : 1);
    if (spec.points.lower[at(a)] < lower || spec.points.upper[at(a)] > upper || spec.points.extent(a) < 1)
      throw core::InvalidArgument(
          fmt::format("light through points {} to {} of axis {} was given; the plane has points {} to {}",
                      spec.points.lower[at(a)], spec.points.upper[at(a)] - 1, a, lower, upper - 1));
  }
  for (const std::vector<double>& profile : spec.profiles)
    if (static_cast<std::int64_t>(profile.size()) != spec.points.points())
      throw core::InvalidArgument(fmt::format("a profile of {} numbers was given for {} points of the plane",
                                              profile.size(), spec.points.points()));
}

template <class T>
std::vector<Drive<T>> drives_of(const SheetSpec& spec, const Part& part, int table_of_e, int table_of_h) {
  std::vector<Drive<T>> found;
  const int p = spec.axis;
  for (int component = 0; component < components; ++component) {
    if (axis_of(component) == p) continue;
    const bool is_electric = electric(component);
    const int other = 3 - p - axis_of(component);  // of the field whose derivative along the axis is read
    const auto& profile = spec.profiles[at((is_electric ? 2 : 0) + (other == (p + 1) % 3 ? 0 : 1))];
    const double sign = (axis_of(component) + 1) % 3 == p ? 1 : -1;  // of this derivative in the curl
    const double scale = -sign * spec.direction / part.grid().step[at(p)];
    Box box = spec.points;
    if (!is_electric) {  // H lies between the nodes, on the side from which light comes
      box.lower[at(p)] = spec.direction > 0 ? spec.node - 1 : spec.node;
      box.upper[at(p)] = box.lower[at(p)] + 1;
    }
    for (const Part::Image& image : part.images(box, part.memory())) {
      auto values = std::make_shared<BoxArray<T>>(image.box);
      // A point of the process has the coordinates of the grid less its first one, and of an image another one.
      for (std::int64_t z = image.box.lower[2]; z < image.box.upper[2]; ++z)
        for (std::int64_t y = image.box.lower[1]; y < image.box.upper[1]; ++y)
          for (std::int64_t x = image.box.lower[0]; x < image.box.upper[0]; ++x) {
            const Index3 q{x - image.image[0] - box.lower[0], y - image.image[1] - box.lower[1],
                           z - image.image[2] - box.lower[2]};
            values->at(x, y, z) =
                static_cast<T>(profile[static_cast<std::size_t>(q[0] + box.extent(0) * (q[1] + box.extent(1) * q[2]))]);
          }
      found.push_back({component,
                       image.box,
                       static_cast<T>(scale),
                       {1, 0},
                       is_electric ? table_of_h : table_of_e,
                       -1,
                       0,
                       std::move(values)});
    }
  }
  return found;
}

template std::vector<Drive<float>> drives_of(const SheetSpec&, const Part&, int, int);
template std::vector<Drive<double>> drives_of(const SheetSpec&, const Part&, int, int);

}  // namespace halocline::maxwell
