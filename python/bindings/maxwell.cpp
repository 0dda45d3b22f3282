// SPDX-License-Identifier: Apache-2.0
/// @file
/// maxwell: grids, matter, sources, steps and what is measured.
#include "bindings.hpp"
#include "halocline/core/error.hpp"
#include "halocline/maxwell/simulation/simulation.hpp"

namespace halocline::bindings {
namespace of_maxwell {
namespace {

using namespace maxwell;  // in a namespace of its own, because tddft has other classes of these names
using Released = nb::call_guard<nb::gil_scoped_release>;

Boundary end_of(const std::string& name) {
  if (name == "periodic") return Boundary::periodic;
  if (name == "electric") return Boundary::electric;
  if (name == "magnetic") return Boundary::magnetic;
  if (name == "absorbing") return Boundary::absorbing;
  throw core::InvalidArgument("the end of an axis is \"" + name + "\"; give periodic, electric, magnetic or absorbing");
}

/// Shape (z, y, x) of the points of a box.
std::vector<std::size_t> shape_of(const Box& box) {
  return {static_cast<std::size_t>(box.extent(2)), static_cast<std::size_t>(box.extent(1)),
          static_cast<std::size_t>(box.extent(0))};
}

template <class T>
void bind_simulation(nb::module_& m, const char* name) {
  using Sim = Simulation<T>;
  nb::class_<Sim>(m, name, "Maxwell's equations on Yee's grid. Every method but those of sizes is collective.")
      .def(
          "__init__",
          [](Sim* self, const YeeGrid& grid, const Matter& matter, const comm::Communicator& group,
             std::vector<int> dims, int depth, const std::string& transport, bool smooth) {
            if (dims.empty())
              dims = comm::least_surface_grid(grid.cells, group.size(), std::vector<std::int64_t>{1, 1, 1});
            const comm::ProcessGrid processes(group, dims, {grid.periodic(0), grid.periodic(1), grid.periodic(2)});
            new (self) Sim(grid, matter, processes, SimulationOptions{depth, transport, smooth});
          },
          "grid"_a, "matter"_a, "communicator"_a, "dims"_a, "depth"_a, "transport"_a, "smooth"_a, Released())
      .def_prop_ro("steps", &Sim::steps)
      .def_prop_ro("time", &Sim::time)
      .def_prop_ro("depth", [](const Sim& self) { return self.part().depth(); })
      .def(
          "add_plane_wave",
          [](Sim& self, int axis, int direction, const Vector3& polarisation, const Index3& lower, const Index3& upper,
             const Waveform& waveform, std::vector<double> frequencies) {
            return self.add_plane_wave({axis, direction, polarisation, lower, upper, waveform}, std::move(frequencies));
          },
          "axis"_a, "direction"_a, "polarisation"_a, "lower"_a, "upper"_a, "waveform"_a, "frequencies"_a)
      .def("add_current", &Sim::add_current, "component"_a, "point"_a, "waveform"_a)
      .def(
          "add_sheet",
          [](Sim& self, int axis, int direction, std::int64_t node, const Index3& lower, const Index3& upper,
             std::array<std::vector<double>, 4> profiles, const Waveform& waveform) {
            self.add_sheet({axis, direction, node, {lower, upper}, std::move(profiles), waveform});
          },
          "axis"_a, "direction"_a, "node"_a, "lower"_a, "upper"_a, "profiles"_a, "waveform"_a)
      .def("kick", &Sim::kick, "strength"_a)
      .def("keep_dipole", &Sim::keep_dipole, "every"_a)
      .def("dipole",
           [](const Sim& self) {
             auto moments = self.dipole();
             const std::size_t samples = moments.size() / 3;
             return to_numpy(std::move(moments), {samples, 3});
           })
      .def("add_probe", &Sim::add_probe, "component"_a, "point"_a)
      .def(
          "add_spectrum",
          [](Sim& self, const Index3& lower, const Index3& upper, std::vector<int> kept,
             std::vector<double> frequencies,
             int every) { return self.add_spectrum({lower, upper}, std::move(kept), std::move(frequencies), every); },
          "lower"_a, "upper"_a, "components"_a, "frequencies"_a, "every"_a)
      .def(
          "add_cells", [](Sim& self, const Index3& lower, const Index3& upper) { self.add_cells({lower, upper}); },
          "lower"_a, "upper"_a)
      .def(
          "set_currents",
          [](Sim& self, const nb::ndarray<const double, nb::c_contig, nb::device::cpu>& currents) {
            self.set_currents({currents.data(), currents.size()});
          },
          "currents"_a, "Of the next step, shape (cells, 3).")
      .def(
          "cell_fields",
          [](const Sim& self, bool everywhere) {
            auto fields = self.cell_fields(everywhere);
            const std::size_t cells = fields.size() / 3;
            return to_numpy(std::move(fields), {cells, 3});
          },
          "everywhere"_a = true)
      .def("run", &Sim::run, "steps"_a, Released())
      .def("checkpoint",
           [](Sim& self) {
             const auto bytes = self.checkpoint();
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def(
          "resume",
          [](Sim& self, const nb::bytes& bytes) {
            self.resume({static_cast<const std::byte*>(bytes.data()), bytes.size()});
          },
          "bytes"_a)
      .def("energy",
           [](Sim& self) {
             const Energy energy = self.energy();
             return std::array<double, 3>{energy.electric, energy.magnetic, energy.polarisation};
           })
      .def("probe",
           [](const Sim& self, std::size_t number) {
             auto values = self.probe(number);
             const std::size_t count = values.size();
             return to_numpy(std::move(values), {count});
           })
      .def("probe_now", &Sim::probe_now, "number"_a)
      .def(
          "incident_field",
          [](const Sim& self, std::size_t number, std::int64_t node) { return self.plane_wave(number).at_node(node); },
          "number"_a, "node"_a)
      .def("incident_flux", [](const Sim& self, std::size_t number) { return self.plane_wave(number).flux(); })
      .def("incident_spectrum", [](const Sim& self, std::size_t number) { return self.plane_wave(number).spectrum(); })
      .def("spectrum",
           [](const Sim& self, std::size_t number, int component, std::size_t frequency) {
             return to_numpy(self.spectrum(number, component, frequency),
                             shape_of(self.spectrum_box(number, component)));
           })
      .def(
          "field",
          [](const Sim& self, int component, int copy) {
            return to_numpy(self.field(component, copy), shape_of(self.points_of(component)));
          },
          "component"_a, "copy"_a = 0)
      .def(
          "field_in",
          [](const Sim& self, int component, int copy, const Index3& lower, const Index3& upper) {
            const Box box = intersection({lower, upper}, self.points_of(component));
            return to_numpy(self.field(component, copy, box), shape_of(box));
          },
          "component"_a, "copy"_a, "lower"_a, "upper"_a);
}

void bind(nb::module_& m) {
  nb::class_<YeeGrid>(m, "Grid")
      .def(
          "__init__",
          [](YeeGrid* self, const Index3& cells, const Vector3& step,
             const std::array<std::array<std::string, 2>, 3>& ends, const Vector3& bloch, int layer_cells,
             double courant, bool cylindrical, int azimuthal) {
            new (self) YeeGrid();
            self->cylindrical = cylindrical;
            self->azimuthal = azimuthal;
            self->cells = cells;
            self->step = step;
            for (std::size_t a = 0; a < 3; ++a)
              for (std::size_t side = 0; side < 2; ++side) self->ends[a][side] = end_of(ends[a][side]);
            self->bloch = bloch;
            self->layer.cells = layer_cells;
            self->time_step = courant * self->courant_limit();
            self->check();
          },
          "cells"_a, "step"_a, "ends"_a, "bloch"_a, "layer_cells"_a, "courant"_a, "cylindrical"_a = false,
          "azimuthal"_a = 0)
      .def_ro("cells", &YeeGrid::cells)
      .def_ro("step", &YeeGrid::step)
      .def_ro("bloch", &YeeGrid::bloch)
      .def_ro("time_step", &YeeGrid::time_step)
      .def("flat", &YeeGrid::flat, "axis"_a)
      .def("periodic", &YeeGrid::periodic, "axis"_a)
      .def_prop_ro("courant_limit", &YeeGrid::courant_limit);
  nb::class_<Pole>(m, "Pole")
      .def(nb::init<double, double, double>(), "resonance"_a, "damping"_a, "strength"_a)
      .def_ro("resonance", &Pole::resonance)
      .def_ro("damping", &Pole::damping)
      .def_ro("strength", &Pole::strength);
  nb::class_<Medium>(m, "Medium")
      .def(nb::init<double, double, std::vector<Pole>>(), "permittivity"_a, "conductivity"_a, "poles"_a)
      .def_ro("permittivity", &Medium::permittivity)
      .def_ro("conductivity", &Medium::conductivity)
      .def_ro("poles", &Medium::poles)
      .def("epsilon", &Medium::epsilon, "omega"_a)
      .def("epsilon_of_scheme", &Medium::epsilon_of_scheme, "omega"_a, "time_step"_a);
  nb::class_<Shape>(m, "Shape").def("contains", &Shape::contains, "place"_a);
  m.def(
      "cuboid",
      [](const Vector3& lower, const Vector3& upper) { return std::const_pointer_cast<Shape>(cuboid(lower, upper)); },
      "lower"_a, "upper"_a);
  m.def(
      "sphere",
      [](const Vector3& centre, double radius) { return std::const_pointer_cast<Shape>(sphere(centre, radius)); },
      "centre"_a, "radius"_a);
  m.def(
      "cylinder",
      [](const Vector3& centre, const Vector3& direction, double radius, double length) {
        return std::const_pointer_cast<Shape>(cylinder(centre, direction, radius, length));
      },
      "centre"_a, "direction"_a, "radius"_a, "length"_a);
  m.def(
      "voxels",
      [](const Vector3& origin, const Vector3& step,
         const nb::ndarray<const std::uint8_t, nb::ndim<3>, nb::c_contig, nb::device::cpu>& inside) {
        const Index3 points{static_cast<std::int64_t>(inside.shape(2)), static_cast<std::int64_t>(inside.shape(1)),
                            static_cast<std::int64_t>(inside.shape(0))};
        return std::const_pointer_cast<Shape>(
            voxels(origin, step, points, {inside.data(), inside.data() + inside.size()}));
      },
      "origin"_a, "step"_a, "inside"_a, "Shape (z, y, x).");
  m.def(
      "moved",
      [](const std::shared_ptr<Shape>& body, const Vector3& by) {
        return std::const_pointer_cast<Shape>(moved(body, by));
      },
      "body"_a, "by"_a);
  nb::class_<Matter>(m, "Matter")
      .def(nb::init<Medium>(), "background"_a)
      .def(
          "add", [](Matter& self, const std::shared_ptr<Shape>& body, const Medium& medium) { self.add(body, medium); },
          "body"_a, "medium"_a)
      .def("medium_at", &Matter::medium_at, "place"_a);
  nb::class_<Waveform>(m, "Waveform")
      .def_static("gaussian", &Waveform::gaussian, "frequency"_a, "width"_a, "centre"_a, "phase"_a = 0.0,
                  "amplitude"_a = 1.0)
      .def_static("cosine_squared", &Waveform::cosine_squared, "frequency"_a, "duration"_a, "centre"_a, "phase"_a = 0.0,
                  "amplitude"_a = 1.0)
      .def_static("continuous", &Waveform::continuous, "frequency"_a, "rise"_a, "phase"_a = 0.0, "amplitude"_a = 1.0)
      .def_static("sampled", &Waveform::sampled, "values"_a, "step"_a)
      .def("__call__", &Waveform::operator(), "time"_a)
      .def_prop_ro("end", &Waveform::end);
  bind_simulation<double>(m, "SimulationDouble");
  bind_simulation<float>(m, "SimulationFloat");
}

}  // namespace
}  // namespace of_maxwell

void bind_maxwell(nb::module_& m) { of_maxwell::bind(m); }

}  // namespace halocline::bindings
