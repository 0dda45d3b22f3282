// SPDX-License-Identifier: Apache-2.0
/// @file
/// tddft: a system on its processes, the state of its electrons, the ground state, orbital and cube files.
#include "halocline/core/error.hpp"
#include "halocline/tddft/ground_state/bands.hpp"
#include "halocline/tddft/ground_state/egg_box.hpp"
#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/ground_state/predictor.hpp"
#include "halocline/tddft/ground_state/start.hpp"
#include "halocline/tddft/model/characters.hpp"
#include "halocline/tddft/model/forces.hpp"
#include "tddft.hpp"

namespace halocline::bindings {

nb::dict to_dict(const tddft::Energies& energy) {
  nb::dict d;
  d["total"] = energy.total;
  d["kinetic"] = energy.kinetic;
  d["hartree"] = energy.hartree;
  d["ion_local"] = energy.ion_local;
  d["ion_nonlocal"] = energy.ion_nonlocal;
  d["xc"] = energy.xc;
  d["ion_ion"] = energy.ion_ion;
  d["entropy"] = energy.entropy;
  return d;
}

tddft::HartreeShare hartree_share_of(const std::string& name) {
  if (name == "auto") return tddft::HartreeShare::automatic;
  if (name == "redundant") return tddft::HartreeShare::redundant;
  if (name == "shared") return tddft::HartreeShare::shared;
  throw core::InvalidArgument("hartree is \"" + name + "\"; auto, redundant or shared expected");
}

std::string name_of(tddft::HartreeShare share) {
  if (share == tddft::HartreeShare::redundant) return "redundant";
  return share == tddft::HartreeShare::shared ? "shared" : "auto";
}

namespace {

using namespace tddft;
using Counts = std::array<int, 5>;

ModelOptions model_options(const std::string& xc, const std::string& hartree, const std::string& transport, bool odd) {
  ModelOptions options;
  options.xc = xc;
  options.hartree = hartree_share_of(hartree);
  options.transport = transport;
  options.odd_allowed = odd;
  return options;
}

nb::dict counts_of(const Model& model) {
  const ProcessCounts& counts = model.decomposition().counts();
  nb::dict d;
  d["k"] = counts.channels;
  d["orbitals"] = counts.orbitals;
  d["space"] = counts.space;
  d["text"] = counts.text();
  return d;
}

nb::dict hartree_of(Model& model) {
  const Hartree& hartree = model.hartree();
  nb::dict d;
  d["share"] = name_of(hartree.share());
  d["seconds_redundant"] = hartree.seconds_redundant();
  d["seconds_shared"] = hartree.seconds_shared();
  return d;
}

ScfOptions scf_options(const nb::dict& d) {
  ScfOptions o;
  o.tolerance = nb::cast<double>(d["tolerance"]);
  o.energy_tolerance = nb::cast<double>(d["energy_tolerance"]);
  o.eigen_tolerance = nb::cast<double>(d["eigen_tolerance"]);
  o.max_iterations = nb::cast<int>(d["max_iterations"]);
  o.eigensolver = nb::cast<std::string>(d["eigensolver"]);
  o.dense = nb::cast<std::string>(d["dense"]);
  o.filter_degree = nb::cast<int>(d["filter_degree"]);
  o.mixing = nb::cast<std::string>(d["mixing"]);
  o.mixing_weight = nb::cast<double>(d["mixing_weight"]);
  o.mixing_history = nb::cast<int>(d["mixing_history"]);
  o.mixing_screening = nb::cast<double>(d["mixing_screening"]);
  o.temperature = nb::cast<double>(d["temperature"]);
  o.fixed_spin = nb::cast<bool>(d["fixed_spin"]);
  o.spin_moment = nb::cast<double>(d["spin_moment"]);
  o.seed = nb::cast<std::uint64_t>(d["seed"]);
  return o;
}

nb::dict to_dict(const ScfStep& step) {
  nb::dict d;
  d["iteration"] = step.iteration;
  d["energy"] = bindings::to_dict(step.energy);
  d["energy_change"] = step.energy_change;
  d["density_residual"] = step.density_residual;
  d["eigen_residual"] = step.eigen_residual;
  d["gap"] = step.gap;
  d["seconds"] = step.seconds;
  return d;
}

nb::dict solve(Model& model, State& state, const nb::dict& given, const std::function<bool(nb::dict)>& progress) {
  const ScfOptions options = scf_options(given);
  GroundState found;
  {
    const nb::gil_scoped_release unlocked;
    const auto report = [&progress](const ScfStep& step) {
      const nb::gil_scoped_acquire lock;
      return progress(to_dict(step));
    };
    found = solve_ground_state(model, state, options, report);
  }
  nb::dict d;
  d["converged"] = found.converged;
  d["reason"] = found.reason;
  d["energy"] = bindings::to_dict(found.energy);
  d["fermi_level"] = found.fermi_level;
  d["gap"] = found.gap;
  nb::list history;
  for (const ScfStep& step : found.history) history.append(to_dict(step));
  d["history"] = history;
  return d;
}

nb::dict bands_of(Model& model, State& state, const State& ground, int bands, const nb::dict& given,
                  const std::function<bool(double)>& progress, const Vec3& a) {
  const ScfOptions options = scf_options(given);
  BandsFound found;
  {
    const nb::gil_scoped_release unlocked;
    const auto report = [&progress](double residual) {
      const nb::gil_scoped_acquire lock;
      return progress(residual);
    };
    found = solve_bands(model, state, ground, bands, options, report, a);
  }
  nb::dict d;
  d["converged"] = found.converged;
  d["residual"] = found.residual;
  d["passes"] = found.passes;
  return d;
}

nb::dict measure_egg_box(const Model& model, const std::string& transport, bool odd, const nb::dict& given, int steps,
                         const Vec3& direction) {
  const ScfOptions options = scf_options(given);
  const ModelOptions how = model_options(model.xc().name(), "auto", transport, odd);
  EggBox found;
  {
    const nb::gil_scoped_release unlocked;
    const Decomposition& division = model.decomposition();
    found = egg_box(model.system(), division.world(), division.counts(), how, options, steps, direction);
  }
  nb::dict d;
  d["shifts"] = found.shifts;
  d["energies"] = found.energies;
  d["spread"] = found.spread;
  d["largest_force"] = found.largest_force;
  return d;
}

ArrayOut<double> flat(const std::vector<double>& values) {
  return to_numpy(std::vector<double>(values), {values.size()});
}

void bind_state(nb::module_& m) {
  nb::class_<State>(m, "State", "Orbitals of this process, occupations, eigenvalues, density.")
      .def_prop_ro(
          "occupations", [](const State& s) { return flat(s.occupations); }, nb::rv_policy::move)
      .def_prop_ro(
          "eigenvalues", [](const State& s) { return flat(s.eigenvalues); }, nb::rv_policy::move)
      .def("copy", [](const State& s) { return State(s); });
}

}  // namespace

void bind_tddft_model(nb::module_& m) {
  using Released = nb::call_guard<nb::gil_scoped_release>;
  bind_state(m);
  nb::class_<Model>(m, "Model", "A system on its processes.")
      .def(
          "__init__",
          [](Model* self, const System& system, const comm::Communicator& world, const std::optional<Counts>& counts,
             const std::string& xc, const std::string& hartree, const std::string& transport, bool odd) {
            const ModelOptions options = model_options(xc, hartree, transport, odd);
            const nb::gil_scoped_release unlocked;
            const ProcessCounts chosen =
                counts ? ProcessCounts{(*counts)[0], (*counts)[1], {(*counts)[2], (*counts)[3], (*counts)[4]}}
                       : choose_counts(world.size(), system);
            new (self) Model(system, world, chosen, options);
          },
          "system"_a, "communicator"_a, "counts"_a.none(), "xc"_a, "hartree"_a = "auto", "transport"_a = "auto",
          "odd_allowed"_a = false, "Collective.")
      .def_prop_ro("counts", &counts_of, "Processes over k, orbitals and space.")
      .def_prop_ro("hartree", &hartree_of, "How the Hartree potential is shared, and what a trial of each way took.")
      .def_prop_ro("ion_ion_energy", &Model::ion_ion_energy)
      .def_prop_ro("has_kinetic", &Model::has_kinetic, "Whether the functional depends on the kinetic energy density.")
      .def_prop_ro(
          "positions",
          [](const Model& model) {
            std::vector<double> flat;
            for (const Atom& atom : model.system().atoms)
              flat.insert(flat.end(), atom.position.begin(), atom.position.end());
            return to_numpy(std::move(flat), {model.system().atoms.size(), 3});
          },
          nb::rv_policy::move, "Of the atoms [bohr], shape (atoms, 3).")
      .def_prop_ro("communicator", [](const Model& model) { return model.decomposition().world(); })
      .def("empty_state", &Model::empty_state, Released())
      .def("sum_kinetic", &Model::sum_kinetic, "state"_a, Released(),
           "The kinetic energy density of a state, for functionals that depend on it. Collective.")
      .def(
          "move_atoms", [](Model& model, const std::vector<Vec3>& positions) { model.move_atoms(positions); },
          "positions"_a, Released(), "[bohr] Collective.")
      .def(
          "energies",
          [](Model& model, const State& state) {
            Energies energy;
            {
              const nb::gil_scoped_release unlocked;
              energy = model.energies(state);
            }
            return to_dict(energy);
          },
          "state"_a, "Collective.");
  nb::class_<Predictor>(m, "Predictor", "Starts for the ground states of atoms on their way.")
      .def(nb::init<int>(), "orbitals"_a = 2)
      .def("remember", &Predictor::remember, "model"_a, "state"_a, Released(), "Collective.")
      .def(
          "move",
          [](Predictor& self, Model& model, const std::vector<Vec3>& positions) { return self.move(model, positions); },
          "model"_a, "positions"_a, Released(), "A start at these positions [bohr]. Collective.");
  m.def("solve_ground_state", &solve, "model"_a, "state"_a, "options"_a, "progress"_a, "Collective.");
  m.def("solve_bands", &bands_of, "model"_a, "state"_a, "ground"_a, "bands"_a, "options"_a, "progress"_a,
        "vector_potential"_a = Vec3{}, "States in the potential of a ground state's density. Collective.");
  m.def("egg_box", &measure_egg_box, "model"_a, "transport"_a, "odd_allowed"_a, "options"_a, "steps"_a, "direction"_a,
        "Energies as all atoms move through a cell of the grid. Collective.");
  m.def("start_from", &start_from, "model"_a, "before"_a, "state"_a, Released(),
        "A state to begin with from that of another model. Collective.");
  m.def(
      "characters",
      [](const Model& model, const State& state, int species, int l, double radius) {
        std::vector<double> found;
        {
          const nb::gil_scoped_release unlocked;
          found = characters(model, state, species, l, radius);
        }
        const std::size_t channels = model.system().channels.size();
        return to_numpy(std::move(found), {channels, static_cast<std::size_t>(model.system().states)});
      },
      "model"_a, "state"_a, "species"_a, "l"_a, "radius"_a,
      "Norms of the orbitals' parts of angular momentum l in the spheres of a species, (channels, states). "
      "Collective.");
  m.def(
      "scale_state",
      [](State& state, double factor) {
        for (double& value : state.orbitals.values()) value *= factor;
        for (double& value : state.density) value *= factor * factor;
        state.kinetic = {};
      },
      "state"_a, "factor"_a, Released(), "Multiplies the orbitals by a factor and the density by its square.");
  m.def(
      "forces",
      [](Model& model, const State& state) {
        const AtomForces found = atom_forces(model, state);
        return std::pair(found.on_atoms, found.of_grid);
      },
      "model"_a, "state"_a, Released(), "Forces, and what of the grid was taken off each [hartree/bohr]. Collective.");
}

}  // namespace halocline::bindings
