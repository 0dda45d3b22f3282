// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/quark_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/detail/krylov.hpp"
#include "halocline/qcd/quark/detail/krylov_methods.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"

namespace halocline::qcd {

std::vector<double> norms(const SpinorSpace<double>& space, const SpinorField<double>& v) {
  const std::array<solve::Dot<SpinorField<double>>, 1> dots{{{&v, &v}}};
  const auto pending = space.update_and_reduce({}, dots);
  std::vector<double> out;
  for (const solve::Scalar& sum : pending.wait()) out.push_back(std::sqrt(sum.real()));
  return out;
}

QuarkOperators::QuarkOperators(const GaugeField& links, const Action& action_given,
                               const SolverParameters& parameters_given, int columns)
    : action(action_given), parameters(parameters_given) {
  const auto setup = dirac_setup(links, action, parameters.lanes, parameters.transport);
  precise = setup->in_double();
  const bool mixed = parameters.precision != "double";
  if (mixed && parameters.kind != "schwarz") coarse = setup->in_float();
  const double mu = twisted_mass(action);
  const std::string reason =
      mu == 0 ? ""
              : fmt::format("the Schwarz preconditioner knows Wilson and Wilson-clover quarks only, and mu is {}", mu);
  if (parameters.kind == "schwarz") {
    if (!reason.empty())
      throw core::InvalidArgument(reason + R"(; give the solver "auto", "bicgstab", "cg", "gcr" or "fgmres")");
    schwarz.emplace(links, wilson_part(action), parameters.schwarz, columns);
  }
  if (!mixed || parameters.kind != "auto" || parameters.choice == "bicgstab") return;
  if (!reason.empty()) {
    refusal = reason;
    return;
  }
  try {
    schwarz.emplace(links, wilson_part(action), parameters.schwarz, columns);
  } catch (const core::InvalidArgument& error) {
    // The box is the same on every rank, and so is this.
    refusal = error.what();
  }
}

/// The operator in one precision, as the Krylov methods see it: D on full fields, or its Schur complement.
template <class T>
struct QuarkEngine::Level {
  Level(const DiracOperator<T>& one_column, const SolverParameters& parameters, int columns)
      : d(one_column.with_columns(columns)),
        even_odd(parameters.even_odd),
        schur(*d, parameters.schur == "symmetric" ? SchurForm::symmetric : SchurForm::asymmetric),
        space(d->layout(), even_odd ? schur.subset() : lattice::Subset::full, columns) {}

  SpinorOperator<T> krylov_operator() {
    if (even_odd) return SpinorOperator<T>::of(schur);
    return SpinorOperator<T>::of(*d);
  }

  std::unique_ptr<DiracOperator<T>> d;
  bool even_odd;
  Schur<T> schur;
  SpinorSpace<T> space;
};

QuarkEngine::QuarkEngine(const QuarkOperators& operators, int columns)
    : operators_(&operators),
      d_(operators.precise->with_columns(columns)),
      space_(d_->layout(), lattice::Subset::full, columns) {}
QuarkEngine::~QuarkEngine() = default;

void QuarkEngine::prepare(const std::string& method) {
  const auto& parameters = operators_->parameters;
  if (method == "schwarz") {
    if (!schwarz_)
      schwarz_ = std::make_unique<schwarz::SchwarzSolver>(*d_, *operators_->schwarz, parameters.outer, columns(),
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
  SpinorOperator<double> a = level.krylov_operator();
  const auto run = [&](SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& limits) {
    if (!coarse_) return solve_by(method, level.space, a, x, b, limits);
    SpinorOperator<float> inner = coarse_->krylov_operator();
    return solve_mixed(method, level.space, a, x, b, coarse_->space, inner, limits);
  };
  if (!level.even_odd) {
    space_.copy(rhs, r);
    const auto result = run(half, rhs, options);
    space_.copy(e, half);
    return result;
  }
  const double scale = level.schur.form() == SchurForm::symmetric ? level.d->diagonal() : 1.0;
  return detail::solve_even_odd(
      level.schur, scale, e, r, rhs, half, norms(space_, r),
      [&](const SpinorField<double>& reduced) { return norms(level.space, reduced); }, std::move(options), run);
}

}  // namespace halocline::qcd
