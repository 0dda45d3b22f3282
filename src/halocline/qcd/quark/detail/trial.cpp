// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/trial.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace halocline::qcd {
namespace {

/// The digits that a trial gains, and the most iterations that it gives a method for them.
constexpr double trial_digits = 3.0;
constexpr int most_iterations_schwarz = 30, most_iterations_other = 200, most_iterations_multigrid = 15;
/// Iterations of BiCGStab on one column that a set-up of multigrid and a solve hardly ever cost less than, and the
/// cycles of a solve. In a batch an iteration takes about a third of the time for each column.
constexpr double least_setup = 800, cycles_of_solve = 20;
constexpr double never = std::numeric_limits<double>::infinity();
/// A method ends its trial when the pace of its first digits foretells this many times the best time.
constexpr double margin = 1.3;
constexpr std::size_t least_iterations = 100;  ///< before a method is called hopeless
/// Iterations of a batch of several columns that tell the time of one.
constexpr int timed_iterations = 8, timed_cycles = 2;
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

/// When a method ends its trial before it has gained the digits.
struct Limits {
  int iterations;  ///< most of them
  /// Seconds of the best solve so far. The method ends when it cannot be better, or has taken a part of them.
  double best = never;
  double part = 0.5;
  double hopeless = never;  ///< iterations of a whole solve from which on another method will be taken
};

/// What a method did on some right-hand sides.
struct Beginning {
  std::vector<std::vector<double>> history;  ///< of each column
  std::vector<double> ends;                  ///< of the iterations [s]
};

/// Runs one method for a trial. Returns nothing if `progress` ended the trial.
std::optional<Beginning> begin(QuarkEngine& engine, const std::string& method, const SpinorField<double>& r,
                               double digits, const Limits& when, const QuarkSolver::Progress& progress) {
  engine.prepare(method);
  auto e = engine.space().create();
  const std::vector<double> tolerance(static_cast<std::size_t>(engine.columns()),
                                      std::pow(10.0, -std::min(digits, trial_digits)));
  solve::SolveOptions limits;
  limits.max_iterations = when.iterations;
  limits.restart_length = engine.restart_length();
  const Stopwatch watch(engine.space().layout()->geometry().communicator());
  std::vector<double> ends;
  bool wanted = true;
  limits.progress = [&](int iteration, double residual) {
    // A restart reports the same iteration number twice.
    if (iteration > static_cast<int>(ends.size())) ends.push_back(watch.seconds());
    wanted = wanted && (!progress || progress(iteration, residual));
    if (!wanted || ends.size() < 4) return wanted;
    // The first digits are the cheapest, so their pace is a lower bound.
    const double spent = ends.back() - ends.front(), gain = -std::log10(residual);
    if (spent > when.part * when.best || (gain > 0 && spent * digits > margin * gain * when.best)) return false;
    return ends.size() < least_iterations || !(gain > 0 && iteration * digits > gain * when.hopeless);
  };
  auto result = engine.correct(method, e, r, tolerance, 1.0, limits);
  if (!wanted) return std::nullopt;
  if (ends.empty()) ends.push_back(watch.seconds());
  return Beginning{std::move(result.history), std::move(ends)};
}

/// The first column that is not zero, alone.
SpinorField<double> first_column(const QuarkEngine& one, const QuarkEngine& batch, const SpinorField<double>& r) {
  const auto sizes = norms(batch.space(), r);
  std::int64_t column = 0;
  while (column + 1 < std::ssize(sizes) && sizes[static_cast<std::size_t>(column)] == 0) ++column;
  auto out = one.space().create();
  for (std::int64_t tile = 0; tile < r.tiles(); ++tile)
    std::copy_n(r.data() + tile * r.tile_stride() + column * r.column_stride(), r.column_stride(),
                out.data() + tile * out.tile_stride());
  return out;
}

/// The right-hand sides of a trial.
struct Batch {
  QuarkEngine* engine;
  const SpinorField<double>* r;
};

/// Predicts the whole solve of a batch by one method. One column tells the iterations, if `one` is given, and a few
/// iterations of the batch their time. Returns nothing if `progress` ended the trial.
std::optional<Forecast> attempt(const Batch& batch, const std::optional<Batch>& one, const std::string& method,
                                double digits, const Limits& when, const QuarkSolver::Progress& progress) {
  if (!one) {
    const auto all = begin(*batch.engine, method, *batch.r, digits, when, progress);
    if (!all) return std::nullopt;
    return forecast(all->history, all->ends, digits);
  }
  // A column alone takes up to three times as long as in a batch.
  Limits alone = when;
  alone.best = 3 * when.best / batch.engine->columns();
  const auto sample = begin(*one->engine, method, *one->r, digits, alone, progress);
  if (!sample) return std::nullopt;
  const auto timed = begin(*batch.engine, method, *batch.r, digits,
                           {.iterations = method == "multigrid" ? timed_cycles : timed_iterations}, progress);
  if (!timed) return std::nullopt;
  return forecast(sample->history, timed->ends, digits);
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
  auto& operators = engine.operators();
  const double batches = std::max(1.0, static_cast<double>(right_hand_sides) / given);
  // In iterations of BiCGStab on the columns of a batch.
  const double setup_pays = least_setup / (batches * std::min(given, 3));
  Limits plain{.iterations = most_iterations_other};
  if (operators.may_use_multigrid()) plain.hopeless = 2 * setup_pays;
  std::optional<QuarkEngine> single;
  std::optional<SpinorField<double>> column;
  std::optional<Batch> one;
  if (engine.columns() > 1) {
    single.emplace(operators, 1);
    column = first_column(*single, engine, r);
    one = Batch{&*single, &*column};
  }
  const auto other = attempt({&engine, &r}, one, "bicgstab", digits, plain, progress);
  if (!other) return std::nullopt;
  Trial trial{
      .chosen = "bicgstab", .columns = given, .right_hand_sides = right_hand_sides, .bicgstab_seconds = other->seconds};
  double best = other->seconds;
  const auto consider = [&](const std::string& method, const Limits& when, double& seconds) {
    // The domains of Schwarz depend on the number of columns, so the whole batch tells its iterations.
    const auto forecast =
        attempt({&engine, &r}, method == "schwarz" ? std::nullopt : one, method, digits, when, progress);
    if (!forecast) return false;
    seconds = forecast->seconds;
    if (seconds < best) {
      best = seconds;
      trial.chosen = method;
    }
    return true;
  };
  if (operators.deflation &&
      !consider("deflated-cg", {.iterations = most_iterations_other, .best = best}, trial.deflated_seconds))
    return std::nullopt;
  if (operators.stored_vectors) operators.make_multigrid({});  // cheap enough to be tried
  if (operators.links && other->iterations > setup_pays) {
    bool wanted = true;
    make_setup(operators, best * batches, right_hand_sides, progress, trial, wanted);
    if (!wanted) return std::nullopt;
  }
  if (operators.multigrid) {
    trial.setup_seconds = operators.multigrid->seconds();
    if (!consider("multigrid", {.iterations = most_iterations_multigrid, .best = best}, trial.multigrid_seconds))
      return std::nullopt;
  }
  // Multigrid wins where a few modes slow down the other two alike, so Schwarz need not be tried after it.
  if (trial.chosen == "multigrid" || !operators.schwarz) return trial;
  // The whole batch runs here, so this trial is kept short.
  if (!consider("schwarz", {.iterations = most_iterations_schwarz, .best = best, .part = 0.2}, trial.schwarz_seconds))
    return std::nullopt;
  return trial;
}

}  // namespace halocline::qcd
