// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/column_solves.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

namespace halocline::qcd {
namespace {

using solve::Reason;
using solve::Scalar;
using solve::Scalars;

using Source = std::span<const std::complex<double>>;

/// A source whose largest number lies between these has a square far inside the range of double. It is loaded as it is.
constexpr double small = 0x1p-400, large = 0x1p400;
/// If the largest number lies outside these (1e-289 and 1e289), double might not hold the solution in full precision.
constexpr double least = 0x1p-960, most = 0x1p960;

/// The largest |re| or |im| of each source over all processes; infinity for a source that is not finite.
std::vector<double> largest_numbers(const comm::Communicator& group, std::span<const Source> sources) {
  std::vector<double> largest;
  for (const Source& source : sources) {
    const auto count = static_cast<std::int64_t>(source.size());
    double here = 0;
    bool finite = true;
#pragma omp parallel for schedule(static) reduction(max : here) reduction(&& : finite)
    for (std::int64_t i = 0; i < count; ++i) {
      const auto& number = source[static_cast<std::size_t>(i)];
      const double a = std::abs(number.real()), b = std::abs(number.imag());
      finite = finite && std::isfinite(a) && std::isfinite(b);
      here = std::max({here, a, b});
    }
    largest.push_back(finite ? here : std::numeric_limits<double>::infinity());
  }
  group.max(largest);
  return largest;
}

/// A call of multigrid ends after this many cycles, two of its restarts. Where they do not gain `least_gain`, ten
/// digits would take hundreds of cycles, each as long as several iterations of other methods.
constexpr int most_cycles = 40;
constexpr double least_gain = 0.1;
/// |D x| / |x| below which D is called nearly singular; typical ones are between 0.1 and 8.
constexpr double nearly_singular = 1e-3;

std::vector<std::complex<double>> scaled(Source source, double factor) {
  std::vector<std::complex<double>> out(source.begin(), source.end());
  for (auto& number : out) number *= factor;
  return out;
}

}  // namespace

ColumnSolves::ColumnSolves(BatchEngine& batch, const comm::Communicator& group, const SolverParameters& parameters,
                           std::span<const std::span<const std::complex<double>>> sources, const Progress& progress)
    : batch_(&batch),
      parameters_(&parameters),
      progress_(&progress),
      columns_(static_cast<std::size_t>(batch.columns())),
      given_(sources.size()) {
  const auto largest = largest_numbers(group, sources);
  std::vector<Source> loaded(sources.begin(), sources.end());
  std::vector<std::vector<std::complex<double>>> copies;  // of the few sources that need another scale
  std::vector<int> before(columns_.size(), 0);            // exponents divided out before the norm is taken
  for (std::size_t c = 0; c < given_; ++c) {
    const bool ordinary = largest[c] == 0 || (largest[c] >= small && largest[c] <= large);
    if (ordinary || largest[c] < least || largest[c] > most) continue;
    std::frexp(largest[c], &before[c]);
    loaded[c] = copies.emplace_back(scaled(sources[c], std::ldexp(1.0, -before[c])));
  }
  const auto sizes = batch.load(loaded);
  Scalars factor;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    auto& column = columns_[c];
    int exponent = 0;
    const double size = c < given_ && largest[c] > 0 ? largest[c] : 0.0;
    column.active = size >= least && size <= most;
    column.residual = column.active ? 1.0 : 0.0;
    if (column.active) {
      column.source_norm = std::frexp(sizes[c], &exponent);
      column.exponent = before[c] + exponent;
    } else if (std::isinf(size)) {
      give_up(c, std::numeric_limits<double>::quiet_NaN(), "the source holds NaN or infinite numbers");
    } else if (size > 0) {
      give_up(c, 1.0,
              "the numbers of the source are below 1e-289 or above 1e289, where double does not hold its solution; "
              "scale it");
    } else if (c < given_) {
      column.remark = "the source is zero, and so is the solution";
    }
    factor.emplace_back(std::ldexp(1.0, -exponent));
  }
  batch.start(factor);
}

