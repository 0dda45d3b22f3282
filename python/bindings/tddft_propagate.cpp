// SPDX-License-Identifier: Apache-2.0
/// @file
/// tddft: electrons in time.
#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/observables.hpp"
#include "halocline/tddft/propagate/populations.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft.hpp"

namespace halocline::bindings {
namespace {

using namespace tddft;

Pulse pulse_from(const nb::dict& d) {
  Pulse pulse;
  pulse.shape = nb::cast<std::string>(d["shape"]);
  pulse.amplitude = nb::cast<double>(d["amplitude"]);
  pulse.frequency = nb::cast<double>(d["frequency"]);
  pulse.duration = nb::cast<double>(d["duration"]);
  pulse.centre = nb::cast<double>(d["centre"]);
  pulse.phase = nb::cast<double>(d["phase"]);
  pulse.direction = nb::cast<Vec3>(d["direction"]);
  pulse.ellipticity = nb::cast<double>(d["ellipticity"]);
  pulse.around = nb::cast<Vec3>(d["around"]);
  pulse.chirp = nb::cast<double>(d["chirp"]);
  return pulse;
}

Response response_from(const nb::dict& d) {
  using Geometry = Response::Geometry;
  Response response;
  const auto geometry = nb::cast<std::string>(d["geometry"]);
  if (geometry == "longitudinal")
    response.geometry = Geometry::longitudinal;
  else if (geometry == "film")
    response.geometry = Geometry::film;
  else if (geometry == "given")
    response.geometry = Geometry::given;
  else if (geometry != "transverse")
    throw core::InvalidArgument("response is \"" + geometry + "\"; transverse, longitudinal, film or given expected");
  response.thickness = nb::cast<double>(d["thickness"]);
  response.front = nb::cast<double>(d["front"]);
  response.behind = nb::cast<double>(d["behind"]);
  return response;
}

Field field_from(const nb::dict& d) {
  Field field;
  const auto gauge = nb::cast<std::string>(d["gauge"]);
  if (gauge != "length" && gauge != "velocity")
    throw core::InvalidArgument("gauge is \"" + gauge + "\"; length or velocity expected");
  field.gauge = gauge == "length" ? Gauge::length : Gauge::velocity;
  field.kick = nb::cast<Vec3>(d["kick"]);
  field.spin_kick = nb::cast<bool>(d["spin_kick"]);
  field.response = response_from(nb::cast<nb::dict>(d["response"]));
  if (d.contains("way") && !d["way"].is_none()) {
    const auto way = nb::cast<std::array<int, 2>>(d["way"]);
    field.way = Way{way[0], way[1]};
  }
  for (nb::handle pulse : nb::cast<nb::list>(d["pulses"]))
    field.pulses.push_back(pulse_from(nb::cast<nb::dict>(pulse)));
  field.table_times = nb::cast<std::vector<double>>(d["table_times"]);
  field.table_fields = nb::cast<std::vector<Vec3>>(d["table_fields"]);
  return field;
}

PropagateOptions propagate_options(const nb::dict& d) {
  PropagateOptions options;
  options.time_step = nb::cast<double>(d["time_step"]);
  options.scheme = nb::cast<std::string>(d["scheme"]);
  options.energy_every = nb::cast<int>(d["energy_every"]);
  options.exponential_tolerance = nb::cast<double>(d["exponential_tolerance"]);
  options.correction_tolerance = nb::cast<double>(d["correction_tolerance"]);
  options.absorber = {nb::cast<double>(d["absorber_width"]), nb::cast<double>(d["absorber_strength"])};
  options.angular_momentum = nb::cast<bool>(d["angular_momentum"]);
  options.precision = nb::cast<std::string>(d["precision"]);
  return options;
}

std::optional<IonOptions> ion_options(const std::optional<nb::dict>& given) {
  if (!given) return std::nullopt;
  const nb::dict& d = *given;
  return IonOptions{nb::cast<std::vector<double>>(d["masses"]), nb::cast<std::vector<Vec3>>(d["velocities"]),
                    nb::cast<int>(d["every"])};
}

nb::dict to_dict(const IonRecord& ions) {
  nb::dict d;
  d["positions"] = ions.positions;
  d["velocities"] = ions.velocities;
  d["forces"] = ions.forces;
  d["kinetic"] = ions.kinetic;
  return d;
}

nb::dict to_dict(const Record& record) {
  nb::dict d;
  d["step"] = record.step;
  d["time"] = record.time;
  d["vector_potential"] = record.vector_potential;
  d["electric_field"] = record.electric_field;
  d["current"] = record.current;
  d["dipole"] = record.dipole;
  d["norm"] = record.norm;
  d["moment"] = record.moment;
  d["spin_current"] = record.spin_current;
  d["spin_dipole"] = record.spin_dipole;
  d["angular_momentum"] = record.angular_momentum;
  if (record.has_energy) d["energy"] = bindings::to_dict(record.energy);
  d["prediction_error"] = record.prediction_error;
  if (record.ions) d["ions"] = to_dict(*record.ions);
  if (record.light) {
    nb::dict light;
    light["incident"] = record.light->incident;
    light["reflected"] = record.light->reflected;
    light["transmitted"] = record.light->transmitted;
    light["near_field"] = record.light->near_field;
    d["light"] = light;
  }
  if (record.induced) {
    nb::dict induced;
    induced["potential"] = record.induced->potential;
    induced["current"] = record.induced->current;
    d["induced"] = induced;
    d["field_energy"] = record.field_energy;
  }
  return d;
}

template <Record (Propagator::*what)()>
nb::dict recorded(Propagator& propagator) {
  Record record;
  {
    const nb::gil_scoped_release unlocked;
    record = (propagator.*what)();
  }
  return to_dict(record);
}

}  // namespace

void bind_tddft_propagate(nb::module_& m) {
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<Propagator>(m, "Propagator", "Orbitals in time. Every method but the properties is collective.")
      .def(
          "__init__",
          [](Propagator* self, Model& model, State& state, const nb::dict& field, const nb::dict& options,
             const std::optional<nb::dict>& ions) {
            Field light = field_from(field);
            const PropagateOptions chosen = propagate_options(options);
            std::optional<IonOptions> moving = ion_options(ions);
            const nb::gil_scoped_release unlocked;
            new (self) Propagator(model, state, std::move(light), chosen, std::move(moving));
          },
          "model"_a, "state"_a, "field"_a, "options"_a, "ions"_a = nb::none(), nb::keep_alive<1, 2>(),
          nb::keep_alive<1, 3>())
      .def_prop_ro("step_limit", &Propagator::step_limit, "Largest stable time step [a.u.].")
      .def_prop_ro("time_step", &Propagator::time_step, "[a.u.]")
      .def_prop_ro("steps_done", &Propagator::steps_done)
      .def_prop_ro("driving_current", &Propagator::driving_current, "With the ions' part [a.u.].")
      .def("set_next_potential", &Propagator::set_next_potential, "a"_a, "A at the end of the next step [a.u.].")
      .def("give_current_to", &Propagator::give_current_to, "sum"_a.none(), "cell"_a, nb::keep_alive<1, 2>(),
           "Puts the current density of each step into a sum over many propagations.")
      .def("hold_light", &Propagator::hold_light,
           "Puts into the state what a continued run needs of light that depends on the place.")
      .def(
          "light_profile",
          [](const Propagator& self) {
            std::array<std::vector<Vec3>, 2> found;
            {
              const nb::gil_scoped_release unlocked;
              found = self.light_profile();
            }
            const auto rows = [](const std::vector<Vec3>& vectors) {
              std::vector<double> numbers;
              for (const Vec3& vector : vectors) numbers.insert(numbers.end(), vector.begin(), vector.end());
              return to_numpy(std::move(numbers), {vectors.size(), 3});
            };
            return nb::make_tuple(rows(found[0]), rows(found[1]));
          },
          "Means of A and of the current density over the planes across the way, shape (planes, 3) each [a.u.].")
      .def(
          "light_fields",
          [](const Propagator& self) {
            std::array<std::vector<double>, 2> found;
            {
              const nb::gil_scoped_release unlocked;
              found = self.light_fields();
            }
            const auto& n = self.model().system().grid.extent;
            const std::vector<std::size_t> shape{3, static_cast<std::size_t>(n[2]), static_cast<std::size_t>(n[1]),
                                                 static_cast<std::size_t>(n[0])};
            return nb::make_tuple(to_numpy(std::move(found[0]), shape), to_numpy(std::move(found[1]), shape));
          },
          "A and the current density on the whole grid, shape (3, z, y, x) each [a.u.].")
      .def("kick", &Propagator::kick, Released())
      .def("step", &recorded<&Propagator::step>)
      .def("observe", &recorded<&Propagator::observe>)
      .def(
          "resume",
          [](Propagator& self, std::int64_t steps_done, double first_norm,
             const std::optional<std::pair<std::vector<Vec3>, std::vector<Vec3>>>& atoms,
             const std::optional<std::array<Vec3, 4>>& induced) {
            IonRecord ions;
            if (atoms) std::tie(ions.positions, ions.velocities) = *atoms;
            InducedRecord field;
            if (induced) field = {(*induced)[0], (*induced)[1], (*induced)[2], (*induced)[3]};
            self.resume(steps_done, first_norm, atoms ? &ions : nullptr, induced ? &field : nullptr);
          },
          "steps_done"_a, "first_norm"_a = 0.0, "atoms"_a = nb::none(), "induced"_a = nb::none(), Released(),
          "first_norm: electrons at the first step of the run; 0: those of now. atoms: positions and velocities. "
          "induced: potential and current of the induced field at this step, and at the step before.");
  nb::class_<CellCurrents>(m, "CellCurrents", "Currents of many cells, summed over all processes in the background.")
      .def(nb::init<const comm::Communicator&, std::int64_t, std::int64_t>(), "world"_a, "cells"_a, "mine"_a)
      .def(
          "wait",
          [](CellCurrents& self) {
            std::vector<double> found;
            {
              const nb::gil_scoped_release unlocked;
              found = self.wait();
            }
            const std::size_t cells = found.size() / 3;
            return to_numpy(std::move(found), {cells, 3});
          },
          "Of the last step of each cell, shape (cells, 3). Collective.");
  m.def(
      "populations",
      [](const Model& model, const State& now, const Model& holder, const State& reference, int states, const Vec3& a) {
        std::vector<double> found;
        {
          const nb::gil_scoped_release unlocked;
          found = populations(model, now, holder, reference.orbitals, states, a);
        }
        return to_numpy(std::move(found), {model.system().channels.size(), static_cast<std::size_t>(states)});
      },
      "model"_a, "now"_a, "holder"_a, "reference"_a, "states"_a, "vector_potential"_a = Vec3{},
      "Electrons in each state of a reference, shape (channels, states). Collective.");
  m.def(
      "electron_dipole",
      [](const Model& model, const State& state) {
        Vec3 dipole = moments(model.decomposition(), state.density).dipole;
        model.decomposition().space().sum(dipole);
        return dipole;
      },
      "model"_a, "state"_a, Released(), "Integral of n r of an isolated box [bohr]. Collective.");
  m.def(
      "field_of",
      [](const nb::dict& field, const std::vector<double>& times) {
        const Field light = field_from(field);
        std::vector<double> values;
        for (const double t : times)
          for (const Vec3& v : {light.electric_field(t), light.vector_potential(t)})
            values.insert(values.end(), v.begin(), v.end());
        return to_numpy(std::move(values), {times.size(), 2, 3});
      },
      "field"_a, "times"_a, "E and A at these times, shape (times, 2, 3) [a.u.].");
}

}  // namespace halocline::bindings
