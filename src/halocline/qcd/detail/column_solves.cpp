// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/detail/column_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>

namespace halocline::qcd {
namespace {

using solve::Reason;
using solve::Scalar;
using solve::Scalars;

/// What a trial asks for: two digits.
constexpr double trial_tolerance = 1e-2;
/// Iterations of a trial, at most: an iteration of Schwarz does the work of about ten others.
constexpr int trial_iterations_schwarz = 10, trial_iterations_other = 60;

void update(const SpinorSpace<double>& space, const solve::Update<SpinorField<double>>& one) {
  const std::array<solve::Update<SpinorField<double>>, 1> list{one};
  space.update_and_reduce(list, {});
}

}  // namespace

ColumnSolves::ColumnSolves(QuarkEngine& engine, const SolverParameters& parameters,
                           std::span<const std::span<const std::complex<double>>> sources, const Progress& progress)
    : engine_(&engine),
      parameters_(&parameters),
      progress_(&progress),
      b_(engine.space().create()),
      x_(engine.space().create()),
      r_(engine.space().create()),
      e_(engine.space().create()),
      columns_(static_cast<std::size_t>(engine.columns())),
      given_(sources.size()) {
  const auto& space = engine.space();
  for (std::size_t c = 0; c < given_; ++c) from_canonical<double>(b_, static_cast<int>(c), sources[c]);
  const auto sizes = norms(space, b_);
  std::vector<std::complex<double>> zero;
  Scalars factor;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto& column = columns_[c];
    column.source_norm = sizes[c];
    column.active = sizes[c] > 0 && std::isfinite(sizes[c]);
    column.residual = sizes[c] > 0 ? 1.0 : 0.0;
    if (column.active) column.source_norm = std::frexp(sizes[c], &column.exponent);
    factor.emplace_back(std::ldexp(1.0, -column.exponent));
    if (std::isfinite(sizes[c])) continue;
    column.reason = Reason::not_finite;
    column.residual = sizes[c];
    zero.resize(sources[c].size());
    from_canonical<double>(b_, static_cast<int>(c), zero);
  }
  update(space, solve::scale(b_, factor));
  space.copy(r_, b_);
}

bool ColumnSolves::any_active() const noexcept {
  return std::ranges::any_of(columns_, [](const Column& c) { return c.active; });
}

double ColumnSolves::worst() const noexcept {
  double most = 0;
  for (const Column& c : columns_)
    if (c.active) most = std::max(most, c.residual);
  return most;
}

/// e = D^-1 r in the active columns, to what is missing, or to `least_tolerance` where that is more.
solve::SolveResult ColumnSolves::correct(const std::string& method, double caution, double least_tolerance,
                                         int most_iterations, const Progress& listener) {
  Scalars keep;
  std::vector<double> tolerance;
  int spent = 0;
  for (const Column& c : columns_) {
    keep.emplace_back(c.active ? 1.0 : 0.0);
    tolerance.push_back(c.active ? std::max(least_tolerance, parameters_->tolerance / c.residual) : 1.0);
    if (c.active) spent = std::max(spent, c.iterations);
  }
  const bool some_done = std::ranges::any_of(columns_, [](const Column& c) { return !c.active && c.source_norm > 0; });
  if (some_done) update(engine_->space(), solve::scale(r_, keep));
  solve::SolveOptions limits;
  limits.max_iterations = std::max(0, std::min(most_iterations, parameters_->max_iterations - spent));
  limits.restart_length = parameters_->restart_length;
  const double from = worst();
  if (*progress_ || listener)
    limits.progress = [this, spent, from, &listener](int iteration, double residual) {
      const bool wanted = !*progress_ || (*progress_)(spent + iteration, residual * from);
      return (!listener || listener(iteration, residual)) && wanted;
    };
  return engine_->correct(method, e_, r_, tolerance, caution, limits);
}

/// x += e where that is a step forward, and r = b - D x.
void ColumnSolves::add_correction(const solve::SolveResult& result) {
  Scalars helps;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const bool good = columns_[c].active && result.reasons[c] != Reason::not_finite && result.residual[c] <= 1.0;
    helps.emplace_back(good ? 1.0 : 0.0);
    if (!columns_[c].active) continue;
    auto& column = columns_[c];
    column.iterations += result.column_iterations[c];
    for (const double residual : result.history[c]) column.history.push_back(residual * column.residual);
  }
  update(engine_->space(), solve::add(x_, helps, e_));
  take_residual();
}

void ColumnSolves::take_residual() {
  engine_->d().apply(r_, x_);
  const Scalars minus(columns_.size(), Scalar(-1.0));
  update(engine_->space(), solve::scale_add(r_, minus, {}, b_));
  const auto sizes = norms(engine_->space(), r_);
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto& column = columns_[c];
    if (!column.active) continue;
    column.residual = sizes[c] / column.source_norm;
    if (column.residual > parameters_->tolerance) continue;
    column.active = false;
    column.reason = Reason::converged;
  }
}

