// SPDX-License-Identifier: Apache-2.0
/// @file
/// tddft: pseudopotentials and systems.
#include "halocline/core/error.hpp"
#include "halocline/tddft/base/symmetry.hpp"
#include "halocline/tddft/base/system.hpp"
#include "halocline/tddft/ground_state/blas.hpp"
#include "halocline/tddft/ground_state/dense_problem.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "halocline/tddft/pseudopotential/potential_file.hpp"
#include "halocline/tddft/pseudopotential/pseudopotential.hpp"
#include "halocline/tddft/xc/xc.hpp"
#include "tddft.hpp"

namespace halocline::bindings {
namespace {

using namespace tddft;
using AtomEntry = std::pair<int, Vec3>;
using SymmetryEntry = std::pair<std::array<std::array<int, 3>, 3>, std::array<std::int64_t, 3>>;
using JelliumEntry = std::tuple<double, double, Vec3>;

void bind_pseudopotential(nb::module_& m) {
  nb::class_<Pseudopotential>(m, "Pseudopotential", "A separable norm-conserving pseudopotential.")
      .def_prop_ro("symbol", &Pseudopotential::symbol)
      .def_prop_ro("origin", &Pseudopotential::origin)
      .def_prop_ro("valence", &Pseudopotential::valence)
      .def_prop_ro("functional", &Pseudopotential::functional, "That it was made for; empty where unknown.")
      .def_prop_ro("coarsest_spacing", &Pseudopotential::coarsest_spacing, "[bohr]")
      .def_prop_ro("largest_l", &Pseudopotential::largest_l)
      .def("projectors", &Pseudopotential::projectors, "l"_a)
      .def("local", &Pseudopotential::local, "r"_a, "V_local(r) [hartree], r in bohr.")
      .def("projector", &Pseudopotential::projector, "l"_a, "i"_a, "r"_a)
      .def("coupling", &Pseudopotential::coupling, "l"_a, "i"_a, "j"_a)
      .def_prop_ro("core_radius", &Pseudopotential::core_radius, "Of the core correction [bohr]; 0 without one.")
      .def("core_density", &Pseudopotential::core_density, "r"_a, "Partial core density [1/bohr^3], r in bohr.");
  m.def(
      "goedecker",
      [](const std::string& symbol, int valence, const std::string& functional) {
        return goedecker(symbol, valence, functional);
      },
      "symbol"_a, "valence"_a = 0, "functional"_a = "pade");
  m.def(
      "goedecker_symbols", [](const std::string& functional) { return goedecker_symbols(functional); },
      "functional"_a = "pade");
  m.def(
      "goedecker_valences",
      [](const std::string& symbol, const std::string& functional) { return goedecker_valences(symbol, functional); },
      "symbol"_a, "functional"_a = "pade");
  m.def(
      "read_potential_file",
      [](const std::string& path, const std::string& symbol, const std::string& format, int local, int largest,
         int valence, const std::string& name) {
        return read_potential_file(path, {symbol, format, local, largest, valence, name});
      },
      "path"_a, "symbol"_a = "", "format"_a = "", "local"_a = -1, "largest"_a = -1, "valence"_a = 0, "name"_a = "");
  m.def("library_entries", &library_entries, "path"_a, "Symbol and name of each entry of a library in GTH format.");
  m.def("potential_file_formats", &potential_file_formats);
  m.def(
      "recognised_format", [](const std::string& path) { return recognised_format(path); }, "path"_a,
      "One of potential_file_formats(), or an empty text.");
  m.def(
      "functional_warning",
      [](const Pseudopotential& p, const std::string& xc) { return functional_warning(p, xc).value_or(""); },
      "pseudopotential"_a, "xc"_a, "A sentence where they do not fit, else an empty text.");
  m.def("functionals", &ExchangeCorrelation::names);
  m.def(
      "functional_name", [](const std::string& name) { return ExchangeCorrelation(name, 1).name(); }, "name"_a,
      "The short name if there is one. Raises InvalidArgument for a name that is none.");
  m.def(
      "functional_kind",
      [](const std::string& name) {
        const ExchangeCorrelation functional(name, 1);
        if (functional.is_potential()) return "potential";
        if (functional.has_kinetic()) return "mgga";
        return functional.has_gradients() ? "gga" : "lda";
      },
      "name"_a,
      "\"lda\", \"gga\", \"mgga\", or \"potential\": a meta-GGA without an energy. Raises InvalidArgument for a name "
      "that is none.");
  m.def(
      "blas",
      [] {
        const blas::Library& found = blas::library();
        nb::dict d;
        d["name"] = found.name;
        d["file"] = found.file;
        d["threads"] = found.threads == blas::ThreadModel::openmp ? "openmp"
                       : found.threads == blas::ThreadModel::own  ? "own"
                                                                  : "none";
        d["reference"] = found.reference;
        d["reentrant"] = found.reentrant;
        return d;
      },
      "The BLAS that this process has been given, and how it divides a call over threads.");
  m.def(
      "scalapack",
      [] {
        const FoundScalapack found = find_scalapack();
        nb::dict d;
        d["file"] = found.file;
        d["problem"] = found.problem;
        return d;
      },
      "The ScaLAPACK that this process has loaded, or the end of a sentence that begins with \"this program\".");
}

/// The constructor of System, whose arguments are named in Python.
void make_system(System* self, const std::array<std::int64_t, 3>& extent, const Vec3& spacing, bool periodic,
                 const std::vector<PseudopotentialPtr>& species, const std::vector<AtomEntry>& atoms,
                 const std::optional<JelliumEntry>& jellium, const std::array<int, 3>& mesh, const Vec3& shift,
                 bool gamma_centred, int spins, double electrons, int states, bool filtered,
                 const std::optional<std::vector<Vec3>>& points, const std::optional<std::array<Vec3, 3>>& axes,
                 const std::optional<std::vector<double>>& weights, const std::vector<SymmetryEntry>& symmetries,
                 bool time_reversal, const std::array<bool, 3>& open) {
  System made;
  made.grid = {extent, spacing, periodic ? Boundary::periodic : Boundary::isolated};
  if (axes) made.grid.axes = *axes;
  made.grid.open = open;
  made.species = species;
  for (const auto& [index, position] : atoms) made.atoms.push_back({index, position});
  if (jellium) made.jellium = JelliumSphere{std::get<0>(*jellium), std::get<1>(*jellium), std::get<2>(*jellium)};
  if (points) {
    made.channels.clear();
    for (int spin = 0; spin < spins; ++spin)
      for (std::size_t i = 0; i < points->size(); ++i)
        made.channels.push_back(
            {(*points)[i], weights ? weights->at(i) : 1.0 / static_cast<double>(points->size()), spin});
  } else {
    made.channels = monkhorst_pack(made.grid, mesh, shift, gamma_centred, spins);
  }
  made.spins = spins;
  made.electrons = electrons;
  made.states = states;
  made.filtered = filtered;
  made.time_reversal = time_reversal;
  for (const auto& [rotation, moved] : symmetries) made.symmetries.push_back(symmetry_of(made, rotation, moved));
  new (self) System(std::move(made));
}

}  // namespace

void bind_tddft_system(nb::module_& m) {
  bind_pseudopotential(m);
  nb::class_<System>(m, "System", "Atoms or jellium on a grid, with k-points and spin.")
      .def("__init__", &make_system, "extent"_a, "spacing"_a, "periodic"_a, "species"_a, "atoms"_a, "jellium"_a.none(),
           "mesh"_a, "shift"_a, "gamma_centred"_a, "spins"_a, "electrons"_a, "states"_a, "filtered"_a = true,
           "points"_a = nb::none(), "axes"_a = nb::none(), "weights"_a = nb::none(),
           "symmetries"_a = std::vector<SymmetryEntry>{}, "time_reversal"_a = false, "open"_a = std::array<bool, 3>{})
      .def_ro("electrons", &System::electrons)
      .def_ro("states", &System::states)
      .def_ro("spins", &System::spins)
      .def_prop_ro("extent", [](const System& s) { return s.grid.extent; })
      .def_prop_ro("spacing", [](const System& s) { return s.grid.spacing; })
      .def_prop_ro("volume", [](const System& s) { return s.grid.volume(); })
      .def_prop_ro(
          "channels",
          [](const System& s) {
            std::vector<std::tuple<Vec3, double, int>> channels;
            for (const Channel& c : s.channels) channels.emplace_back(c.k, c.weight, c.spin);
            return channels;
          },
          "k [1/bohr], weight and spin of each.");
  m.def(
      "validate", [](const System& system, bool odd_allowed) { validate(system, odd_allowed); }, "system"_a,
      "odd_allowed"_a = false, "Raises InvalidArgument for what cannot be computed, whatever the number of processes.");
}

}  // namespace halocline::bindings
