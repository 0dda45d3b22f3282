// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/detail/column_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace halocline::qcd {
namespace {

using solve::Reason;
using solve::Scalar;
using solve::Scalars;

}  // namespace

ColumnSolves::ColumnSolves(BatchEngine& batch, const SolverParameters& parameters,
                           std::span<const std::span<const std::complex<double>>> sources, const Progress& progress)
    : batch_(&batch),
      parameters_(&parameters),
      progress_(&progress),
      columns_(static_cast<std::size_t>(batch.columns())),
      given_(sources.size()) {
  const auto sizes = batch.load(sources);
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
    batch.clear(static_cast<int>(c));
  }
  batch.start(factor);
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
  if (some_done) batch_->scale_residual(keep);
  solve::SolveOptions limits;
  limits.max_iterations = std::max(0, parameters_->max_iterations - spent);
  limits.restart_length = parameters_->restart_length;
  const double from = worst();
  if (*progress_)
    limits.progress = [this, spent, from](int iteration, double residual) {
      return (*progress_)(spent + iteration, residual * from);
    };
  return batch_->correct(method, tolerance, caution, limits);
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
  const auto sizes = batch_->add_correction(helps);
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
    note(fmt::format("{}: {} at |b - D x|/|b| = {:.2e}, after {} iterations; {}", batch_->describe(method_),
                     solve::name(failed->reason), failed->residual, failed->iterations,
                     again ? "starting again from the true residual"
                           : fmt::format("going on with {}", batch_->describe(plan[stage]))));
    caution = 1.0;
  }
}

std::vector<int> ColumnSolves::exponents() const {
  std::vector<int> out;
  for (std::size_t c = 0; c < given_; ++c) out.push_back(columns_[c].exponent);
  return out;
}

std::vector<SolveReport> ColumnSolves::finish(std::span<const std::span<std::complex<double>>> solutions,
                                              double seconds) const {
  for (std::size_t c = 0; c < given_; ++c) {
    batch_->unload(solutions[c], static_cast<int>(c));
    if (columns_[c].exponent == 0) continue;
    // Exact, and in range: the norm of the source is, and its square was.
    const double factor = std::ldexp(1.0, columns_[c].exponent);
    const auto count = static_cast<std::int64_t>(solutions[c].size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) solutions[c][static_cast<std::size_t>(i)] *= factor;
  }
  return reports(seconds);
}

std::vector<SolveReport> ColumnSolves::reports(double seconds) const {
  std::vector<SolveReport> reports;
  for (std::size_t c = 0; c < given_; ++c) {
    const auto& column = columns_[c];
    SolveReport report;
    report.converged = column.reason == Reason::converged;
    report.reason = solve::name(column.reason);
    report.method = batch_->describe(method_);
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
