// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/detail/quark_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/detail/krylov.hpp"
#include "halocline/qcd/gauge_field.hpp"

namespace halocline::qcd {

std::vector<double> norms(const SpinorSpace<double>& space, const SpinorField<double>& v) {
  const std::array<solve::Dot<SpinorField<double>>, 1> dots{{{&v, &v}}};
  const auto pending = space.update_and_reduce({}, dots);
  std::vector<double> out;
  for (const solve::Scalar& sum : pending.wait()) out.push_back(std::sqrt(sum.real()));
  return out;
}

QuarkOperators::QuarkOperators(const GaugeField& links, const ActionParameters& action_given,
                               const SolverParameters& parameters_given, int columns)
    : action(action_given), parameters(parameters_given) {
  const DiracSetup setup(links, action, parameters.lanes, parameters.transport);
  precise = std::make_unique<WilsonClover<double>>(setup);
  const bool mixed = parameters.precision != "double";
  if (mixed && parameters.kind != "schwarz") coarse = std::make_unique<WilsonClover<float>>(setup);
  if (parameters.kind == "schwarz") schwarz.emplace(links, action, parameters.schwarz, columns);
  if (mixed && parameters.kind == "auto" && parameters.choice != "bicgstab") try {
      schwarz.emplace(links, action, parameters.schwarz, columns);
    } catch (const core::InvalidArgument& error) {
      // The box is the same on every rank, and so is this.
      refusal = error.what();
    }
}

/// The operator in one precision, as the Krylov methods see it: D on full fields, or its Schur complement.
template <class T>
struct QuarkEngine::Level {
  Level(const WilsonClover<T>& one_column, const SolverParameters& parameters, int columns)
      : d(one_column, columns),
        even_odd(parameters.even_odd),
        schur(d, parameters.schur == "symmetric" ? SchurForm::symmetric : SchurForm::asymmetric),
        space(d.layout(), even_odd ? schur.subset() : lattice::Subset::full, columns) {}
  // schur refers to d
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

  SpinorOperator<T> krylov_operator() {
    if (even_odd) return SpinorOperator<T>::of(schur);
    return SpinorOperator<T>::of(d);
  }

  WilsonClover<T> d;
  bool even_odd;
  Schur<T> schur;
  SpinorSpace<T> space;
};

QuarkEngine::QuarkEngine(const QuarkOperators& operators, int columns)
    : operators_(&operators), d_(*operators.precise, columns), space_(d_.layout(), lattice::Subset::full, columns) {}
QuarkEngine::~QuarkEngine() = default;

void QuarkEngine::prepare(const std::string& method) {
  const auto& parameters = operators_->parameters;
  if (method == "schwarz") {
    if (!schwarz_)
      schwarz_ = std::make_unique<schwarz::SchwarzSolver>(d_, *operators_->schwarz, parameters.outer, columns(),
                                                          parameters.transport);
    return;
  }
  if (!precise_) precise_ = std::make_unique<Level<double>>(*operators_->precise, parameters, columns());
  if (!coarse_ && operators_->coarse)
    coarse_ = std::make_unique<Level<float>>(*operators_->coarse, parameters, columns());
}

std::string QuarkEngine::describe(const std::string& method) const {
  const auto& parameters = operators_->parameters;
  if (method == "schwarz") {
    const auto& k = parameters.schwarz;
    const bool half = k.storage == "half" && operators_->schwarz;
    const auto storage = half ? fmt::format("half computed in {}", operators_->schwarz->arithmetic()) : k.storage;
    return fmt::format("schwarz (nsap = {}, {} x {}, {}), bicgstab in {}, mixed precision", k.nsap, k.steps, k.inner,
                       storage, parameters.outer);
  }
  return fmt::format("{}{}, {} precision", parameters.even_odd ? "even-odd " : "", method,
                     operators_->coarse ? "mixed" : "double");
}

solve::SolveResult QuarkEngine::correct(const std::string& method, SpinorField<double>& e, const SpinorField<double>& r,
                                        std::span<const double> tolerance, double caution,
                                        const solve::SolveOptions& limits) {
  prepare(method);
  solve::SolveOptions options = limits;
  options.column_tolerance.clear();
  for (const double wanted : tolerance) options.column_tolerance.push_back(std::min(0.5, wanted * caution));
  if (method == "schwarz") return schwarz_->solve(e, r, options);
  return krylov(method, e, r, options);
}

solve::SolveResult QuarkEngine::krylov(const std::string& method, SpinorField<double>& e, const SpinorField<double>& r,
                                       solve::SolveOptions options) {
  auto& level = *precise_;
  auto rhs = level.space.create(), half = level.space.create();
  double scale = 1.0;
  if (level.even_odd) {
    level.schur.prepare(rhs, r);
    if (level.schur.form() == SchurForm::symmetric) scale = level.d.diagonal();
    // The residual of the Schur complement against that of D: a number near one, which nobody knows beforehand.
    const auto full = norms(space_, r), reduced = norms(level.space, rhs);
    constexpr double safety = 0.7;
    double longest = 0;
    for (std::size_t c = 0; c < full.size(); ++c) {
      const double ratio = reduced[c] > 0 ? full[c] / (scale * reduced[c]) : 1.0;
      options.column_tolerance[c] = std::min(0.1, safety * ratio * options.column_tolerance[c]);
      if (full[c] > 0) longest = std::max(longest, 1.0 / ratio);
    }
    if (options.progress)
      options.progress = [progress = options.progress, longest](int iteration, double residual) {
        return progress(iteration, residual * longest);
      };
  } else {
    space_.copy(rhs, r);
  }
  SpinorOperator<double> a = level.krylov_operator();
  solve::SolveResult result;
  if (coarse_) {
    SpinorOperator<float> inner = coarse_->krylov_operator();
    result = solve_mixed(method, level.space, a, half, rhs, coarse_->space, inner, options);
  } else {
    result = solve_by(method, level.space, a, half, rhs, options);
  }
  if (level.even_odd)
    level.schur.reconstruct(e, half, r);
  else
    space_.copy(e, half);
  return result;
}

}  // namespace halocline::qcd
