// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/quark_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/detail/applications.hpp"
#include "halocline/qcd/quark/detail/column_solves.hpp"
#include "halocline/qcd/quark/detail/host_batch.hpp"
#include "halocline/qcd/quark/detail/rhs_batch.hpp"
#include "halocline/qcd/quark/detail/shifted_solves.hpp"
#include "halocline/qcd/quark/detail/trial.hpp"

namespace halocline::qcd {
namespace {

constexpr std::array kind_names{"auto",     "schwarz",     "multigrid",        "bicgstab",   "cg",
                                "gcr",      "fgmres",      "gmres-dr",         "s-step-gcr", "block-bicgstab",
                                "block-cg", "deflated-cg", "deflated-bicgstab"};
constexpr std::array device_kinds{"auto", "bicgstab", "cg", "gcr"};
constexpr std::array precision_names{"mixed", "double"};
constexpr std::array choices{"schwarz", "bicgstab", "multigrid", "deflated-cg"};
constexpr std::array schur_names{"auto", "symmetric", "asymmetric"};
constexpr std::array inner_names{"auto", "fixed16", "fixed8", "float"};

template <class Names>
void require_one_of(const char* what, const std::string& given, const Names& known) {
  if (std::ranges::find(known, given) == known.end())
    throw core::InvalidArgument(fmt::format("{} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
}

/// The methods of a solve. Each one runs if the one before it failed.
std::vector<std::string> plan_of(const std::string& kind, const std::string& chosen) {
  if (chosen == "schwarz") return {"schwarz", "schwarz", "bicgstab", "cg"};
  if (chosen == "multigrid") return {"multigrid", "multigrid", ColumnSolves::renewal, "cg"};
  if (kind == "auto") return {chosen, "cg"};
  return {chosen};
}

std::string right_hand_sides_words(int count) {
  return count == 1 ? std::string("one right-hand side") : fmt::format("{} right-hand sides", count);
}

/// Checks the parameters that are valid only on a device, or only on the CPU.
void validate_place(const SolverParameters& p) {
  require_one_of("the solver's inner precision", p.inner_precision, inner_precisions());
  if (!p.on_device()) {
    if (p.inner_precision != "auto" && p.inner_precision != "float")
      throw core::InvalidArgument(
          fmt::format("the inner precision \"{}\" is for devices; on the processor give \"float\" or \"auto\", or "
                      "name a device",
                      p.inner_precision));
    if (p.device_links != 0)
      throw core::InvalidArgument(
          fmt::format("{} reals a link were asked for without a device; give 0, or name a device", p.device_links));
    return;
  }
  if (std::ranges::find(device_kinds, p.kind) == device_kinds.end())
    throw core::InvalidArgument(
        fmt::format("the solver \"{}\" runs on the processor alone; on the device \"{}\" give \"auto\", which is "
                    "even-odd bicgstab, or \"bicgstab\", \"cg\" or \"gcr\"",
                    p.kind, p.device));
  if (p.device_links != 0 && p.device_links != 8 && p.device_links != 12 && p.device_links != 18)
    throw core::InvalidArgument(
        fmt::format("{} reals a link were asked for; give 18, 12 or 8, or 0 for the default", p.device_links));
  if (p.rhs_batch > 32)
    throw core::InvalidArgument(fmt::format("rhs_batch is {}; a device solves at most 32 together", p.rhs_batch));
}

/// Doublets, domain walls and staggered quarks are solved by conjugate gradients. Other methods were not tried on them.
bool by_cg_alone(const Action& action) { return points(action) > 1 || is_staggered(action); }

void validate_method(const Action& action, const SolverParameters& p) {
  if (!by_cg_alone(action)) return;
  if (p.on_device() && flavours(action) == 2)
    throw core::InvalidArgument(
        fmt::format("doublets of twisted quarks do not run on the device \"{}\"; solve them on the processor, which is "
                    "device = \"cpu\"",
                    p.device));
  if (p.on_device() && is_staggered(action)) {
    if (p.inner_precision != "auto" && p.inner_precision != "float")
      throw core::InvalidArgument(
          fmt::format("the inner precision \"{}\" does not hold the fat links of staggered quarks; give \"float\" or "
                      "\"auto\", or the precision \"double\"",
                      p.inner_precision));
    if (p.device_links != 0 && p.device_links != 18)
      throw core::InvalidArgument(
          fmt::format("{} reals a link were asked for; fat links are not unitary, and staggered quarks need all 18",
                      p.device_links));
  }
  if (p.kind != "auto" && p.kind != "cg" && p.kind != "block-cg")
    throw core::InvalidArgument(fmt::format(
        "the solver \"{}\" does not solve {} quarks; give \"cg\", \"block-cg\", or \"auto\", which is cg", p.kind,
        is_staggered(action)    ? "staggered"
        : flavours(action) == 2 ? "doublets of twisted"
                                : "domain-wall"));
}

device::BackendOptions backend_options(const SolverParameters& p, const Action& action) {
  device::BackendOptions options;
  options.device = p.device;
  const char* automatic = is_staggered(action) ? "float" : "fixed16";
  options.inner = p.precision == "double" ? "double" : p.inner_precision == "auto" ? automatic : p.inner_precision;
  options.link_reals = p.device_links;
  options.even_odd = p.even_odd;
  options.symmetric = p.schur == "auto" ? points(action) == 1 : p.schur == "symmetric";
  options.restart_length = p.restart_length;
  options.halo = p.device_halo;
  options.emulated = p.device_emulated;
  options.graphs = p.device_graphs;
  return options;
}

}  // namespace

std::span<const char* const> solver_kinds() noexcept { return kind_names; }
std::span<const char* const> device_solver_kinds() noexcept { return device_kinds; }
std::span<const char* const> solver_precisions() noexcept { return precision_names; }
std::span<const char* const> schur_forms() noexcept { return schur_names; }
std::span<const char* const> inner_precisions() noexcept { return inner_names; }

const char* name(SolveNote::Kind kind) noexcept {
  switch (kind) {
  case SolveNote::Kind::choice:
    return "choice";
  case SolveNote::Kind::memory:
    return "memory";
  case SolveNote::Kind::failure:
    return "failure";
  case SolveNote::Kind::source:
    return "source";
  case SolveNote::Kind::tuning:
    return "tuning";
  }
  return "";
}

void SolverParameters::validate() const {
  require_one_of("the solver", kind, solver_kinds());
  require_one_of("the solver's precision", precision, solver_precisions());
  require_one_of("the Schur complement's form", schur, schur_forms());
  if (!choice.empty()) require_one_of("the choice of auto", choice, choices);
  require_one_of("the outer solver around Schwarz", outer, schwarz::outer_solvers());
  if (!(tolerance > 0) || !(tolerance < 1))
    throw core::InvalidArgument(
        fmt::format("the solver's tolerance is {}; give a number between 0 and 1, such as 1e-10", tolerance));
  if (max_iterations < 1)
    throw core::InvalidArgument(fmt::format("max_iterations is {}; give at least 1", max_iterations));
  if (restart_length < 1)
    throw core::InvalidArgument(fmt::format("restart_length is {}; give at least 1", restart_length));
  if (right_hand_sides < 0)
    throw core::InvalidArgument(fmt::format(
        "right_hand_sides is {}; give the number that is going to be solved in all, or 0", right_hand_sides));
  if (rhs_batch < 0)
    throw core::InvalidArgument(
        fmt::format("rhs_batch is {}; give the most right-hand sides to be solved together, or 0", rhs_batch));
  if ((kind == "schwarz" || kind == "multigrid" || is_deflated(kind)) && precision == "double")
    throw core::InvalidArgument(
        fmt::format("the solver \"{}\" iterates in single precision inside double; give the precision \"mixed\", which "
                    "reaches the same residual, or another solver",
                    kind));
  schwarz.validate();
  multigrid.validate();
  deflation.validate();
  validate_place(*this);
}

struct QuarkSolver::State {
  State(const GaugeField& gauge, const Action& a, const SolverParameters& p, Inheritance inherited)
      : group(gauge.geometry().communicator()), action(a), parameters(p) {
    parameters.validate();
    validate_method(action, parameters);
    if (parameters.on_device()) {
      backend = device::open_backend(gauge, action, backend_options(parameters, action));
      batch = parameters.rhs_batch > 0 ? parameters.rhs_batch : backend->fitting_columns(12, plan());
      return;
    }
    batch = parameters.rhs_batch > 0 ? parameters.rhs_batch : automatic_batch(gauge.geometry(), points(action));
    std::optional<multigrid::Setup> made;
    const multigrid::Setup* earlier = inherited.earlier != nullptr ? inherited.earlier->setup() : nullptr;
    if (earlier != nullptr && earlier->serves(gauge, action, parameters.multigrid)) made = *earlier;
    std::shared_ptr<const LowModes> modes;
    if (inherited.modes) modes = std::make_shared<const LowModes>(std::move(*inherited.modes));
    operators = std::make_unique<QuarkOperators>(gauge, action, parameters, batch, std::move(inherited.vectors),
                                                 std::move(modes), std::move(made));
  }

  /// How many of `sources` right-hand sides are solved together: the batches have about equal size.
  std::size_t together(std::size_t sources) const {
    const auto most = static_cast<std::size_t>(batch);
    const std::size_t batches = (sources + most - 1) / most;
    return (sources + batches - 1) / batches;
  }

  QuarkEngine& engine(int columns) {
    auto& found = engines[columns];
    if (!found) found = std::make_unique<QuarkEngine>(*operators, columns);
    return *found;
  }

  /// Whether "auto" has two methods to choose from.
  bool may_choose() const noexcept {
    return operators && parameters.kind == "auto" && parameters.choice.empty() &&
           (operators->schwarz || operators->may_use_multigrid());
  }

  /// Right-hand sides that are still to come, `at_hand` of them now.
  int to_come(std::size_t at_hand) const {
    const int now = static_cast<int>(at_hand);
    return parameters.right_hand_sides > 0 ? std::max(now, parameters.right_hand_sides - solved)
                                           : std::max(now, solved);
  }

  /// Whether a trial still holds. One that was made for few right-hand sides does not, once multigrid could pay for all
  /// that came.
  bool holds(const Trial& trial, std::size_t at_hand) const {
    return trial.chosen == "multigrid" || !operators->links || to_come(at_hand) < 4 * trial.right_hand_sides;
  }

  /// The trial for the number of columns of the engine, made at the first call. Returns nothing if there is no trial.
  /// @param at_hand  right-hand sides of the present call
  /// @param solves   of the batch: the trial may make its first correction; null for a trial alone
  std::optional<Trial> choose(QuarkEngine& with, const HostBatch& begun, bool any_active, std::size_t at_hand,
                              const Progress& progress, ColumnSolves* solves) {
    const int columns = with.columns();
    if (const auto known = trials.find(columns); known != trials.end() && holds(known->second, at_hand)) {
      if (any_active && recalled.erase(columns) > 0) {
        with.keep_only(known->second.chosen);
        news.push_back(fmt::format("auto: {} is used, as an earlier trial on this lattice found ({})",
                                   known->second.chosen, right_hand_sides_words(columns)));
      }
      return known->second;
    }
    if (!operators->multigrid_refusal.empty())
      news.push_back(fmt::format("auto: multigrid does not fit ({})", std::exchange(operators->multigrid_refusal, {})));
    if (!may_choose() || !any_active) return std::nullopt;
    std::optional<Trial> trial;
    try {
      trial = try_methods(with, begun.residual(), columns, to_come(at_hand), parameters.tolerance, progress, solves);
    } catch (const core::InvalidArgument&) {
      throw;
    } catch (const core::Error& error) {
      if (comm::gave_up_waiting()) throw;
      // The set-up failed, on every process; the methods without one remain.
      operators->forgo_multigrid();
      news.push_back(fmt::format("auto: multigrid cannot be set up ({})", error.what()));
      trial = try_methods(with, begun.residual(), columns, to_come(at_hand), parameters.tolerance, progress, solves);
    }
    if (!trial) return std::nullopt;
    with.keep_only(trial->chosen);
    recalled.erase(columns);
    std::string said = fmt::format("auto: {} would take {:.3g} s ({} together)", with.describe("bicgstab"),
                                   trial->bicgstab_seconds, right_hand_sides_words(columns));
    if (trial->schwarz_seconds > 0)
      said += fmt::format(", schwarz {:.3g} s{}", trial->schwarz_seconds, trial->schwarz_ruled_out ? " or more" : "");
    if (trial->deflated_seconds > 0) said += fmt::format(", deflated-cg {:.3g} s", trial->deflated_seconds);
    if (trial->multigrid_seconds > 0)
      said +=
          fmt::format(", multigrid {:.3g} s after {:.3g} s of set-up", trial->multigrid_seconds, trial->setup_seconds);
    else if (trial->setup_seconds > 0)
      said += fmt::format(", and a set-up of multigrid {:.3g} s, which does not pay for {}", trial->setup_seconds,
                          right_hand_sides_words(trial->right_hand_sides));
    news.push_back(fmt::format("{}; {} is used", said, trial->chosen));
    return trials[columns] = *trial;
  }

  /// The method that the solve begins with.
  std::string method(QuarkEngine& with, const HostBatch& begun, ColumnSolves& solves, std::size_t at_hand,
                     const Progress& progress) {
    if (parameters.kind != "auto") return parameters.kind;
    if (by_cg_alone(action)) return "cg";
    const auto trial = choose(with, begun, solves.any_active(), at_hand, progress, &solves);
    if (!operators->refusal.empty())
      news.push_back(fmt::format("auto: Schwarz does not fit ({}){}", std::exchange(operators->refusal, {}),
                                 trial ? "" : "; even-odd bicgstab is used"));
    for (const std::string& sentence : news) solves.note({SolveNote::Kind::choice, sentence});
    news.clear();
    if (trial) return trial->chosen;
    if (parameters.choice == "schwarz" && operators->schwarz) return "schwarz";
    if (parameters.choice == "multigrid" && operators->may_use_multigrid()) return "multigrid";
    if (parameters.choice == "deflated-cg" && operators->deflation) return "deflated-cg";
    return "bicgstab";
  }

  /// The methods of a solve on a device. Domain walls are solved by cg. With a twisted mass BiCGStab may stall, and in
  /// 16 bits it often does.
  std::vector<std::string> plan() const {
    if (parameters.kind == "auto" && (twisted_mass(action) != 0 || by_cg_alone(action))) return {"cg"};
    return plan_of(parameters.kind, parameters.kind == "auto" ? "bicgstab" : parameters.kind);
  }

  /// Notes once how much memory of the device the solver uses.
  void note_memory(ColumnSolves& solves, std::int64_t predicted) {
    if (std::exchange(memory_noted, true)) return;
    const auto memory = backend->memory();
    const double unit = 1e9;
    solves.note({SolveNote::Kind::memory,
                 memory.total > 0
                     ? fmt::format("uses {:.3g} GB of {:.3g} GB on {} ({})", static_cast<double>(predicted) / unit,
                                   static_cast<double>(memory.total) / unit, backend->device(), backend->storage())
                     : fmt::format("uses {:.3g} GB on the {} ({})", static_cast<double>(predicted) / unit,
                                   backend->device(), backend->storage())});
  }

  /// Solves on the device. `take(solves, batch, seconds)` fetches the solutions and returns the reports; `seconds()` is
  /// the time since the start.
  template <class Take>
  std::vector<SolveReport> solve_there(std::size_t columns,
                                       std::span<const std::span<const std::complex<double>>> sources,
                                       const Progress& progress, const Take& take) {
    const comm::SolveUnderWay under_way(group);
    const auto start = std::chrono::steady_clock::now();
    const auto methods = plan();
    auto& there = backend->batch(static_cast<int>(columns), methods);
    const std::int64_t predicted = backend->predicted_bytes(static_cast<int>(columns), methods);
    ColumnSolves solves(there, group, parameters, sources, progress);
    note_memory(solves, predicted);
    solves.run(methods);
    for (const std::string& sentence : backend->take_notes()) solves.note({SolveNote::Kind::tuning, sentence});
    auto reports = take(
        solves, there, [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); });
    for (SolveReport& report : reports) {
      report.device = backend->device();
      report.predicted_bytes = predicted;
    }
    return reports;
  }

  /// @param batch  has the solutions of `solves`
  template <class Batch>
  static void unload_midpoints(Batch& batch, const ColumnSolves& solves,
                               std::span<const std::span<std::complex<double>>> midpoints) {
    for (std::size_t c = 0; c < midpoints.size(); ++c) {
      batch.unload_midpoint(midpoints[c], static_cast<int>(c));
      const double factor = std::ldexp(1.0, solves.exponents()[c]);
      for (auto& number : midpoints[c]) number *= factor;
    }
  }

  /// @param at_hand  right-hand sides of the call, of which these are the next
  std::vector<SolveReport> solve(std::size_t columns, std::size_t at_hand,
                                 std::span<const std::span<std::complex<double>>> solutions,
                                 std::span<const std::span<const std::complex<double>>> sources,
                                 const Progress& progress, std::span<const std::span<std::complex<double>>> midpoints) {
    if (backend)
      return solve_there(columns, sources, progress,
                         [&](const ColumnSolves& solves, device::DeviceBatch& there, const auto& seconds) {
                           unload_midpoints(there, solves, midpoints);
                           return solves.finish(solutions, seconds());
                         });
    const comm::SolveUnderWay under_way(group);
    const auto start = std::chrono::steady_clock::now();
    auto& with = engine(static_cast<int>(columns));
    HostBatch here(with);
    ColumnSolves solves(here, group, parameters, sources, progress);
    const auto methods = plan_of(parameters.kind, method(with, here, solves, at_hand, progress));
    solves.run(methods);
    solved += static_cast<int>(sources.size());
    unload_midpoints(here, solves, midpoints);
    return solves.finish(solutions, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }

  comm::Communicator group;
  Action action;
  SolverParameters parameters;
  int batch = 1;
  std::unique_ptr<device::Backend> backend;  ///< null on the CPU; on a device, `operators` is empty
  std::unique_ptr<QuarkOperators> operators;
  std::map<int, std::unique_ptr<QuarkEngine>> engines;  ///< by number of columns
  int solved = 0;                                       ///< right-hand sides so far
  std::map<int, Trial> trials;                          ///< of "auto", by number of columns
  std::set<int> recalled;                               ///< numbers of columns of recalled, unused trials
  std::vector<std::string> news;                        ///< sentences for the notes of the next solve
  bool memory_noted = false;
};

QuarkSolver::QuarkSolver(const GaugeField& gauge, const Action& action, const SolverParameters& parameters,
                         Inheritance inherited)
    : state_(std::make_unique<State>(gauge, action, parameters, std::move(inherited))) {}
QuarkSolver::~QuarkSolver() = default;
QuarkSolver::QuarkSolver(QuarkSolver&&) noexcept = default;
QuarkSolver& QuarkSolver::operator=(QuarkSolver&&) noexcept = default;

const Action& QuarkSolver::action() const noexcept { return state_->action; }
const SolverParameters& QuarkSolver::parameters() const noexcept { return state_->parameters; }
int QuarkSolver::rhs_batch() const noexcept { return state_->batch; }
std::array<std::int64_t, 4> QuarkSolver::tile() const noexcept {
  if (state_->backend) return {1, 1, 1, 1};
  return state_->operators->precise->layout()->tile();
}
device::Backend* QuarkSolver::backend() const noexcept { return state_->backend.get(); }
std::int64_t QuarkSolver::predicted_bytes() const {
  const auto& me = *state_;
  return me.backend ? me.backend->predicted_bytes(me.batch, me.plan()) : 0;
}

SolveReport QuarkSolver::solve(std::span<std::complex<double>> solution, std::span<const std::complex<double>> source,
                               const Progress& progress) {
  const std::array solutions{solution};
  const std::array sources{source};
  return state_->solve(1, 1, solutions, sources, progress, {})[0];
}

std::vector<SolveReport> QuarkSolver::solve(std::span<const std::span<std::complex<double>>> solutions,
                                            std::span<const std::span<const std::complex<double>>> sources,
                                            const Progress& progress,
                                            std::span<const std::span<std::complex<double>>> midpoints) {
  if (!midpoints.empty() && (points(state_->action) == flavours(state_->action) || midpoints.size() != sources.size()))
    throw core::InvalidArgument(
        fmt::format("room for {} midpoints was given; give none, or for domain-wall quarks as many as sources, {}",
                    midpoints.size(), sources.size()));
  if (solutions.size() != sources.size())
    throw core::InvalidArgument(fmt::format("{} sources and room for {} solutions were given; give as many of each",
                                            sources.size(), solutions.size()));
  std::vector<SolveReport> reports;
  if (sources.empty()) return reports;
  const std::size_t columns = state_->together(sources.size());
  for (std::size_t begin = 0; begin < sources.size(); begin += columns) {
    const std::size_t count = std::min(columns, sources.size() - begin);
    auto some =
        state_->solve(columns, sources.size() - begin, solutions.subspan(begin, count), sources.subspan(begin, count),
                      progress, midpoints.empty() ? midpoints : midpoints.subspan(begin, count));
    std::ranges::move(some, std::back_inserter(reports));
    if (reports.back().reason == solve::name(solve::Reason::cancelled)) {
      // The caller has cancelled: do not solve the other right-hand sides, and set their solutions to zero.
      for (std::size_t left = reports.size(); left < sources.size(); ++left) {
        std::ranges::fill(solutions[left], 0.0);
        if (!midpoints.empty()) std::ranges::fill(midpoints[left], 0.0);
        reports.push_back(reports.back());
        reports.back().iterations = 0;
        reports.back().residual = 1;
        reports.back().seconds = 0;
        reports.back().history.clear();
      }
      break;
    }
  }
  return reports;
}

std::pair<device::DeviceSolutions, std::vector<SolveReport>>
QuarkSolver::solve_on_device(std::span<const std::span<const std::complex<double>>> sources, const Progress& progress) {
  if (!state_->backend)
    throw core::InvalidArgument(
        "solutions were to stay on a device, and the solver is on the processor; give it a device, or call solve");
  if (sources.empty() || sources.size() > static_cast<std::size_t>(state_->batch))
    throw core::InvalidArgument(
        fmt::format("solutions of {} sources were to stay on the device; give between 1 and rhs_batch = {}",
                    sources.size(), state_->batch));
  std::pair<device::DeviceSolutions, std::vector<SolveReport>> out;
  out.second = state_->solve_there(sources.size(), sources, progress,
                                   [&](const ColumnSolves& solves, device::DeviceBatch& there, const auto& seconds) {
                                     out.first = there.solutions(solves.exponents());
                                     return solves.reports(seconds());
                                   });
  return out;
}

std::optional<Trial> QuarkSolver::choose(std::span<const std::span<const std::complex<double>>> sources,
                                         const Progress& progress) {
  if (sources.empty() || !state_->may_choose()) return std::nullopt;
  const std::size_t columns = state_->together(sources.size());
  const auto known = state_->trials.find(static_cast<int>(columns));
  if (known != state_->trials.end() && state_->holds(known->second, sources.size())) return known->second;
  auto& engine = state_->engine(static_cast<int>(columns));
  HostBatch begun(engine);
  const ColumnSolves first(begun, state_->group, state_->parameters, sources.first(columns), progress);
  return state_->choose(engine, begun, first.any_active(), sources.size(), progress, nullptr);
}

std::vector<Trial> QuarkSolver::trials() const {
  std::vector<Trial> all;
  for (const auto& [columns, trial] : state_->trials) all.push_back(trial);
  return all;
}

void QuarkSolver::recall(std::span<const Trial> trials) {
  if (!state_->may_choose()) return;
  for (const Trial& trial : trials) {
    require_one_of("the choice of a trial", trial.chosen, choices);
    if (trial.chosen == "schwarz" && !state_->operators->schwarz) continue;
    if (state_->trials.try_emplace(trial.columns, trial).second) state_->recalled.insert(trial.columns);
  }
}

std::vector<SolveReport> QuarkSolver::solve_shifted(std::span<const std::span<std::complex<double>>> solutions,
                                                    std::span<const double> shifts,
                                                    std::span<const std::complex<double>> source, bool even_odd,
                                                    const Progress& progress) {
  auto& me = *state_;
  const bool walls = std::holds_alternative<DomainWallAction>(me.action);
  if (walls && me.backend && me.parameters.schur == "symmetric")
    throw core::InvalidArgument(
        "shifted systems of domain walls are those of the asymmetric Schur complement, and this solver on a device has "
        "schur = \"symmetric\"; leave schur out");
  if (solutions.size() != shifts.size())
    throw core::InvalidArgument(fmt::format("{} shifts and room for {} solutions were given; give as many of each",
                                            shifts.size(), solutions.size()));
  solve::SolveOptions options;
  options.tolerance = me.parameters.tolerance;
  options.max_iterations = me.parameters.max_iterations;
  options.progress = progress;
  const comm::SolveUnderWay under_way(me.group);
  const auto start = std::chrono::steady_clock::now();
  std::vector<solve::SolveResult> results;
  if (me.backend) {
    if (even_odd != me.parameters.even_odd)
      throw core::InvalidArgument(fmt::format(
          "shifted systems {} were asked for on a device that has even_odd = {}; make the solver with the other value",
          even_odd ? "of the Schur complement" : "of D", me.parameters.even_odd));
    results = me.backend->multishift(solutions, shifts, source, options);
  } else {
    const SchurForm form = walls || me.parameters.schur == "asymmetric" ? SchurForm::asymmetric : SchurForm::symmetric;
    results = solve_shifted_on(*me.operators->precise, even_odd, form, solutions, shifts, source, options);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<SolveReport> reports;
  for (const auto& result : results) {
    SolveReport report;
    report.converged = result.converged();
    report.reason = solve::name(result.reason);
    report.method = fmt::format("{}multi-shift cg, double precision", even_odd ? "even-odd " : "");
    report.iterations = result.iterations;
    report.residual = result.worst_residual();
    report.seconds = seconds / static_cast<double>(results.size());
    report.history = result.history.front();
    if (me.backend) report.device = me.backend->device();
    reports.push_back(std::move(report));
  }
  return reports;
}

const multigrid::Setup* QuarkSolver::setup() const noexcept {
  return state_->operators && state_->operators->multigrid ? &*state_->operators->multigrid : nullptr;
}

const LowModes* QuarkSolver::low_modes() const noexcept {
  return state_->operators ? state_->operators->low_modes.get() : nullptr;
}

void QuarkSolver::check_refresh(const Action& action) const {
  const auto& me = *state_;
  if (me.backend)
    throw core::InvalidArgument("a solver on a device was to take other links; make a new solver for them");
  const auto* staggered = std::get_if<StaggeredAction>(&action);
  if (action.index() != me.action.index() || points(action) != points(me.action) ||
      (staggered != nullptr && staggered->kind != std::get<StaggeredAction>(me.action).kind))
    throw core::InvalidArgument("a solver was to take an action of another kind or with another fifth dimension; make "
                                "a new solver for it");
}

void QuarkSolver::refresh(const GaugeField& gauge, const Action& action) {
  check_refresh(action);
  auto& me = *state_;
  std::optional<multigrid::Setup> setup;
  if (me.operators->multigrid) setup = me.operators->multigrid->refreshed(gauge, action);
  SolverParameters without = me.parameters;
  without.kind = setup && without.kind == "multigrid" ? "bicgstab" : without.kind;
  // The old operators stay until nothing can fail any more. Their engines can be made again at any time.
  me.engines.clear();
  auto made = std::make_unique<QuarkOperators>(gauge, action, without, me.batch, std::nullopt, me.operators->low_modes);
  made->parameters = me.parameters;
  if (setup) made->take_multigrid(std::move(*setup), gauge);
  Action taken = action;
  me.operators = std::move(made);
  std::swap(me.action, taken);
}

void QuarkSolver::apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger) {
  const bool walls = std::holds_alternative<DomainWallAction>(state_->action);
  if (state_->backend && walls)
    throw core::InvalidArgument(
        "D of domain walls is applied on the processor alone; make the operator without device");
  if (state_->backend) return state_->backend->apply(out, in, dagger);
  apply_on(*state_->operators->precise, out, in, dagger);
}

void QuarkSolver::apply_schur(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                              bool dagger) {
  if (state_->backend || std::holds_alternative<DomainWallAction>(state_->action))
    throw core::InvalidArgument("the Schur complement alone is applied to arrays of four dimensions on the processor; "
                                "make the operator without "
                                "device, and not of domain walls");
  apply_schur_on(*state_->operators->precise, out, in, dagger);
}

}  // namespace halocline::qcd
