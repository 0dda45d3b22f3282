// SPDX-License-Identifier: Apache-2.0
/// @file
/// qcd: Dirac operators and their inverses.
#include "bindings.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/measure/propagator.hpp"
#include "halocline/qcd/measure/staggered.hpp"
#include "halocline/qcd/quark/eigenvalues.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "halocline/qcd/schwarz/schwarz_solver.hpp"

namespace halocline::bindings {
namespace {

using qcd::QuarkSolver;
using Progress = std::optional<std::function<bool(int, double)>>;

/// The solver with the geometry that its arrays have.
struct Quark {
  GeometryPtr geometry;
  QuarkSolver solver;
};

/// The shape of the solver's arrays: [t][z][y][x] and spin and colour, the flavour of a doublet before them, or the
/// colour of staggered quarks.
std::vector<std::size_t> shape_of(const Quark& q) {
  if (qcd::flavours(q.solver.action()) == 2) return canonical_shape(*q.geometry, {2, 4, 3});
  if (qcd::is_staggered(q.solver.action())) return canonical_shape(*q.geometry, {3});
  return canonical_shape(*q.geometry, {4, 3});
}
std::span<const complex> values_of(const Quark& q, const ComplexIn& array, const char* what) {
  if (qcd::flavours(q.solver.action()) == 2) return canonical_values(array, *q.geometry, {2, 4, 3}, what);
  if (qcd::is_staggered(q.solver.action())) return canonical_values(array, *q.geometry, {3}, what);
  return canonical_values(array, *q.geometry, {4, 3}, what);
}

/// The shape of the arrays on which D itself acts: those of the solver, or of five dimensions, [s] before the others.
std::vector<std::size_t> whole_shape_of(const Quark& q) {
  auto shape = shape_of(q);
  if (const auto* walls = std::get_if<qcd::DomainWallAction>(&q.solver.action()))
    shape.insert(shape.begin(), static_cast<std::size_t>(walls->ls));
  return shape;
}
std::span<const complex> whole_values_of(const Quark& q, const ComplexIn& array, const char* what) {
  if (!std::holds_alternative<qcd::DomainWallAction>(q.solver.action())) return values_of(q, array, what);
  const auto shape = whole_shape_of(q);
  std::vector<std::size_t> given;
  for (std::size_t i = 0; i < array.ndim(); ++i) given.push_back(array.shape(i));
  if (given != shape)
    throw core::InvalidArgument(
        fmt::format("{} of domain walls has the shape ({}); give [s][t][z][y][x][spin][colour], ({})", what,
                    fmt::join(given, ", "), fmt::join(shape, ", ")));
  return {array.data(), array.size()};
}

/// @param mu         nothing for the Wilson-clover action
/// @param epsilon    None, or that of a doublet, which needs mu
/// @param walls      None, or {mass, M5, Ls, b, c} of domain walls, which take only the boundary of `wilson`
/// @param staggered  None, or {mass, kind, naik_epsilon, u0} of staggered quarks, which do the same
qcd::Action action_of(const qcd::WilsonCloverAction& wilson, std::optional<double> mu,
                      const std::optional<nb::dict>& walls = {}, const std::optional<nb::dict>& staggered = {},
                      std::optional<double> epsilon = {}) {
  if (staggered)
    return qcd::StaggeredAction{.mass = nb::cast<double>((*staggered)["mass"]),
                                .kind = qcd::staggered_kind(nb::cast<std::string>((*staggered)["kind"])),
                                .epsilon = nb::cast<double>((*staggered)["naik_epsilon"]),
                                .u0 = nb::cast<double>((*staggered)["u0"]),
                                .boundary = wilson.boundary};
  if (walls)
    return qcd::DomainWallAction{.mass = nb::cast<double>((*walls)["mass"]),
                                 .m5 = nb::cast<double>((*walls)["M5"]),
                                 .ls = nb::cast<int>((*walls)["Ls"]),
                                 .b = nb::cast<std::vector<complex>>((*walls)["b"]),
                                 .c = nb::cast<std::vector<complex>>((*walls)["c"]),
                                 .boundary = wilson.boundary};
  if (mu && epsilon) return qcd::TwistedDoubletAction{wilson, *mu, *epsilon};
  if (mu) return qcd::TwistedCloverAction{wilson, *mu};
  return wilson;
}

nb::dict to_dict(const qcd::SolveReport& report) {
  nb::dict d;
  d["converged"] = report.converged;
  d["reason"] = report.reason;
  d["method"] = report.method;
  d["iterations"] = report.iterations;
  d["reliable_updates"] = report.reliable_updates;
  d["residual"] = report.residual;
  d["seconds"] = report.seconds;
  d["columns"] = report.columns;
  d["device"] = report.device;
  d["predicted_bytes"] = report.predicted_bytes;
  d["history"] = report.history;
  nb::list notes, kinds;
  for (const auto& note : report.notes) {
    notes.append(note.text);
    kinds.append(qcd::name(note.kind));
  }
  d["notes"] = notes;
  d["note_kinds"] = kinds;
  return d;
}

nb::list to_list(const std::vector<qcd::SolveReport>& reports) {
  nb::list out;
  for (const auto& report : reports) out.append(to_dict(report));
  return out;
}

nb::dict to_dict(const qcd::Trial& trial) {
  nb::dict d;
  d["chosen"] = trial.chosen;
  d["columns"] = trial.columns;
  d["right_hand_sides"] = trial.right_hand_sides;
  d["schwarz_seconds"] = trial.schwarz_seconds;
  d["bicgstab_seconds"] = trial.bicgstab_seconds;
  d["multigrid_seconds"] = trial.multigrid_seconds;
  d["deflated_seconds"] = trial.deflated_seconds;
  d["setup_seconds"] = trial.setup_seconds;
  d["schwarz_ruled_out"] = trial.schwarz_ruled_out;
  return d;
}

qcd::Trial trial_from(const nb::dict& d) {
  return {.chosen = nb::cast<std::string>(d["chosen"]),
          .columns = nb::cast<int>(d["columns"]),
          .right_hand_sides = nb::cast<int>(d["right_hand_sides"]),
          .schwarz_seconds = nb::cast<double>(d["schwarz_seconds"]),
          .bicgstab_seconds = nb::cast<double>(d["bicgstab_seconds"]),
          .multigrid_seconds = nb::cast<double>(d["multigrid_seconds"]),
          .deflated_seconds = nb::cast<double>(d["deflated_seconds"]),
          .setup_seconds = nb::cast<double>(d["setup_seconds"]),
          .schwarz_ruled_out = nb::cast<bool>(d["schwarz_ruled_out"])};
}

/// Test vectors as NumPy has them: fp16 as 16-bit words.
using HalvesIn = nb::ndarray<const std::uint16_t, nb::ndim<8>, nb::c_contig, nb::device::cpu>;

std::optional<qcd::multigrid::StoredVectors> vectors_from(const std::optional<HalvesIn>& array,
                                                          const std::array<std::int64_t, 4>& aggregate) {
  if (!array) return std::nullopt;
  qcd::multigrid::StoredVectors out;
  out.vectors = static_cast<int>(array->shape(4));
  out.aggregate = aggregate;
  out.numbers.resize(array->size());
  for (std::size_t i = 0; i < out.numbers.size(); ++i) out.numbers[i].bits = array->data()[i];
  return out;
}

std::optional<qcd::LowModes> modes_from(const std::optional<HalvesIn>& array, const std::vector<double>& values) {
  if (!array) return std::nullopt;
  qcd::LowModes out{values, {}};
  out.numbers.resize(array->size());
  for (std::size_t i = 0; i < out.numbers.size(); ++i) out.numbers[i].bits = array->data()[i];
  return out;
}

/// The low modes for deflation; None where there are none.
nb::object low_modes_of(const Quark& q, bool with_vectors) {
  const auto* modes = q.solver.low_modes();
  if (modes == nullptr) return nb::none();
  nb::dict d;
  d["values"] = modes->values;
  if (!with_vectors) return d;
  std::vector<std::uint16_t> words;
  words.reserve(modes->numbers.size());
  for (const core::Half number : modes->numbers) words.push_back(number.bits);
  d["numbers"] =
      to_numpy(std::move(words), canonical_shape(*q.geometry, {static_cast<std::size_t>(modes->vectors()), 3, 4, 2}));
  return d;
}

/// What the set-up of multigrid is; None where there is none.
nb::object setup_of(const Quark& q, bool with_vectors) {
  const auto* setup = q.solver.setup();
  if (setup == nullptr) return nb::none();
  double contraction = 0;
  std::vector<std::uint16_t> words;
  {
    nb::gil_scoped_release unlocked;
    contraction = setup->contraction();
    if (with_vectors) {
      for (const core::Half number : setup->stored().numbers) words.push_back(number.bits);
    }
  }
  nb::dict d;
  d["aggregate"] = setup->aggregate();
  d["vectors"] = setup->parameters().vectors;
  d["levels"] = setup->levels();
  d["rounds"] = setup->rounds();
  d["contraction"] = contraction;
  d["seconds"] = setup->seconds();
  d["bytes"] = setup->bytes();
  if (with_vectors)
    d["numbers"] =
        to_numpy(std::move(words),
                 canonical_shape(*q.geometry, {static_cast<std::size_t>(setup->parameters().made_vectors()), 3, 4, 2}));
  return d;
}

QuarkSolver::Progress without_lock(const Progress& progress) {
  if (!progress) return {};
  return [&progress](int iterations, double residual) {
    nb::gil_scoped_acquire lock;
    return (*progress)(iterations, residual);
  };
}

/// Columns `first` and on of a propagator, in the order 3 spin + colour, together.
nb::list solve_columns(Quark& q, qcd::measure::Propagator& s, int first, const std::vector<ComplexIn>& sources,
                       const Progress& progress, qcd::measure::Propagator* midpoint) {
  if (first < 0 || first + static_cast<int>(sources.size()) > 12)
    throw core::InvalidArgument("a propagator has twelve columns, and others were asked for");
  std::vector<std::span<complex>> solutions, midpoints;
  std::vector<std::span<const complex>> values;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const int column = first + static_cast<int>(i);
    solutions.push_back(s.column(column / 3, column % 3));
    if (midpoint != nullptr) midpoints.push_back(midpoint->column(column / 3, column % 3));
    values.push_back(canonical_values(sources[i], *q.geometry, {4, 3}, "the source"));
  }
  std::vector<qcd::SolveReport> reports;
  {
    nb::gil_scoped_release unlocked;
    reports = q.solver.solve(solutions, values, without_lock(progress), midpoints);
  }
  return to_list(reports);
}

/// The columns of a staggered propagator from colour `first` on, together.
nb::list solve_staggered_columns(Quark& q, qcd::measure::StaggeredPropagator& s, int first,
                                 const std::vector<ComplexIn>& sources, const Progress& progress) {
  if (first < 0 || first + static_cast<int>(sources.size()) > qcd::colours)
    throw core::InvalidArgument("a staggered propagator has three columns, and others were asked for");
  std::vector<std::span<complex>> solutions;
  std::vector<std::span<const complex>> values;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    solutions.push_back(s.column(first + static_cast<int>(i)));
    values.push_back(values_of(q, sources[i], "the source"));
  }
  std::vector<qcd::SolveReport> reports;
  {
    nb::gil_scoped_release unlocked;
    reports = q.solver.solve(solutions, values, without_lock(progress));
  }
  return to_list(reports);
}

