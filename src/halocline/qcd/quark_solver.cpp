// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/detail/column_solves.hpp"
#include "halocline/qcd/detail/rhs_batch.hpp"
#include "halocline/qcd/detail/trial.hpp"
#include "halocline/qcd/gauge_field.hpp"

namespace halocline::qcd {
namespace {

constexpr std::array kinds{"auto", "schwarz", "bicgstab", "cg", "gcr", "fgmres"};
constexpr std::array precisions{"mixed", "double"};
constexpr std::array choices{"schwarz", "bicgstab"};
constexpr std::array schur_forms{"symmetric", "asymmetric"};

template <class Names>
void require_one_of(const char* what, const std::string& given, const Names& known) {
  if (std::ranges::find(known, given) == known.end())
    throw core::InvalidArgument(fmt::format("{} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
}

/// The methods that are run one after the other as they fail.
std::vector<std::string> plan_of(const std::string& kind, const std::string& chosen) {
  if (chosen == "schwarz") return {"schwarz", "schwarz", "bicgstab", "cg"};
  if (kind == "auto") return {chosen, "cg"};
  return {chosen};
}

}  // namespace

void SolverParameters::validate() const {
  require_one_of("the solver", kind, kinds);
  require_one_of("the solver's precision", precision, precisions);
  require_one_of("the Schur complement's form", schur, schur_forms);
  if (!choice.empty()) require_one_of("the choice of auto", choice, choices);
  require_one_of("the outer solver around Schwarz", outer, schwarz::outer_solvers());
  if (!(tolerance > 0) || !(tolerance < 1))
    throw core::InvalidArgument(
        fmt::format("the solver's tolerance is {}; give a number between 0 and 1, such as 1e-10", tolerance));
  if (max_iterations < 1)
    throw core::InvalidArgument(fmt::format("max_iterations is {}; give at least 1", max_iterations));
  if (restart_length < 1)
    throw core::InvalidArgument(fmt::format("restart_length is {}; give at least 1", restart_length));
  if (rhs_batch < 0)
    throw core::InvalidArgument(
        fmt::format("rhs_batch is {}; give the most right-hand sides to be solved together, or 0", rhs_batch));
  if (kind == "schwarz" && precision == "double")
    throw core::InvalidArgument("the Schwarz solver iterates in single precision inside double; give the precision "
                                "\"mixed\", which reaches the "
                                "same residual, or another solver");
  schwarz.validate();
}

struct QuarkSolver::Implementation {
  Implementation(const GaugeField& gauge, const ActionParameters& a, const SolverParameters& p)
      : batch((p.validate(), p.rhs_batch) > 0 ? p.rhs_batch : automatic_batch(gauge.geometry())),
        operators(gauge, a, p, batch) {}

  /// Of so many right-hand sides, those that are solved together.
  std::size_t together(std::size_t sources) const {
    const auto most = static_cast<std::size_t>(batch);
    const std::size_t batches = (sources + most - 1) / most;
    return (sources + batches - 1) / batches;
  }

  QuarkEngine& engine(int columns) {
    auto& found = engines[columns];
    if (!found) found = std::make_unique<QuarkEngine>(operators, columns);
    return *found;
  }

  /// There are two methods to choose from.
  bool may_choose() const noexcept {
    const auto& parameters = operators.parameters;
    return parameters.kind == "auto" && parameters.choice.empty() && operators.schwarz.has_value();
  }

  /// The trial for as many columns as the engine has, once. Nothing where there is none.
  std::optional<Trial> choose(QuarkEngine& with, const ColumnSolves& solves, const Progress& progress) {
    const int columns = with.columns();
    if (const auto known = trials.find(columns); known != trials.end()) return known->second;
    if (!may_choose() || !solves.any_active()) return std::nullopt;
    const auto trial = try_methods(with, solves.residual(), columns, operators.parameters.tolerance, progress);
    if (!trial) return std::nullopt;
    if (trial->chosen != "schwarz") with.forget_schwarz();
    news.push_back(
        fmt::format("auto: schwarz would take {:.3g} s, {} {:.3g} s ({} together); {} is used", trial->schwarz_seconds,
                    with.describe("bicgstab"), trial->bicgstab_seconds,
                    columns == 1 ? std::string("one right-hand side") : fmt::format("{} right-hand sides", columns),
                    trial->chosen));
    return trials[columns] = *trial;
  }

  /// The method that the solve begins with.
  std::string method(QuarkEngine& with, ColumnSolves& solves, const Progress& progress) {
    const auto& parameters = operators.parameters;
    if (parameters.kind != "auto") return parameters.kind;
    const auto trial = choose(with, solves, progress);
    if (!operators.refusal.empty())
      news.push_back(fmt::format("auto: Schwarz does not fit ({}); even-odd bicgstab is used",
                                 std::exchange(operators.refusal, {})));
    for (const std::string& sentence : news) solves.note(sentence);
    news.clear();
    if (trial) return trial->chosen;
    return parameters.choice == "schwarz" && operators.schwarz ? "schwarz" : "bicgstab";
  }

  std::vector<SolveReport> solve(QuarkEngine& with, std::span<const std::span<std::complex<double>>> solutions,
                                 std::span<const std::span<const std::complex<double>>> sources,
                                 const Progress& progress) {
    const auto start = std::chrono::steady_clock::now();
    ColumnSolves solves(with, operators.parameters, sources, progress);
    const auto plan = plan_of(operators.parameters.kind, method(with, solves, progress));
    solves.run(plan);
    return solves.finish(solutions, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }

  int batch;
  QuarkOperators operators;
  std::map<int, std::unique_ptr<QuarkEngine>> engines;  ///< by number of columns
  std::map<int, Trial> trials;                          ///< of "auto", by number of columns
  std::vector<std::string> news;                        ///< for the notes of the next solve
};

QuarkSolver::QuarkSolver(const GaugeField& gauge, const ActionParameters& action, const SolverParameters& parameters)
    : implementation_(std::make_unique<Implementation>(gauge, action, parameters)) {}
QuarkSolver::QuarkSolver(const GaugeField& gauge, const ActionParameters& action)
    : QuarkSolver(gauge, action, SolverParameters()) {}
QuarkSolver::~QuarkSolver() = default;
QuarkSolver::QuarkSolver(QuarkSolver&&) noexcept = default;
QuarkSolver& QuarkSolver::operator=(QuarkSolver&&) noexcept = default;

const ActionParameters& QuarkSolver::action() const noexcept { return implementation_->operators.action; }
const SolverParameters& QuarkSolver::parameters() const noexcept { return implementation_->operators.parameters; }
int QuarkSolver::rhs_batch() const noexcept { return implementation_->batch; }
std::array<std::int64_t, 4> QuarkSolver::tile() const noexcept {
  return implementation_->operators.precise->layout()->tile();
}

SolveReport QuarkSolver::solve(std::span<std::complex<double>> solution, std::span<const std::complex<double>> source,
                               const Progress& progress) {
  const std::array solutions{solution};
  const std::array sources{source};
  return implementation_->solve(implementation_->engine(1), solutions, sources, progress)[0];
}

std::vector<SolveReport> QuarkSolver::solve(std::span<const std::span<std::complex<double>>> solutions,
                                            std::span<const std::span<const std::complex<double>>> sources,
                                            const Progress& progress) {
  if (solutions.size() != sources.size())
    throw core::InvalidArgument(fmt::format("{} sources and room for {} solutions were given; give as many of each",
                                            sources.size(), solutions.size()));
  std::vector<SolveReport> reports;
  if (sources.empty()) return reports;
  const std::size_t columns = implementation_->together(sources.size());
  auto& engine = implementation_->engine(static_cast<int>(columns));
  for (std::size_t begin = 0; begin < sources.size(); begin += columns) {
    const std::size_t count = std::min(columns, sources.size() - begin);
    auto some =
        implementation_->solve(engine, solutions.subspan(begin, count), sources.subspan(begin, count), progress);
    std::ranges::move(some, std::back_inserter(reports));
    if (reports.back().reason == solve::name(solve::Reason::cancelled)) {
      // Nobody wants the others.
      for (std::size_t left = reports.size(); left < sources.size(); ++left) {
        std::ranges::fill(solutions[left], 0.0);
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

std::optional<Trial> QuarkSolver::choose(std::span<const std::span<const std::complex<double>>> sources,
                                         const Progress& progress) {
  if (sources.empty() || !implementation_->may_choose()) return std::nullopt;
  const std::size_t columns = implementation_->together(sources.size());
  const auto known = implementation_->trials.find(static_cast<int>(columns));
  if (known != implementation_->trials.end()) return known->second;
  auto& engine = implementation_->engine(static_cast<int>(columns));
  const ColumnSolves first(engine, implementation_->operators.parameters, sources.first(columns), progress);
  return implementation_->choose(engine, first, progress);
}

void QuarkSolver::apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger) {
  auto& d = *implementation_->operators.precise;
  auto from = spinor_field<double>(d.layout(), lattice::Subset::full);
  auto to = spinor_field<double>(d.layout(), lattice::Subset::full);
  from_canonical(from, in);
  if (dagger)
    d.apply_dagger(to, from);
  else
    d.apply(to, from);
  to_canonical(out, to);
}

}  // namespace halocline::qcd
