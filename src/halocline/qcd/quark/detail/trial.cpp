// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/trial.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

namespace halocline::qcd {
namespace {

/// The digits that tell the time of a solve, and the most iterations that a method is given for them.
constexpr double trial_digits = 3.0;
constexpr std::size_t most_iterations = 200;
/// A set-up of multigrid takes as long as this many iterations of BiCGStab on one column, P and D_c of a stored one as
/// many as this, and a solve as many as this on the same columns. The latter is about 16 cycles. Measured on 16^4.
constexpr double setup_pays = 570, stored_setup_pays = 80, cycles_pay = 125, cycles_of_solve = 16;
/// Multigrid is preferred up to this ratio of the times, because its set-up serves later solves too.
constexpr double preference = 0.9;
/// BiCGStab is judged every so many iterations. Where multigrid pays from n iterations on, n / 8 are enough for it, but
/// at least and at most so many; where one column stands for many, which cost more, always the most. Each round before
/// asks for a prediction that is larger by n.
constexpr std::size_t between = 16, first_least = 32, first_most = 80;
/// A Schwarz iteration applies the operator, or its part inside domains, often. It was worth 1.3 to 1.7 times fewer
/// iterations of even-odd BiCGStab than a quarter of these applications (docs/solvers.md).
constexpr double applications_per_iteration = 4;
/// Iterations of a batch of several columns that tell the time of one.
constexpr std::size_t timed_iterations = 4, timed_cycles = 2;
/// Schwarz runs on the whole batch, so where nothing of it is kept it ends after this part of the best solve.
constexpr double schwarz_part = 0.2;
/// A gain of fewer digits counts as no progress.
constexpr double some_digits = 0.05;
/// A later digit takes at most this many times the average one.
constexpr double longest_pause = 8;
constexpr double never = std::numeric_limits<double>::infinity();

/// The number of iterations, not always whole, after which the residual first fell by `digits`.
double iterations_to(std::span<const double> history, double digits) {
  double best = 0;
  for (std::size_t i = 1; i < history.size(); ++i) {
    const double here = -std::log10(history[i]);
    if (here >= digits) return static_cast<double>(i - 1) + (digits - best) / (here - best);
    if (here > best) best = here;
  }
  return never;
}

/// The most digits by which the residual fell within the first iterations.
double gained(std::span<const double> history, std::size_t iterations) {
  double best = 0;
  for (const double residual : history.first(std::min(history.size(), iterations + 1)))
    if (residual > 0) best = std::max(best, -std::log10(residual));
  return best;
}

/// Follows a solve from its beginning, and ends it if it is told to. For a solver's progress callback.
class Watch {
public:
  /// Returns false if the solve is to end. The same on all processes.
  using Verdict = std::function<bool(Watch&)>;
  Watch(const comm::Communicator& group, Verdict verdict) : group_(group), verdict_(std::move(verdict)) {}

  /// After an iteration; `residual` is that of the worst column. Collective: yes.
  bool operator()(int iteration, double residual) {
    // A restart reports the same iteration number twice.
    if (resting_ || iteration < std::ssize(history_)) return !ended_;
    history_.push_back(residual);
    std::array<double, 1> passed{std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count()};
    group_.max(passed);
    ends_.push_back(passed[0]);
    ended_ = ended_ || (verdict_ && !verdict_(*this));
    return !ended_;
  }

  /// Lets the solve go on to its end, without sums over the processes.
  void rest() noexcept { resting_ = true; }
  bool ended() const noexcept { return ended_; }
  std::size_t iterations() const noexcept { return ends_.size(); }
  double digits() const { return gained(history_, iterations()); }
  std::span<const double> ends() const noexcept { return ends_; }
  Forecast forecast(double digits) const { return qcd::forecast(std::span(&history_, 1), ends_, digits); }

private:
  comm::Communicator group_;
  Verdict verdict_;
  std::vector<double> history_{1.0}, ends_;
  bool ended_ = false, resting_ = false;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

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

/// Right-hand sides, and the engine that solves them.
struct Batch {
  QuarkEngine* engine;
  const SpinorField<double>* r;
};

class Trials {
public:
  Trials(QuarkEngine& engine, const SpinorField<double>& r, int given, int right_hand_sides, double tolerance,
         const QuarkSolver::Progress& progress, ColumnSolves* solves)
      : batch_{&engine, &r},
        one_(batch_),
        progress_(&progress),
        solves_(solves),
        digits_(-std::log10(tolerance)),
        batches_(std::max(1.0, static_cast<double>(right_hand_sides) / given)) {
    trial_.chosen = "bicgstab";
    trial_.columns = given;
    trial_.right_hand_sides = right_hand_sides;
    if (engine.columns() == 1) return;
    single_.emplace(operators(), 1);
    column_.emplace(first_column(*single_, engine, r));
    one_ = {&*single_, &*column_};
  }