void ColumnSolves::give_up(std::size_t column, double residual, const char* remark) {
  columns_[column].reason = Reason::not_finite;
  columns_[column].residual = residual;
  columns_[column].remark = remark;
  batch_->clear(static_cast<int>(column));
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

solve::SolveResult ColumnSolves::begin(const std::string& method, const Progress& watch) {
  begun_.reset();
  auto result = correct(method, 1.0, watch);
  if (std::ranges::find(result.reasons, Reason::cancelled) == result.reasons.end()) begun_ = {method, result};
  return result;
}

/// e = D^-1 r in the active columns, each to the factor that its residual still lacks.
solve::SolveResult ColumnSolves::correct(const std::string& method, double caution, const Progress& watch) {
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
  if (method == "multigrid") limits.max_iterations = std::min(limits.max_iterations, most_cycles);
  limits.restart_length = parameters_->restart_length;
  const double from = worst();
  if (*progress_ || watch)
    limits.progress = [this, spent, from, &watch](int iteration, double residual) {
      const bool wanted = !*progress_ || (*progress_)(spent + iteration, residual * from);
      return wanted && (!watch || watch(iteration, residual));
    };
  return batch_->correct(method, tolerance, caution, limits);
}

/// x += e in the columns where e lowers the residual, then r = b - D x in all.
void ColumnSolves::add_correction(const solve::SolveResult& result) {
  Scalars helps;
  replacements_ += result.replacements;
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
  bool given_up = false;
  while (any_active()) {
    const auto before = columns_;
    for (Column& column : columns_)
      if (column.active) column.method = batch_->describe(method_);
    const bool made = begun_ && begun_->method == method_;
    const auto result = made ? std::move(begun_->result) : correct(method_, caution);
    begun_.reset();
    add_correction(result);
    caution *= 0.5;
    const Column* failed = nullptr;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      auto& column = columns_[c];
      if (!column.active) continue;
      column.reason = result.reasons[c];
      const bool cut = method_ == "multigrid" && column.reason == Reason::iteration_limit;
      const double wanted = cut ? least_gain : 0.5;
      if (column.iterations >= parameters_->max_iterations) {
        column.reason = Reason::iteration_limit;
        column.active = false;
      } else if (result.reasons[c] == Reason::cancelled) {
        column.active = false;
      } else if (!(column.residual < wanted * before[c].residual)) {
        // The residual of the full operator fell too little, whatever the inner system says: this is stagnation.
        if (cut || column.reason == Reason::converged) column.reason = Reason::stagnation;
        if (stage + 1 == plan.size()) column.active = false;
        failed = &column;
      }
      given_up = given_up || (!column.active && column.reason != Reason::cancelled);
    }
    if (failed == nullptr || !any_active() || stage + 1 == plan.size()) continue;
    go_on(plan, stage, *failed);
    caution = 1.0;
  }
  if (given_up) note_low_mode();
}

void ColumnSolves::go_on(std::span<const std::string> plan, std::size_t& stage, const Column& failed) {
  std::string next;
  if (plan[++stage] == renewal) {
    const auto renewed = batch_->renew(method_);
    next = renewed.text;
    if (!renewed.done) ++stage;
  }
  if (plan[stage] == method_) {
    next = "starting again from the true residual";
  } else if (plan[stage] != renewal) {
    if (!next.empty()) next += "; ";
    next += fmt::format("going on with {}", batch_->describe(plan[stage]));
  }
  note({SolveNote::Kind::failure,
        fmt::format("{}: {} at |b - D x|/|b| = {:.2e}, after {} iterations; {}", batch_->describe(method_),
                    solve::name(failed.reason), failed.residual, failed.iterations, next)});
  if (plan[stage] != renewal) method_ = plan[stage];
}

void ColumnSolves::note_low_mode() {
  double least = nearly_singular;
  const auto quotients = batch_->shrinking();
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c].reason != Reason::converged && quotients[c] > 0) least = std::min(least, quotients[c]);
  if (!(least < nearly_singular)) return;
  note({SolveNote::Kind::failure,
        fmt::format(
            "D is nearly singular: |D x| / |x| = {:.1e} for some x, so gamma5 D has an eigenvalue between -{:.1e} and "
            "{:.1e}; the quark mass is at or beyond the critical one for these links; use a larger mass",
            least, least, least)});
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
    // Exact: the factor is a power of two, and sources near the ends of the range of double are refused.
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
    report.method = column.method.empty() ? batch_->describe(method_) : column.method;
    report.iterations = column.iterations;
    report.reliable_updates = replacements_;
    report.residual = column.residual;
    report.seconds = seconds / static_cast<double>(given_);
    report.columns = static_cast<int>(given_);
    report.history = column.history;
    report.notes = notes_;
    if (!column.remark.empty()) report.notes.push_back({SolveNote::Kind::source, column.remark});
    reports.push_back(std::move(report));
  }
  return reports;
}

}  // namespace halocline::qcd