void ColumnSolves::run(std::span<const std::string> plan) {
  std::size_t stage = 0;
  double caution = 1.0;
  method_ = plan[stage];
  while (any_active()) {
    method_ = plan[stage];
    const auto before = columns_;
    const auto result = correct(method_, caution, 0.0, parameters_->max_iterations);
    add_correction(result);
    caution *= 0.5;
    const Column* failed = nullptr;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      auto& column = columns_[c];
      if (!column.active) continue;
      column.reason = result.reasons[c];
      if (column.iterations >= parameters_->max_iterations) {
        column.reason = Reason::iteration_limit;
        column.active = false;
      } else if (result.reasons[c] == Reason::cancelled) {
        column.active = false;
      } else if (!(column.residual < 0.5 * before[c].residual)) {
        // What the inner system calls converged, and the full operator does not see, has stagnated.
        if (column.reason == Reason::converged) column.reason = Reason::stagnation;
        if (stage + 1 == plan.size()) column.active = false;
        failed = &column;
      }
    }
    if (failed == nullptr || !any_active() || stage + 1 == plan.size()) continue;
    const bool again = plan[++stage] == method_;
    note(fmt::format("{}: {} at |b - D x|/|b| = {:.2e}, after {} iterations; {}", engine_->describe(method_),
                     solve::name(failed->reason), failed->residual, failed->iterations,
                     again ? "starting again from the true residual"
                           : fmt::format("going on with {}", engine_->describe(plan[stage]))));
    caution = 1.0;
  }
}

ColumnSolves::Attempt ColumnSolves::attempt(const std::string& method, int most_iterations, double most_seconds) {
  const auto& space = engine_->space();
  const auto& group = space.layout()->geometry().communicator();
  const auto start = std::chrono::steady_clock::now();
  const auto slowest = [&](double since) {
    std::array<double, 1> seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() -
                                  since};
    group.max(seconds);
    return seconds[0];
  };
  double warm = 0, warm_residual = 1;
  const Progress listener = [&](int iteration, double residual) {
    const double seconds = slowest(0);
    if (iteration == 1) {
      warm = seconds;
      warm_residual = residual;
    }
    return iteration < 2 || seconds - warm < most_seconds;
  };
  Attempt made;
  made.result = correct(method, 1.0, trial_tolerance, most_iterations, listener);
  made.seconds = slowest(0);
  auto left = space.create();
  engine_->d().apply(left, e_);
  const Scalars minus(columns_.size(), Scalar(-1.0));
  update(space, solve::scale_add(left, minus, {}, r_));
  const auto after = norms(space, left), before = norms(space, r_);
  double digits = std::numeric_limits<double>::max();
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (before[c] > 0) digits = std::min(digits, -std::log10(after[c] / before[c]));
  const bool steady = made.result.iterations > 1 && warm_residual > 0;
  const double rate = steady ? (digits + std::log10(warm_residual)) / (made.seconds - warm) : digits / made.seconds;
  made.rate = std::isfinite(rate) ? std::max(0.0, rate) : 0.0;
  return made;
}

std::string ColumnSolves::trial(const std::string& first, const std::string& second) {
  if (!any_active()) return first;
  engine_->prepare(first);
  engine_->prepare(second);
  const auto one = attempt(first, trial_iterations_other, std::numeric_limits<double>::infinity());
  auto kept = engine_->space().create();
  std::swap(kept, e_);
  const auto two = attempt(second, trial_iterations_schwarz, one.seconds);
  const bool second_wins = two.rate > one.rate;
  if (!second_wins) std::swap(kept, e_);
  const auto& winner = second_wins ? second : first;
  note(fmt::format("auto: {} gains {:.3g} digits a second, {} {:.3g} ({} together); {} is used", second, two.rate,
                   engine_->describe(first), one.rate,
                   given_ == 1 ? std::string("one right-hand side") : fmt::format("{} right-hand sides", given_),
                   winner));
  add_correction(second_wins ? two.result : one.result);
  method_ = winner;
  return winner;
}

std::vector<SolveReport> ColumnSolves::finish(std::span<const std::span<std::complex<double>>> solutions,
                                              double seconds) const {
  std::vector<SolveReport> reports;
  for (std::size_t c = 0; c < given_; ++c) {
    to_canonical<double>(solutions[c], x_, static_cast<int>(c));
    const auto& column = columns_[c];
    if (column.exponent != 0) {
      // Exact, and in range: the norm of the source is, and its square was.
      const double factor = std::ldexp(1.0, column.exponent);
      const auto count = static_cast<std::int64_t>(solutions[c].size());
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < count; ++i) solutions[c][static_cast<std::size_t>(i)] *= factor;
    }
    SolveReport report;
    report.converged = column.reason == Reason::converged;
    report.reason = solve::name(column.reason);
    report.method = engine_->describe(method_);
    report.iterations = column.iterations;
    report.residual = column.residual;
    report.seconds = seconds / static_cast<double>(given_);
    report.columns = static_cast<int>(given_);
    report.history = column.history;
    report.notes = notes_;
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace halocline::qcd
