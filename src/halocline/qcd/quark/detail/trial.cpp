// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/trial.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>

namespace halocline::qcd {
namespace {

/// The digits that a trial gains, and the most iterations that it gives a method for them.
constexpr double trial_digits = 3.0;
constexpr int most_iterations_schwarz = 30, most_iterations_other = 200, most_iterations_multigrid = 15;
/// Iterations of BiCGStab that a set-up of multigrid and a solve hardly ever cost less than, and the cycles of a solve.
constexpr double least_setup = 800, cycles_of_solve = 20;
constexpr double never = std::numeric_limits<double>::infinity();
/// A gain of fewer digits counts as no progress.
constexpr double some_digits = 0.05;

/// The iteration at which the residual first fell by `digits`, interpolated between two iterations.
double iterations_to(std::span<const double> history, double digits) {
  double best = 0;
  for (std::size_t i = 1; i < history.size(); ++i) {
    const double here = -std::log10(history[i]);
    if (here >= digits) return static_cast<double>(i - 1) + (digits - best) / (here - best);
    if (here > best) best = here;
  }
  return never;
}

/// The most digits by which the residual fell.
double gained(std::span<const double> history) {
  double best = 0;
  for (const double residual : history)
    if (residual > 0) best = std::max(best, -std::log10(residual));
  return best;
}

class Stopwatch {
public:
  explicit Stopwatch(const comm::Communicator& group) : group_(group) {}
  /// Seconds since construction, on the slowest process. Collective: yes.
  double seconds() const {
    std::array<double, 1> passed{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()};
    group_.max(passed);
    return passed[0];
  }

private:
  comm::Communicator group_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Runs one method for a trial and predicts its whole solve. Returns nothing if `progress` ended the trial.
std::optional<Forecast> attempt(QuarkEngine& engine, const std::string& method, const SpinorField<double>& r,
                                double digits, int most_iterations, double most_seconds,
                                const QuarkSolver::Progress& progress) {
  engine.prepare(method);
  auto e = engine.space().create();
  const std::vector<double> tolerance(static_cast<std::size_t>(engine.columns()),
                                      std::pow(10.0, -std::min(digits, trial_digits)));
  solve::SolveOptions limits;
  limits.max_iterations = most_iterations;
  limits.restart_length = engine.restart_length();
  const Stopwatch watch(engine.space().layout()->geometry().communicator());
  std::vector<double> ends;
  bool wanted = true;
  limits.progress = [&](int iteration, double residual) {
    // A restart reports the same iteration number twice.
    if (iteration > static_cast<int>(ends.size())) ends.push_back(watch.seconds());
    wanted = wanted && (!progress || progress(iteration, residual));
    return wanted && (ends.size() < 2 || ends.back() - ends.front() < most_seconds);
  };
  const auto result = engine.correct(method, e, r, tolerance, 1.0, limits);
  if (!wanted) return std::nullopt;
  if (ends.empty()) ends.push_back(watch.seconds());
  return forecast(result.history, ends, digits);
}

}  // namespace

Forecast forecast(std::span<const std::vector<double>> histories, std::span<const double> ends, double digits) {
  Forecast whole;
  for (const auto& history : histories) {
    if (history.size() < 2) continue;  // a column of zeros, or one that had nothing to do
    const double reached = std::min(digits, gained(history));
    if (reached < some_digits) return {never, never};
    const double spent = iterations_to(history, reached);
    const double pace = (spent - iterations_to(history, 0.5 * reached)) / (0.5 * reached);
    whole.iterations = std::max(whole.iterations, spent + (digits - reached) * pace);
  }
  std::vector<double> lengths;
  for (std::size_t i = 1; i < ends.size(); ++i) lengths.push_back(ends[i] - ends[i - 1]);
  if (lengths.empty()) lengths.assign(ends.begin(), ends.end());
  if (lengths.empty()) return {never, never};
  const auto quartile = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 4);
  std::ranges::nth_element(lengths, quartile);
  whole.seconds = whole.iterations * *quartile;
  return whole;
}

namespace {

/// Makes the set-up of multigrid if it pays against `others` seconds. Returns false if it does not.
bool make_setup(QuarkOperators& operators, double others, int right_hand_sides, const QuarkSolver::Progress& progress,
                Trial& trial, bool& wanted) {
  return operators.make_multigrid([&](const multigrid::Setup::Foretold& foretold) {
    trial.setup_seconds = foretold.seconds;
    wanted = wanted && (!progress || progress(0, 1.0));
    const double left = foretold.seconds * (1 - foretold.part);
    return wanted && left + right_hand_sides * cycles_of_solve * foretold.cycle_seconds < others;
  });
}

}  // namespace

std::optional<Trial> try_methods(QuarkEngine& engine, const SpinorField<double>& r, int given, int right_hand_sides,
                                 double tolerance, const QuarkSolver::Progress& progress) {
  const double digits = -std::log10(tolerance);
  const auto other = attempt(engine, "bicgstab", r, digits, most_iterations_other, never, progress);
  if (!other) return std::nullopt;
  const auto schwarz = attempt(engine, "schwarz", r, digits, most_iterations_schwarz, 0.5 * other->seconds, progress);
  if (!schwarz) return std::nullopt;
  Trial trial{.chosen = schwarz->seconds < other->seconds ? "schwarz" : "bicgstab",
              .columns = given,
              .right_hand_sides = right_hand_sides,
              .schwarz_seconds = schwarz->seconds,
              .bicgstab_seconds = other->seconds};
  auto& operators = engine.operators();
  if (!operators.may_use_multigrid()) return trial;
  const double best = std::min(schwarz->seconds, other->seconds);
  const double batches = std::max(1.0, static_cast<double>(right_hand_sides) / given);
  if (operators.stored_vectors) operators.make_multigrid({});  // cheap enough to be tried
  if (!operators.multigrid) {
    const double iteration =
        other->iterations > 0 && std::isfinite(other->iterations) ? other->seconds / other->iterations : 0.0;
    if (best * batches < least_setup * iteration) return trial;
    engine.keep_only("bicgstab");
    bool wanted = true;
    const bool made = make_setup(operators, best * batches, right_hand_sides, progress, trial, wanted);
    if (!wanted) return std::nullopt;
    if (!made) return trial;
    trial.setup_seconds = operators.multigrid->seconds();
  }
  const auto multigrid = attempt(engine, "multigrid", r, digits, most_iterations_multigrid, best, progress);
  if (!multigrid) return std::nullopt;
  trial.multigrid_seconds = multigrid->seconds;
  if (multigrid->seconds < best) trial.chosen = "multigrid";
  return trial;
}

}  // namespace halocline::qcd