/// (arrays, reports) of several right-hand sides.
nb::tuple solve_many(Quark& q, const std::vector<ComplexIn>& sources, const Progress& progress) {
  std::vector<std::span<const complex>> values;
  std::vector<std::vector<complex>> solutions;
  for (const auto& source : sources) {
    values.push_back(values_of(q, source, "the source"));
    solutions.emplace_back(values.back().size());
  }
  const std::vector<std::span<complex>> room(solutions.begin(), solutions.end());
  std::vector<qcd::SolveReport> reports;
  {
    nb::gil_scoped_release unlocked;
    reports = q.solver.solve(room, values, without_lock(progress));
  }
  nb::list arrays;
  for (auto& solution : solutions) arrays.append(to_numpy(std::move(solution), shape_of(q)));
  return nb::make_tuple(arrays, to_list(reports));
}

/// (array on the device, reports): the solutions stay where they are.
nb::tuple solve_on_device(Quark& q, const std::vector<ComplexIn>& sources, const Progress& progress) {
  std::vector<std::span<const complex>> values;
  for (const auto& source : sources) values.push_back(values_of(q, source, "the source"));
  std::pair<qcd::device::DeviceSolutions, std::vector<qcd::SolveReport>> solved;
  {
    nb::gil_scoped_release unlocked;
    solved = q.solver.solve_on_device(values, without_lock(progress));
  }
  return nb::make_tuple(std::move(solved.first), to_list(solved.second));
}

