// SPDX-License-Identifier: Apache-2.0
/// @file
/// lattice: the box of the lattice that a process holds.
#include "bindings.hpp"

namespace halocline::bindings {

void bind_lattice(nb::module_& m) {
  using lattice::Geometry4;
  using Extents = lattice::Coordinates<4>;
  nb::class_<Geometry4>(m, "Geometry", "A lattice x, y, z, t cut into equal boxes, one a process.")
      .def(
          "__init__",
          [](Geometry4* self, const Extents& extents, const comm::Communicator& group,
             std::optional<std::vector<int>> grid, const std::vector<int>& ranks) {
            const auto dims = grid ? *grid : comm::least_surface_grid(extents, group.size());
            comm::check_grid(extents, dims, group.size());
            new (self) Geometry4(extents, comm::ProcessGrid(group, dims, {}, ranks));
          },
          "extents"_a, "communicator"_a, "grid"_a = nb::none(), "ranks"_a = std::vector<int>(),
          "grid: processes along x, y, z, t; least surface when None. ranks: the rank at each place of the grid, x "
          "fastest, as halocline.mapping finds them; in order when empty. Raises InvalidArgument, naming the possible "
          "grids, where it does not fit. Collective.")
      .def_prop_ro("extents", &Geometry4::global, "Extents x, y, z, t of the whole lattice.")
      .def_prop_ro("local", &Geometry4::local, "Extents of this process's box.")
      .def_prop_ro("offset", &Geometry4::offset, "Global coordinates of its first site.")
      .def_prop_ro("volume", &Geometry4::global_volume, "Sites of the whole lattice.")
      .def_prop_ro("communicator", &Geometry4::communicator)
      .def_prop_ro("grid",
                   [](const Geometry4& g) { return std::vector<int>(g.grid().dims().begin(), g.grid().dims().end()); })
      .def_prop_ro("coordinates", [](const Geometry4& g) {
        return std::vector<int>(g.grid().coords().begin(), g.grid().coords().end());
      });
}

}  // namespace halocline::bindings
