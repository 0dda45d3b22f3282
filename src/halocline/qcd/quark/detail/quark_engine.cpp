// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/quark_engine.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"

namespace halocline::qcd {

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
              : fmt::format("the {} knows Wilson and Wilson-clover quarks only, and mu is {}",
                            parameters.kind == "multigrid" ? "multigrid solver" : "Schwarz preconditioner", mu);
  if (parameters.kind == "schwarz" || parameters.kind == "multigrid") {
    if (!reason.empty())
      throw core::InvalidArgument(reason + R"(; give the solver "auto", "bicgstab", "cg", "gcr" or "fgmres")");
    if (parameters.kind == "schwarz")
      schwarz.emplace(links, wilson_part(action), parameters.schwarz, columns);
    else
      multigrid.emplace(links, wilson_part(action), parameters.multigrid, parameters.transport);
  }
  if (!mixed || parameters.kind != "auto" || parameters.choice == "bicgstab") return;
  if (!reason.empty()) {
    refusal = reason;
    return;
  }
  try {
    schwarz.emplace(links, wilson_part(action), parameters.schwarz, columns);
  } catch (const core::InvalidArgument& error) {
    // Every rank has a box of the same shape, so every rank gets this error.
    refusal = error.what();
  }
}

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
  if (method == "multigrid") {
    if (!multigrid_) multigrid_ = std::make_unique<multigrid::MultigridSolver>(*d_, *operators_->multigrid, columns());
    return;
  }
  const SchurForm form = parameters.schur == "symmetric" ? SchurForm::symmetric : SchurForm::asymmetric;
  if (!precise_) precise_.emplace(operators_->precise->with_columns(columns()), parameters.even_odd, form);
  if (!coarse_ && operators_->coarse)
    coarse_.emplace(operators_->coarse->with_columns(columns()), parameters.even_odd, form);
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
  if (method == "multigrid") {
    const auto& size = operators_->multigrid->aggregate();
    return fmt::format("multigrid ({} vectors, aggregates of {}x{}x{}x{}), fgmres, mixed precision",
                       operators_->multigrid->parameters().vectors, size[0], size[1], size[2], size[3]);
  }
  return fmt::format("{}{}, {} precision", parameters.even_odd ? "even-odd " : "", method,
                     operators_->coarse ? "mixed" : "double");
}

solve::SolveResult QuarkEngine::correct(const std::string& method, SpinorField<double>& e, const SpinorField<double>& r,
                                        std::span<const double> tolerance, double caution,
                                        const solve::SolveOptions& limits) {
  prepare(method);
  const auto options = with_tolerances(limits, tolerance, caution);
  if (method == "schwarz") return schwarz_->solve(e, r, options);
  if (method == "multigrid") return multigrid_->solve(e, r, options);
  return solve_on(*precise_, coarse_ ? &*coarse_ : nullptr, method, space_, e, r, options, [] {});
}

}  // namespace halocline::qcd