/// Bytes on the device; None on the processor.
nb::object memory_of(const Quark& q) {
  const auto* backend = q.solver.backend();
  if (backend == nullptr) return nb::none();
  const auto memory = backend->memory();
  nb::dict d;
  d["predicted"] = q.solver.predicted_bytes();
  d["free"] = memory.free;
  d["total"] = memory.total;
  d["ours"] = memory.ours;
  d["most_ours"] = memory.most_ours;
  return d;
}

/// The trial of "auto" on these right-hand sides; None where there is none.
nb::object choose(Quark& q, const std::vector<ComplexIn>& sources, const Progress& progress) {
  std::vector<std::span<const complex>> values;
  for (const auto& source : sources) values.push_back(values_of(q, source, "the source"));
  std::optional<qcd::Trial> trial;
  {
    nb::gil_scoped_release unlocked;
    trial = q.solver.choose(values, without_lock(progress));
  }
  if (!trial) return nb::none();
  return to_dict(*trial);
}

nb::tuple names(std::span<const char* const> all) {
  nb::list out;
  for (const char* name : all) out.append(name);
  return nb::tuple(out);
}

qcd::SolverParameters parameters_from(const nb::dict& d) {
  qcd::SolverParameters p;
  p.kind = nb::cast<std::string>(d["kind"]);
  p.tolerance = nb::cast<double>(d["tolerance"]);
  p.max_iterations = nb::cast<int>(d["max_iterations"]);
  p.precision = nb::cast<std::string>(d["precision"]);
  p.even_odd = nb::cast<bool>(d["even_odd"]);
  p.rhs_batch = nb::cast<int>(d["rhs_batch"]);
  p.choice = nb::cast<std::string>(d["choice"]);
  p.outer = nb::cast<std::string>(d["outer"]);
  p.schwarz.nsap = nb::cast<int>(d["nsap"]);
  p.schwarz.inner = nb::cast<std::string>(d["inner"]);
  p.schwarz.steps = nb::cast<int>(d["steps"]);
  p.schwarz.blocks = nb::cast<std::array<std::int64_t, 4>>(d["domains"]);
  p.schwarz.storage = nb::cast<std::string>(d["storage"]);
  p.schwarz.arithmetic = nb::cast<std::string>(d["arithmetic"]);
  p.schwarz.link_reals = nb::cast<int>(d["link_reals"]);
  p.right_hand_sides = nb::cast<int>(d["right_hand_sides"]);
  p.multigrid.vectors = nb::cast<int>(d["multigrid_vectors"]);
  p.multigrid.setup_vectors = nb::cast<int>(d["multigrid_setup_vectors"]);
  p.multigrid.aggregate = nb::cast<std::array<std::int64_t, 4>>(d["multigrid_aggregate"]);
  p.multigrid.setup_iterations = nb::cast<int>(d["multigrid_setup_iterations"]);
  p.multigrid.smoother = nb::cast<std::string>(d["multigrid_smoother"]);
  p.multigrid.smoother_sweeps = nb::cast<int>(d["multigrid_smoother_sweeps"]);
  p.multigrid.smoother_steps = nb::cast<int>(d["multigrid_smoother_steps"]);
  p.multigrid.levels = nb::cast<int>(d["multigrid_levels"]);
  p.multigrid.cycle = nb::cast<std::string>(d["multigrid_cycle"]);
  p.multigrid.coarse_aggregate = nb::cast<std::array<std::int64_t, 4>>(d["multigrid_coarse_aggregate"]);
  p.multigrid.coarse_vectors = nb::cast<int>(d["multigrid_coarse_vectors"]);
  p.multigrid.coarse_smoother_steps = nb::cast<int>(d["multigrid_coarse_smoother_steps"]);
  p.multigrid.coarse_tolerance = nb::cast<double>(d["multigrid_coarse_tolerance"]);
  p.multigrid.coarse_iterations = nb::cast<int>(d["multigrid_coarse_iterations"]);
  p.multigrid.gather_below = nb::cast<int>(d["multigrid_gather_below"]);
  p.multigrid.coarse_eigenvectors = nb::cast<int>(d["multigrid_coarse_eigenvectors"]);
  p.multigrid.storage = nb::cast<std::string>(d["multigrid_storage"]);
  p.multigrid.seed = nb::cast<std::uint64_t>(d["multigrid_seed"]);
  p.deflation.vectors = nb::cast<int>(d["deflation_vectors"]);
  p.deflation.tolerance = nb::cast<double>(d["deflation_tolerance"]);
  p.deflation.method = nb::cast<std::string>(d["deflation_method"]);
  p.device = nb::cast<std::string>(d["device"]);
  p.inner_precision = nb::cast<std::string>(d["inner_precision"]);
  p.device_links = nb::cast<int>(d["device_links"]);
  p.device_halo = nb::cast<std::string>(d["device_halo"]);
  return p;
}

}  // namespace

