// SPDX-License-Identifier: Apache-2.0
/// @file
/// The rules by which columns pause, restart and finish; see monitor.hpp.

#include "halocline/solve/detail/monitor.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "halocline/core/error.hpp"
#include "halocline/solve/recursion.hpp"

namespace halocline::solve::detail {

namespace {
// The recursion aims slightly below the tolerance, so that its drift rarely costs a restart.
constexpr double aim = 0.95;

void check(bool good, const char* what, double given, const char* expected) {
  if (!good) {
    throw core::InvalidArgument(std::string("solve: ") + what + " = " + std::to_string(given) + " given, " + expected +
                                " expected");
  }
}
}  // namespace

Monitor::Monitor(const SolveOptions& options, std::span<const double> source_norms2, std::span<const int> spent)
    : options_(options), columns_(source_norms2.size()) {
  check(options.tolerance > 0.0, "tolerance", options.tolerance, "a positive number");
  check(options.max_iterations >= 0, "max_iterations", options.max_iterations, "zero or more");
  check(options.restart_length >= 1, "restart_length", options.restart_length, "at least 1");
  check(options.stagnation_window >= 1, "stagnation_window", options.stagnation_window, "at least 1");
  check(options.replacement >= 0.0 && options.replacement < 1.0, "replacement", options.replacement,
        "0 (never) or a factor below 1");
  check(options.replacement_interval >= 1, "replacement_interval", options.replacement_interval, "at least 1");
  const auto& own = options.column_tolerance;
  check(own.empty() || own.size() == columns_.size(), "the number of column_tolerance", static_cast<double>(own.size()),
        "none or one a column");
  for (const double tolerance : own) check(tolerance > 0.0, "column_tolerance", tolerance, "a positive number");
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    columns_[c].source2 = source_norms2[c];
    columns_[c].tolerance = own.empty() ? options.tolerance : own[c];
    const double limit = aim * columns_[c].tolerance;
    ColumnTrack& track = columns_[c].track;
    track.goal2 = limit * limit * source_norms2[c];
    track.replacement2 = options.replacement * options.replacement;
    track.interval = options.replacement_interval;
    track.window = options.stagnation_window;
    track.most_iterations = options.max_iterations;
    if (!spent.empty()) track.iterations = spent[c];
    if (!std::isfinite(source_norms2[c])) {
      columns_[c].residual = std::nan("");
      finish(columns_[c], Reason::not_finite);
    } else if (source_norms2[c] == 0.0) {
      finish(columns_[c], Reason::converged);
    }
  }
}

void Monitor::finish(Column& column, Reason reason) noexcept {
  column.finished = true;
  column.track.active = false;
  column.reason = reason;
}

void Monitor::judge(Column& column, double true_norm2) {
  const double previous_best = column.best_residual;
  column.residual = std::sqrt(true_norm2 / column.source2);
  if (first_cycle_) {
    column.history.push_back(column.residual);
    column.best_residual = column.residual;
  } else {
    column.best_residual = std::min(column.best_residual, column.residual);
  }
  const bool has_cause = column.track.has_cause;
  const Reason cause = column.track.cause;
  column.track.begin_cycle(true_norm2);

  if (!std::isfinite(column.residual)) return finish(column, Reason::not_finite);
  if (column.residual <= column.tolerance) return finish(column, Reason::converged);
  if (has_cause && (cause == Reason::not_finite || cause == Reason::cancelled)) return finish(column, cause);
  if (column.track.iterations >= options_.max_iterations) return finish(column, Reason::iteration_limit);
  if (first_cycle_) return;

  const double wanted = has_cause && cause == Reason::converged ? 0.5 : 0.999;
  if (column.residual <= wanted * previous_best) {
    column.failures = 0;
    return;
  }
  ++column.failures;
  if (has_cause && cause == Reason::breakdown) return finish(column, Reason::breakdown);
  if (column.failures >= 2) finish(column, Reason::stagnation);
}

bool Monitor::begin_cycle(std::span<const double> true_norms2) {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!columns_[c].finished) judge(columns_[c], true_norms2[c]);
  }
  first_cycle_ = false;
  return running();
}

bool Monitor::running() const noexcept {
  return std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.track.active; });
}

bool Monitor::nears_a_stop() const noexcept {
  return std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.track.nears_a_stop(); });
}

void Monitor::pause(std::size_t column, Reason cause) noexcept { columns_[column].track.pause(cause); }

bool Monitor::small_enough(std::size_t column, double norm2) const noexcept {
  return columns_[column].track.small_enough(norm2);
}

void Monitor::step(std::span<const Scalar> norms2) {
  double worst2 = 0.0;
  int most = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (!column.track.active) continue;
    const double norm2 = norms2[c].real();
    column.track.record(norm2);
    column.history.push_back(std::sqrt(std::max(norm2, 0.0) / column.source2));
    worst2 = std::max(worst2, norm2 / column.source2);
    most = std::max(most, column.track.iterations);
  }
  if (most > 0 && options_.progress && !options_.progress(most, std::sqrt(worst2))) cancel();
}

void Monitor::cancel() noexcept {
  for (Column& column : columns_) {
    if (column.finished) continue;
    column.track.active = false;
    column.track.has_cause = true;
    column.track.cause = Reason::cancelled;
  }
}

void Monitor::correct(const SolveResult& inner, std::span<const double> true_norms2) {
  double worst2 = 0.0;
  int most = 0;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    Column& column = columns_[c];
    if (!column.track.active) continue;
    // An inner solve that ends before its first iteration still counts as one.
    column.track.iterations += std::max(1, inner.column_iterations[c]);
    column.history.push_back(std::sqrt(true_norms2[c] / column.source2));
    worst2 = std::max(worst2, true_norms2[c] / column.source2);
    most = std::max(most, column.track.iterations);
    const Reason reason = inner.reasons[c];
    if (reason == Reason::breakdown || reason == Reason::not_finite || reason == Reason::cancelled) pause(c, reason);
  }
  if (most > 0 && options_.progress && !options_.progress(most, std::sqrt(worst2))) cancel();
}

Scalar Monitor::quotient(std::size_t column, Scalar numerator, Scalar denominator, double floor) noexcept {
  return scalar(solve::quotient(columns_[column].track, number(numerator), number(denominator), floor));
}

bool Monitor::wants_replacement() const noexcept {
  return std::any_of(columns_.begin(), columns_.end(), [](const Column& c) { return c.track.wants_replacement(); });
}

Scalars Monitor::replacement_mask() const {
  Scalars mask(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) mask[c] = columns_[c].track.wants_replacement() ? 1.0 : 0.0;
  return mask;
}

void Monitor::replaced(std::span<const Scalar> mask, std::span<const double> norms2) noexcept {
  ++replacements_;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (mask[c] == 0.0) continue;
    columns_[c].track.current2 = columns_[c].track.highest2 = norms2[c];
    if (!std::isfinite(norms2[c])) pause(c, Reason::not_finite);
  }
}

SolveResult Monitor::result(const Timings& timings) const {
  SolveResult result;
  result.timings = timings;
  result.replacements = replacements_;
  result.timings.total = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  for (const Column& column : columns_) {
    if (result.reason == Reason::converged) result.reason = column.reason;
    result.iterations = std::max(result.iterations, column.track.iterations);
    result.residual.push_back(column.residual);
    result.reasons.push_back(column.reason);
    result.column_iterations.push_back(column.track.iterations);
    result.history.push_back(column.history);
  }
  return result;
}

}  // namespace halocline::solve::detail
