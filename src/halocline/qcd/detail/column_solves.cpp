// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/detail/column_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace halocline::qcd {
namespace {

using solve::Reason;
using solve::Scalar;
using solve::Scalars;

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

/// e = D^-1 r in the active columns, to what is missing.
solve::SolveResult ColumnSolves::correct(const std::string& method, double caution) {
  Scalars keep;
  std::vector<double> tolerance;
  int spent = 0;
  for (const Column& c : columns_) {
    keep.emplace_back(c.active ? 1.0 : 0.0);
    tolerance.push_back(c.active ? parameters_->tolerance / c.residual : 1.0);
    if (c.active) spent = std::max(spent, c.iterations);
  }
  const bool some_done = std::ranges::any_of(columns_, [](const Column& c) { return !c.active && c.source_norm > 0; });
  if (some_done) update(engine_->space(), solve::scale(r_, keep));
  solve::SolveOptions limits;
  limits.max_iterations = std::max(0, parameters_->max_iterations - spent);
  limits.restart_length = parameters_->restart_length;
  const double from = worst();
  if (*progress_)
    limits.progress = [this, spent, from](int iteration, double residual) {
      return (*progress_)(spent + iteration, residual * from);
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
    const auto result = correct(method_, caution);
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