void bind_qcd_solver(nb::module_& m) {
  m.def("kappa_from_mass", &qcd::kappa_from_mass, "mass"_a);
  m.attr("SOLVER_KINDS") = names(qcd::solver_kinds());
  m.attr("DEVICE_SOLVER_KINDS") = names(qcd::device_solver_kinds());
  m.attr("SOLVER_PRECISIONS") = names(qcd::solver_precisions());
  m.attr("INNER_PRECISIONS") = names(qcd::inner_precisions());
  m.attr("OUTER_SOLVERS") = names(qcd::schwarz::outer_solvers());
  m.attr("SCHWARZ_INVERSES") = names(qcd::schwarz::inverses());
  m.attr("SCHWARZ_STORAGES") = names(qcd::schwarz::storages());
  m.attr("SCHWARZ_ARITHMETICS") = names(qcd::schwarz::arithmetics());
  m.attr("EIGENVALUE_METHODS") = names(qcd::eigenvalue_methods());
  m.attr("MULTIGRID_STORAGES") = names(qcd::multigrid::storages());
  m.attr("MULTIGRID_CYCLES") = names(qcd::multigrid::cycles());
  m.def("mass_from_kappa", &qcd::mass_from_kappa, "kappa"_a);
  m.def(
      "low_eigenvalues",
      [](const qcd::GaugeField& u, double mass, double csw, const std::array<complex, 4>& boundary, double xi0,
         double nu, std::optional<double> csw_t, std::optional<double> mu, int count, double tolerance,
         int max_applications, std::uint64_t seed, const std::string& method, const Quark& quark) {
        qcd::EigenvalueParameters parameters;
        parameters.method = method;
        parameters.multigrid = quark.solver.parameters().multigrid;
        parameters.count = count;
        parameters.tolerance = tolerance;
        parameters.max_applications = max_applications;
        parameters.seed = seed;
        qcd::EigenvalueReport report;
        {
          nb::gil_scoped_release unlocked;
          report = qcd::low_eigenvalues(u, action_of({mass, csw, boundary, xi0, nu, csw_t}, mu), parameters, {},
                                        quark.solver.setup());
        }
        nb::dict d;
        d["converged"] = report.converged;
        d["reason"] = report.reason;
        d["values"] = report.values;
        d["residuals"] = report.residuals;
        d["applications"] = report.applications;
        d["cycles"] = report.cycles;
        d["setup_seconds"] = report.setup_seconds;
        d["seconds"] = report.seconds;
        return d;
      },
      "u"_a, "mass"_a, "csw"_a, "boundary"_a, "xi0"_a, "nu"_a, "csw_t"_a.none(), "mu"_a.none(), "count"_a,
      "tolerance"_a, "max_applications"_a, "seed"_a, "method"_a, "quark"_a);
  nb::class_<Quark>(m, "Quark", "A Dirac operator with a solver.")
      .def(
          "__init__",
          [](Quark* self, const qcd::GaugeField& u, double mass, double csw, const std::array<complex, 4>& boundary,
             double xi0, double nu, std::optional<double> csw_t, std::optional<double> mu, const nb::dict& solver,
             const std::optional<HalvesIn>& vectors, const std::array<std::int64_t, 4>& aggregate,
             const std::optional<HalvesIn>& modes, const std::vector<double>& values, const Quark* earlier,
             const std::optional<nb::dict>& walls, const std::optional<nb::dict>& staggered,
             std::optional<double> epsilon) {
            const auto parameters = parameters_from(solver);
            qcd::Inheritance inherited{.vectors = vectors_from(vectors, aggregate),
                                       .modes = modes_from(modes, values),
                                       .earlier = earlier ? &earlier->solver : nullptr};
            const auto action = action_of({mass, csw, boundary, xi0, nu, csw_t}, mu, walls, staggered, epsilon);
            const nb::gil_scoped_release unlocked;
            new (self) Quark{u.geometry_ptr(), QuarkSolver(u, action, parameters, std::move(inherited))};
          },
          "u"_a, "mass"_a, "csw"_a, "boundary"_a, "xi0"_a, "nu"_a, "csw_t"_a.none(), "mu"_a.none(), "solver"_a,
          "vectors"_a.none(), "aggregate"_a, "modes"_a.none(), "values"_a, "earlier"_a.none(), "walls"_a.none(),
          "staggered"_a.none(), "epsilon"_a.none())
      .def("setup", &setup_of, "with_vectors"_a)
      .def("low_modes", &low_modes_of, "with_vectors"_a)
      .def("keeps_setup",
           [](const Quark& q, const qcd::GaugeField& u) {
             const nb::gil_scoped_release unlocked;
             const auto* setup = q.solver.setup();
             return setup != nullptr && setup->serves(u, q.solver.action(), setup->parameters());
           })
      .def("refresh",
           [](Quark& q, const qcd::GaugeField& u) {
             const nb::gil_scoped_release unlocked;
             q.solver.refresh(u, q.solver.action());
           })
      .def_ro("geometry", &Quark::geometry)
      .def_prop_ro("tile", [](const Quark& q) { return q.solver.tile(); })
      .def_prop_ro("rhs_batch", [](const Quark& q) { return q.solver.rhs_batch(); })
      .def(
          "apply",
          [](Quark& q, const ComplexIn& in, bool dagger) {
            const auto values = whole_values_of(q, in, "the spinor");
            std::vector<complex> out(values.size());
            {
              nb::gil_scoped_release unlocked;
              q.solver.apply(out, values, dagger);
            }
            return to_numpy(std::move(out), whole_shape_of(q));
          },
          "spinor"_a, "dagger"_a = false)
      .def(
          "solve",
          [](Quark& q, const ComplexIn& source, const Progress& progress) {
            const auto values = values_of(q, source, "the source");
            std::vector<complex> solution(values.size());
            qcd::SolveReport report;
            {
              nb::gil_scoped_release unlocked;
              report = q.solver.solve(solution, values, without_lock(progress));
            }
            return nb::make_tuple(to_numpy(std::move(solution), shape_of(q)), to_dict(report));
          },
          "source"_a, "progress"_a.none())
      .def(
          "solve_shifted",
          [](Quark& q, const ComplexIn& source, const std::vector<double>& shifts, bool even_odd,
             const Progress& progress) {
            const auto values = whole_values_of(q, source, "the source of a shifted system");
            std::vector<std::vector<complex>> solutions(shifts.size(), std::vector<complex>(values.size()));
            const std::vector<std::span<complex>> room(solutions.begin(), solutions.end());
            std::vector<qcd::SolveReport> reports;
            {
              nb::gil_scoped_release unlocked;
              reports = q.solver.solve_shifted(room, shifts, values, even_odd, without_lock(progress));
            }
            nb::list all;
            for (auto& x : solutions) all.append(to_numpy(std::move(x), whole_shape_of(q)));
            return nb::make_tuple(all, to_list(reports));
          },
          "source"_a, "shifts"_a, "even_odd"_a, "progress"_a.none())
      .def_prop_ro("device",
                   [](const Quark& q) { return q.solver.backend() ? q.solver.backend()->device() : std::string(); })
      .def_prop_ro("storage",
                   [](const Quark& q) { return q.solver.backend() ? q.solver.backend()->storage() : std::string(); })
      .def_prop_ro("memory", &memory_of)
      .def("solve_on_device", &solve_on_device, "sources"_a, "progress"_a.none())
      .def_prop_ro("trials",
                   [](const Quark& q) {
                     nb::list all;
                     for (const auto& trial : q.solver.trials()) all.append(to_dict(trial));
                     return all;
                   })
      .def(
          "recall",
          [](Quark& q, const std::vector<nb::dict>& trials) {
            std::vector<qcd::Trial> all;
            for (const auto& d : trials) all.push_back(trial_from(d));
            q.solver.recall(all);
          },
          "trials"_a)
      .def("solve_many", &solve_many, "sources"_a, "progress"_a.none())
      .def("choose", &choose, "sources"_a, "progress"_a.none())
      .def("solve_staggered_columns", &solve_staggered_columns, "propagator"_a, "first"_a, "sources"_a,
           "progress"_a.none())
      .def("solve_columns", &solve_columns, "propagator"_a, "first"_a, "sources"_a, "progress"_a.none(),
           "midpoint"_a.none() = nb::none());
}

}  // namespace halocline::bindings