  std::optional<Trial> run() {
    time_schwarz();
    try_bicgstab();
    if (wanted_ && !done_ && operators().deflation)
      trial_.deflated_seconds = try_on_one("deflated-cg", most_iterations, timed_iterations);
    if (wanted_ && !done_) try_multigrid();
    // Multigrid wins where a few modes slow down the other two alike, so Schwarz need not be tried after it.
    if (wanted_ && !done_ && trial_.chosen != "multigrid") try_schwarz();
    if (!wanted_) return std::nullopt;
    return trial_;
  }

private:
  QuarkOperators& operators() const { return batch_.engine->operators(); }

  /// Whether the methods besides multigrid have to be compared, `seconds` being those of an iteration of BiCGStab.
  bool must_compare(double seconds) const { return operators().deflation || schwarz_may_win(seconds); }
  bool schwarz_may_win(double seconds) const {
    return operators().schwarz && schwarz_iteration_ < schwarz_worth() * seconds;
  }
  /// Iterations of BiCGStab that one of Schwarz is worth at most.
  double schwarz_worth() const {
    const auto& k = operators().parameters.schwarz;
    const int steps = k.inner == "jacobi" ? k.steps : 2 * k.steps;
    return 2 * (k.nsap + 1) * (steps + 1) / applications_per_iteration;
  }
  /// Iterations of BiCGStab on a column, above which multigrid pays. @param seconds  of an iteration on one column
  double multigrid_pays(double seconds) const {
    if (!operators().may_use_multigrid()) return never;
    const double setup = operators().multigrid ? 0 : operators().stored_vectors ? stored_setup_pays : setup_pays;
    const double together = single_ ? batch_iteration_ / seconds : 1.0;
    return preference * (setup / (together * batches_) + cycles_pay);
  }
  /// The time of an iteration of BiCGStab on the batch, in that on one column.
  double together() const { return batch_iteration_ / one_forecast_.iteration_seconds; }

  /// Tries a method on right-hand sides, up to `digits`; the solution is thrown away.
  solve::SolveResult sample(const Batch& of, const std::string& method, double digits, std::size_t iterations,
                            Watch& watch) {
    auto e = of.engine->space().create();
    const std::vector<double> tolerance(static_cast<std::size_t>(of.engine->columns()), std::pow(10.0, -digits));
    solve::SolveOptions limits;
    limits.max_iterations = static_cast<int>(iterations);
    limits.restart_length = of.engine->restart_length();
    limits.progress = [&](int iteration, double residual) {
      wanted_ = wanted_ && (!*progress_ || (*progress_)(iteration, residual));
      return wanted_ && watch(iteration, residual);
    };
    return of.engine->correct(method, e, *of.r, tolerance, 1.0, limits);
  }

  /// Begins the solve of the batch by a method, and goes on with it unless `watch` ends it.
  solve::SolveResult begin(const std::string& method, Watch& watch) {
    auto result = solves_->begin(method, std::ref(watch));
    const bool cancelled = std::ranges::find(result.reasons, solve::Reason::cancelled) != result.reasons.end();
    wanted_ = wanted_ && (!cancelled || watch.ended());
    done_ = !cancelled;
    return result;
  }

  Watch watch(Watch::Verdict verdict = {}) const {
    return {batch_.engine->space().layout()->geometry().communicator(), std::move(verdict)};
  }

  /// Goes on as long as what remains of a solve is predicted to take at most `best` seconds, and after half of the
  /// digits in any case.
  Watch::Verdict while_better(double best) const {
    return [this, best](Watch& w) {
      const double gain = w.digits();
      if (gain > 0.5 * digits_) w.rest();
      if (w.iterations() < 3 || gain > 0.5 * digits_) return true;
      // The first digits are the cheapest, so their pace is a lower bound.
      const auto n = static_cast<double>(w.iterations());
      const double seconds = (w.ends().back() - w.ends().front()) / (n - 1);
      return seconds * n * (digits_ - gain) <= best * gain;
    };
  }

