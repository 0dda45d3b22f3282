// SPDX-License-Identifier: Apache-2.0
/// @file
/// tddft: orbital files, and the density as an array and as a cube file.
#include "halocline/tddft/io/cube.hpp"
#include "halocline/tddft/io/orbital_file.hpp"
#include "tddft.hpp"

namespace halocline::bindings {
namespace {

using namespace tddft;

nb::dict to_dict(const RunPoint& point) {
  nb::dict d;
  d["step"] = point.step;
  d["time"] = point.time;
  d["time_step"] = point.time_step;
  d["kicked"] = point.kicked;
  d["note"] = point.note;
  return d;
}

std::span<const double> of_spin(const Model& model, const State& state, int spin) {
  const auto points = static_cast<std::size_t>(model.decomposition().box().points());
  return std::span<const double>(state.density).subspan(static_cast<std::size_t>(spin) * points, points);
}

/// Shape (spins, z, y, x) on rank 0, None elsewhere.
nb::object density_of(const Model& model, const State& state) {
  std::vector<double> whole;
  {
    const nb::gil_scoped_release unlocked;
    for (int spin = 0; spin < model.system().spins; ++spin) {
      const std::vector<double> part = gathered(model.decomposition(), of_spin(model, state, spin));
      whole.insert(whole.end(), part.begin(), part.end());
    }
  }
  if (model.decomposition().world().rank() != 0) return nb::none();
  std::vector<std::size_t> shape{static_cast<std::size_t>(model.system().spins)};
  for (const std::size_t axis : {2, 1, 0}) shape.push_back(static_cast<std::size_t>(model.system().grid.extent[axis]));
  return nb::cast(to_numpy(std::move(whole), std::move(shape)));
}

void density_cube(const std::string& path, const Model& model, const State& state, const std::string& comment) {
  const std::span<const double> first = of_spin(model, state, 0);
  std::vector<double> total(first.begin(), first.end());
  for (int spin = 1; spin < model.system().spins; ++spin) {
    const std::span<const double> more = of_spin(model, state, spin);
    for (std::size_t i = 0; i < total.size(); ++i) total[i] += more[i];
  }
  write_cube(path, model.system(), model.decomposition(), total, comment);
}

}  // namespace

void bind_tddft_files(nb::module_& m) {
  using Released = nb::call_guard<nb::gil_scoped_release>;
  m.def(
      "write_orbitals",
      [](const std::string& path, const Model& model, const State& state, std::int64_t step, double time,
         double time_step, bool kicked, const std::string& note) {
        write_orbitals(path, model, state, RunPoint{step, time, time_step, kicked, note});
      },
      "path"_a, "model"_a, "state"_a, "step"_a = 0, "time"_a = 0.0, "time_step"_a = 0.0, "kicked"_a = false,
      "note"_a = "", Released(), "Collective.");
  m.def(
      "read_orbitals",
      [](const std::string& path, Model& model, State& state) {
        RunPoint point;
        {
          const nb::gil_scoped_release unlocked;
          point = read_orbitals(path, model, state);
          if (model.has_kinetic()) model.sum_kinetic(state);
        }
        return to_dict(point);
      },
      "path"_a, "model"_a, "state"_a, "Fills the state; where the run stands. Collective.");
  m.def(
      "orbital_file_step", [](const std::string& path) { return orbital_file_info(path).point.step; }, "path"_a,
      Released(), "The step that a file is of, from its header.");
  m.def("gather_density", &density_of, "model"_a, "state"_a,
        "Shape (spins, z, y, x) [1/bohr^3] on the first process, None elsewhere. Collective.");
  m.def("write_density_cube", &density_cube, "path"_a, "model"_a, "state"_a, "comment"_a, Released(),
        "The density of both spins. Collective.");
}

}  // namespace halocline::bindings
