// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark_solver.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/detail/krylov.hpp"
#include "halocline/qcd/gauge_field.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/spinor_space.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"

namespace halocline::qcd {
namespace {

constexpr std::array kinds{"auto", "bicgstab", "cg", "gcr", "fgmres"};
constexpr std::array precisions{"mixed", "double"};
constexpr std::array schur_forms{"symmetric", "asymmetric"};

template <std::size_t n>
void require_one_of(const char* what, const std::string& given, const std::array<const char*, n>& known) {
  if (std::ranges::find(known, given) == known.end())
    throw core::InvalidArgument(fmt::format("{} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
}

/// The operator in one precision, as the Krylov methods see it: D on full fields, or its Schur complement.
template <class T>
struct Level {
  explicit Level(const DiracSetup& setup, const SolverParameters& parameters)
      : d(setup),
        schur(d, parameters.schur == "symmetric" ? SchurForm::symmetric : SchurForm::asymmetric),
        even_odd(parameters.even_odd),
        space(d.layout(), even_odd ? schur.subset() : lattice::Subset::full) {}
  // schur refers to d
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  SpinorOperator<T> krylov_operator() {
    if (even_odd) return SpinorOperator<T>::of(schur);
    return SpinorOperator<T>::of(d);
  }

  WilsonClover<T> d;
  Schur<T> schur;
  bool even_odd;
  SpinorSpace<T> space;
};

double norm(const SpinorSpace<double>& space, const SpinorField<double>& v) {
  std::array<solve::Scalar, 1> sum;
  space.dot(sum, v, v);
  return std::sqrt(sum[0].real());
}

}  // namespace

void SolverParameters::validate() const {
  require_one_of("the solver", kind, kinds);
  require_one_of("the solver's precision", precision, precisions);
  require_one_of("the Schur complement's form", schur, schur_forms);
  if (!(tolerance > 0) || !(tolerance < 1))
    throw core::InvalidArgument(
        fmt::format("the solver's tolerance is {}; give a number between 0 and 1, such as 1e-10", tolerance));
  if (max_iterations < 1)
    throw core::InvalidArgument(fmt::format("max_iterations is {}; give at least 1", max_iterations));
  if (restart_length < 1)
    throw core::InvalidArgument(fmt::format("restart_length is {}; give at least 1", restart_length));
}

struct QuarkSolver::Implementation {
  Implementation(const GaugeField& gauge, const ActionParameters& a, const SolverParameters& p)
      : action(a), parameters(p) {
    parameters.validate();
    const DiracSetup setup(gauge, action, parameters.lanes, parameters.transport);
    precise.emplace(setup, parameters);
    if (parameters.precision != "double") coarse.emplace(setup, parameters);
  }

  /// A x = b for the Krylov operator, from x = 0.
  solve::SolveResult krylov(const std::string& kind, SpinorField<double>& x, const SpinorField<double>& b,
                            const solve::SolveOptions& options) {
    SpinorOperator<double> a = precise->krylov_operator();
    if (parameters.precision == "double") return solve_by(kind, precise->space, a, x, b, options);
    SpinorOperator<float> inner = coarse->krylov_operator();
    return solve_mixed(kind, precise->space, a, x, b, coarse->space, inner, options);
  }

  ActionParameters action;
  SolverParameters parameters;
  std::optional<Level<double>> precise;
  std::optional<Level<float>> coarse;
};

QuarkSolver::QuarkSolver(const GaugeField& gauge, const ActionParameters& action, const SolverParameters& parameters)
    : implementation_(std::make_unique<Implementation>(gauge, action, parameters)) {}
QuarkSolver::~QuarkSolver() = default;
QuarkSolver::QuarkSolver(QuarkSolver&&) noexcept = default;
QuarkSolver& QuarkSolver::operator=(QuarkSolver&&) noexcept = default;

const ActionParameters& QuarkSolver::action() const noexcept { return implementation_->action; }
const SolverParameters& QuarkSolver::parameters() const noexcept { return implementation_->parameters; }
std::array<std::int64_t, 4> QuarkSolver::tile() const noexcept { return implementation_->precise->d.layout()->tile(); }

SolveReport QuarkSolver::solve(std::span<std::complex<double>> solution, std::span<const std::complex<double>> source,
                               const Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  auto& self = *implementation_;
  auto& level = *self.precise;
  const SpinorSpace<double> full(level.d.layout(), lattice::Subset::full);
  auto b = full.create(), x = full.create(), r = full.create(), correction = full.create();
  from_canonical(b, source);
  const double b_norm = norm(full, b);

  SolveReport report;
  std::string kind = self.parameters.kind == "auto" ? "bicgstab" : self.parameters.kind;
  auto rhs = level.space.create(), half = level.space.create();
  const double target = self.parameters.tolerance;
  full.copy(r, b);
  double residual = b_norm > 0 ? 1.0 : 0.0;
  report.reason = solve::name(solve::Reason::converged);
  if (!std::isfinite(b_norm)) {
    report.reason = solve::name(solve::Reason::not_finite);
    residual = b_norm;
  }
  // Corrections D e = r until the residual of the full operator is there: one, and sometimes a second, because the
  // residual of the Schur complement is not quite that of D.
  double safety = 0.7;
  while (std::isfinite(residual) && residual > target) {
    if (level.even_odd)
      level.schur.prepare(rhs, r);
    else
      full.copy(rhs, r);
    const double rhs_norm = norm(level.space, rhs);
    const double scale = level.even_odd && level.schur.form() == SchurForm::symmetric ? level.d.diagonal() : 1.0;
    solve::SolveOptions options;
    options.tolerance = rhs_norm > 0 ? std::min(0.1, safety * target * b_norm / (scale * rhs_norm)) : 0.1;
    options.max_iterations = self.parameters.max_iterations - report.iterations;
    options.restart_length = self.parameters.restart_length;
    if (progress)
      options.progress = [&](int iteration, double recursive) {
        return progress(report.iterations + iteration, recursive * rhs_norm * scale / b_norm);
      };
    const solve::SolveResult result = self.krylov(kind, half, rhs, options);
    report.iterations += result.iterations;
    report.history.insert(report.history.end(), result.history[0].begin(), result.history[0].end());
    if (level.even_odd)
      level.schur.reconstruct(correction, half, r);
    else
      full.copy(correction, half);
    const std::array<solve::Update<SpinorField<double>>, 1> add{solve::add(x, {}, correction)};
    full.update_and_reduce(add, {});
    level.d.apply(r, x);
    const std::array<solve::Scalar, 1> minus{-1.0};
    const std::array<solve::Update<SpinorField<double>>, 1> subtract{solve::scale_add(r, minus, {}, b)};
    full.update_and_reduce(subtract, {});
    const double before = std::exchange(residual, norm(full, r) / b_norm);
    report.reason = solve::name(result.reason);
    if (residual <= target) {
      report.reason = solve::name(solve::Reason::converged);
    } else if (report.iterations >= self.parameters.max_iterations) {
      report.reason = solve::name(solve::Reason::iteration_limit);
      break;
    } else if (result.reason == solve::Reason::cancelled || result.reason == solve::Reason::not_finite) {
      break;
    } else if (!(residual < 0.5 * before)) {
      if (self.parameters.kind != "auto" || kind == "cg") {
        if (result.converged()) report.reason = solve::name(solve::Reason::stagnation);
        break;
      }
      kind = "cg";
    }
    safety *= 0.5;
  }
  to_canonical(solution, x);
  report.residual = residual;
  report.converged = report.reason == solve::name(solve::Reason::converged);
  report.method = fmt::format("{}{}, {} precision", level.even_odd ? "even-odd " : "", kind, self.parameters.precision);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

void QuarkSolver::apply(std::span<std::complex<double>> out, std::span<const std::complex<double>> in, bool dagger) {
  auto& d = implementation_->precise->d;
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