  /// Takes a method if its whole solve is predicted to be faster than the best so far.
  void consider(const std::string& method, double seconds) {
    if (!(seconds < best_)) return;
    best_ = seconds;
    trial_.chosen = method;
  }

  /// Seconds of an iteration of a method on the batch.
  double timed(const std::string& method, std::size_t iterations) {
    batch_.engine->prepare(method);
    Watch followed = watch();
    const auto result = sample(batch_, method, digits_, iterations, followed);
    return forecast(result.history, followed.ends(), digits_).iteration_seconds;
  }

  void time_schwarz() {
    if (!operators().schwarz) return;
    one_.engine->prepare("schwarz");
    Watch followed = watch();
    sample(one_, "schwarz", digits_, 1, followed);
    if (followed.iterations() > 0) schwarz_iteration_ = followed.ends().front();
    if (single_) one_.engine->keep_only("bicgstab");
  }

  void try_bicgstab() {
    if (wanted_ && single_) batch_iteration_ = timed("bicgstab", timed_iterations);
    if (!wanted_) return;
    one_.engine->prepare("bicgstab");
    const bool kept = solves_ != nullptr && !single_;
    Watch followed = watch([&](Watch& w) {
      const std::size_t n = w.iterations();
      const bool first_digits = w.digits() >= trial_digits;
      if (!first_digits && (n < first_least || n % between != 0)) return true;
      const auto whole = w.forecast(digits_);
      const double pays = multigrid_pays(whole.iteration_seconds), most = first_most;
      const double enough = single_ ? most : std::clamp(pays / 8, static_cast<double>(first_least), most);
      const double missing = std::max(0.0, enough - static_cast<double>(n));
      const bool judged = n >= most_iterations || (first_digits && (missing == 0 || 2 * whole.iterations < pays));
      if (whole.iterations > pays * (1 + missing / between)) return false;
      if (judged && kept) w.rest();
      return !judged || (kept && !must_compare(whole.iteration_seconds));
    });
    const auto result =
        kept ? begin("bicgstab", followed) : sample(one_, "bicgstab", digits_, most_iterations, followed);
    if (!wanted_) return;
    one_forecast_ = forecast(result.history, followed.ends(), digits_);
    if (!single_) batch_iteration_ = one_forecast_.iteration_seconds;
    best_ = trial_.bicgstab_seconds =
        one_forecast_.iterations < never ? one_forecast_.iterations * batch_iteration_ : never;
    trial_.schwarz_ruled_out = operators().schwarz && !schwarz_may_win(one_forecast_.iteration_seconds);
    if (trial_.schwarz_ruled_out)
      trial_.schwarz_seconds = one_forecast_.iterations / schwarz_worth() * schwarz_iteration_ * together();
  }

  /// Predicts the seconds of the whole solve of the batch by a method that one column and a few iterations of the
  /// batch tell, and takes the method if they are the fewest.
  double try_on_one(const std::string& method, std::size_t iterations, std::size_t of_batch) {
    one_.engine->prepare(method);
    Watch followed = watch(while_better(best_ / together()));
    const auto result = sample(one_, method, std::min(digits_, trial_digits), iterations, followed);
    auto whole = forecast(result.history, followed.ends(), digits_);
    if (wanted_ && single_) whole.iteration_seconds = timed(method, of_batch);
    const double seconds = whole.iterations < never ? whole.iterations * whole.iteration_seconds : never;
    consider(method, seconds);
    return seconds;
  }

  /// Predicts the seconds of the whole solve of the batch by a method, which begins the solve; takes it if it came to
  /// the end of its first correction.
  double try_in_earnest(const std::string& method) {
    batch_.engine->prepare(method);
    Watch followed = watch(while_better(best_));
    const auto result = begin(method, followed);
    const double seconds = forecast(result.history, followed.ends(), digits_).seconds;
    // If it stagnated, the methods after it may do better.
    if (done_ && result.converged()) {
      best_ = std::min(best_, seconds);
      trial_.chosen = method;
    } else {
      done_ = false;
      consider(method, seconds);
    }
    return seconds;
  }

  /// Makes the set-up of multigrid if it pays. Returns false if it does not.
  bool make_setup() {
    return operators().make_multigrid([&](const multigrid::Setup::Foretold& foretold) {
      trial_.setup_seconds = foretold.seconds;
      wanted_ = wanted_ && (!*progress_ || (*progress_)(0, 1.0));
      const double left = foretold.seconds * (1 - foretold.part);
      const double solves = trial_.right_hand_sides * cycles_of_solve * foretold.cycle_seconds;
      return wanted_ && left + solves < best_ * batches_;
    });
  }

  void try_multigrid() {
    if (!(one_forecast_.iterations > multigrid_pays(one_forecast_.iteration_seconds))) return;
    if (operators().stored_vectors)
      operators().make_multigrid({});  // cheap enough to be tried
    else if (!make_setup())
      return;
    trial_.setup_seconds = operators().multigrid->seconds();
    trial_.multigrid_seconds =
        solves_ != nullptr ? try_in_earnest("multigrid") : try_on_one("multigrid", most_iterations, timed_cycles);
  }

  void try_schwarz() {
    if (!operators().schwarz || trial_.schwarz_ruled_out) return;
    if (solves_ != nullptr) {
      trial_.schwarz_seconds = try_in_earnest("schwarz");
      return;
    }
    batch_.engine->prepare("schwarz");
    const auto better = while_better(best_);
    Watch followed = watch([&](Watch& w) { return better(w) && w.ends().back() < schwarz_part * best_; });
    const auto result = sample(batch_, "schwarz", std::min(digits_, trial_digits), most_iterations, followed);
    trial_.schwarz_seconds = forecast(result.history, followed.ends(), digits_).seconds;
    consider("schwarz", trial_.schwarz_seconds);
  }

  Batch batch_, one_;  ///< all right-hand sides, and the first one alone
  std::optional<QuarkEngine> single_;
  std::optional<SpinorField<double>> column_;
  const QuarkSolver::Progress* progress_;
  ColumnSolves* solves_;
  double digits_;   ///< that the solve is to gain
  double batches_;  ///< that are going to be solved
  Trial trial_;
  bool wanted_ = true;            ///< progress has not ended the trial
  bool done_ = false;             ///< the chosen method has made its first correction
  double schwarz_iteration_ = 0;  ///< seconds of one on a column
  double batch_iteration_ = 0;    ///< seconds of one of BiCGStab on the batch
  Forecast one_forecast_;         ///< of BiCGStab on one column
  double best_ = never;           ///< seconds of the best whole solve of the batch
};

}  // namespace

Forecast forecast(std::span<const std::vector<double>> histories, std::span<const double> ends, double digits) {
  Forecast whole;
  for (const auto& history : histories) {
    if (history.size() < 2) continue;  // a column of zeros, or one that had nothing to do
    const std::size_t last = history.size() - 1;
    const auto spent = static_cast<double>(last);
    const double gain = gained(history, last), later = gain - gained(history, last / 2);
    double iterations = never;
    if (gain >= digits)
      iterations = iterations_to(history, digits);
    else if (gain >= some_digits)
      iterations = spent + (digits - gain) *
                               std::min((spent - static_cast<double>(last / 2)) / later, longest_pause * spent / gain);
    whole.iterations = std::max(whole.iterations, iterations);
  }
  std::vector<double> lengths;
  for (std::size_t i = 1; i < ends.size(); ++i) lengths.push_back(ends[i] - ends[i - 1]);
  if (lengths.empty()) lengths.assign(ends.begin(), ends.end());
  if (lengths.empty()) return {never, 0, never};
  const auto quartile = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 4);
  std::ranges::nth_element(lengths, quartile);
  whole.iteration_seconds = *quartile;
  whole.seconds = whole.iterations < never ? whole.iterations * whole.iteration_seconds : never;
  return whole;
}

std::optional<Trial> try_methods(QuarkEngine& engine, const SpinorField<double>& r, int given, int right_hand_sides,
                                 double tolerance, const QuarkSolver::Progress& progress, ColumnSolves* solves) {
  return Trials(engine, r, given, right_hand_sides, tolerance, progress, solves).run();
}

}  // namespace halocline::qcd
