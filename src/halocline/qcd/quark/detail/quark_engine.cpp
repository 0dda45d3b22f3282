// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/quark/detail/quark_engine.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/detail/rhs_batch.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"

namespace halocline::qcd {

namespace {

/// Throws if the set-up of multigrid and cycles for `columns` columns do not fit into the memory of this process.
void require_memory(const lattice::Geometry4& geometry, const multigrid::Parameters& p, int columns) {
  const double unit = 1e9;
  std::array<double, 1> room{static_cast<double>(usable_memory(geometry.communicator()))};
  geometry.communicator().min(room);
  const auto needs = [&](int vectors, int together) {
    multigrid::Parameters other = p;
    other.vectors = vectors;
    // The links are kept for one more round of the set-up.
    return static_cast<double>(multigrid::Setup::predicted_bytes(geometry, other, together) +
                               4 * link_reals * 8 * geometry.local_volume());
  };
  if (needs(p.vectors, columns) <= room[0]) return;
  throw core::InvalidArgument(
      fmt::format("multigrid with {} vectors and {} right-hand sides together needs {:.3g} GB on a process, which has "
                  "{:.3g} GB; with 8 vectors and one right-hand side at a time it needs {:.3g} GB; give these, or more "
                  "processes",
                  p.vectors, columns, needs(p.vectors, columns) / unit, room[0] / unit, needs(8, 1) / unit));
}

SchurForm schur_form(const SolverParameters& p, const Action& action) {
  if (p.schur == "auto") return points(action) > 1 ? SchurForm::asymmetric : SchurForm::symmetric;
  return p.schur == "symmetric" ? SchurForm::symmetric : SchurForm::asymmetric;
}

}  // namespace

QuarkOperators::QuarkOperators(const GaugeField& gauge, const Action& action_given,
                               const SolverParameters& parameters_given, int columns,
                               std::optional<multigrid::StoredVectors> vectors, std::shared_ptr<const LowModes> modes,
                               std::optional<multigrid::Setup> made)
    : action(action_given),
      parameters(parameters_given),
      low_modes(std::move(modes)),
      stored_vectors(std::move(vectors)) {
  const auto setup = dirac_setup(gauge, action, parameters.lanes, parameters.transport);
  precise = setup->in_double(setup->points());
  const bool mixed = parameters.precision != "double";
  if (mixed && parameters.kind != "schwarz") coarse = setup->in_float(setup->points());
  if (setup->points() > 1 || is_staggered(action)) return;  // no other methods
  if (parameters.right_hand_sides > 0) parameters.multigrid.right_hand_sides = parameters.right_hand_sides;
  if (is_deflated(parameters.kind) && !low_modes)
    low_modes =
        std::make_shared<const LowModes>(qcd::low_modes(gauge, action, parameters.deflation, parameters.multigrid));
  if (low_modes && coarse && (is_deflated(parameters.kind) || parameters.kind == "auto"))
    deflation = low_mode_deflation(*coarse, parameters.even_odd, schur_form(parameters, action), *low_modes);
  const double mu = twisted_mass(action);
  const std::string reason =
      mu == 0 ? ""
              : fmt::format("the Schwarz preconditioner knows Wilson and Wilson-clover quarks only, and mu is {}", mu);
  if (parameters.kind == "schwarz") {
    if (!reason.empty())
      throw core::InvalidArgument(reason + R"(; give the solver "auto", "multigrid", "bicgstab", "cg" or "gcr")");
    schwarz.emplace(gauge, wilson_part(action), parameters.schwarz, columns);
    return;
  }
  if (parameters.kind == "multigrid") {
    require_memory(gauge.geometry(), parameters.multigrid, columns);
    if (made) {
      take_multigrid(std::move(*made), gauge);
    } else {
      links = gauge;
      make_multigrid({});
    }
    return;
  }
  if (!mixed || parameters.kind != "auto" || parameters.choice == "bicgstab" || is_deflated(parameters.choice)) return;
  refusal = reason;
  // Every rank has a box of the same shape, so every rank gets the same refusals.
  const bool several = gauge.geometry().communicator().size() > 1;
  if (mu == 0 && (parameters.choice.empty() ? several : parameters.choice == "schwarz")) {
    try {
      schwarz.emplace(gauge, wilson_part(action), parameters.schwarz, columns);
    } catch (const core::InvalidArgument& error) {
      refusal = error.what();
    }
  }
  if (parameters.choice == "schwarz") return;
  try {
    require_memory(gauge.geometry(), parameters.multigrid, columns);
  } catch (const core::InvalidArgument& error) {
    multigrid_refusal = error.what();
    return;
  }
  if (made)
    take_multigrid(std::move(*made), gauge);
  else
    links = gauge;
}

bool QuarkOperators::make_multigrid(const multigrid::Setup::Progress& progress) {
  if (multigrid) return true;
  if (stored_vectors)
    multigrid.emplace(*links, action, parameters.multigrid, *stored_vectors, parameters.transport);
  else
    multigrid = multigrid::Setup::attempt(*links, action, parameters.multigrid, parameters.transport, progress);
  if (!multigrid) return false;
  links_of_setup = std::move(links);
  links.reset();
  stored_vectors.reset();
  ++setup_version;
  return true;
}

bool QuarkOperators::renew_multigrid() {
  if (!multigrid || !links_of_setup) return false;
  const GaugeField gauge = std::move(*links_of_setup);
  links_of_setup.reset();
  multigrid = multigrid->another_round(gauge, action);
  ++setup_version;
  return true;
}

QuarkEngine::QuarkEngine(QuarkOperators& operators, int columns)
    : operators_(&operators),
      d_(operators.precise->with_columns(columns * operators.precise->points())),
      space_(d_->layout(), lattice::Subset::full, d_->columns(), d_->points(), d_->components()) {}
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
    operators_->make_multigrid({});
    if (!multigrid_ || setup_version_ != operators_->setup_version) {
      multigrid_.reset();
      multigrid_ = std::make_unique<multigrid::MultigridSolver>(*d_, *operators_->multigrid, columns());
      setup_version_ = operators_->setup_version;
    }
    return;
  }
  const SchurForm form = schur_form(parameters, operators_->action);
  if (!precise_) precise_.emplace(operators_->precise->with_columns(d_->columns()), parameters.even_odd, form);
  if (!coarse_ && operators_->coarse)
    coarse_.emplace(operators_->coarse->with_columns(d_->columns()), parameters.even_odd, form);
}

BatchEngine::Renewal QuarkEngine::renew(const std::string& method) {
  if (method != "multigrid" || !operators_->multigrid || !operators_->links_of_setup) return {};
  try {
    operators_->renew_multigrid();
  } catch (const core::Error& error) {
    if (comm::gave_up_waiting()) throw;
    return {false, fmt::format("one more round of inverse iteration failed ({})", error.what())};
  }
  return {true, fmt::format("starting again after one more round of inverse iteration, which took {:.3g} s",
                            operators_->multigrid->seconds())};
}

void QuarkEngine::keep_only(const std::string& method) {
  if (method != "schwarz") schwarz_.reset();
  if (method != "multigrid") multigrid_.reset();
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
    const auto& made = operators_->multigrid;
    const auto& size = made ? made->aggregate() : parameters.multigrid.aggregate;
    const auto levels = made ? fmt::format("{} levels, ", made->levels()) : "";
    return fmt::format("multigrid ({}{} vectors, aggregates of {}x{}x{}x{}), fgmres, mixed precision", levels,
                       made ? made->parameters().vectors : parameters.multigrid.vectors, size[0], size[1], size[2],
                       size[3]);
  }
  if (is_deflated(method))
    return fmt::format("{}{} ({} vectors), mixed precision", parameters.even_odd ? "even-odd " : "", method,
                       operators_->deflation ? static_cast<int>(operators_->deflation->size())
                                             : parameters.deflation.vectors);
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
  if (is_deflated(method))
    return solve_level(
        *precise_, space_, e, r, options,
        [&](SpinorField<double>& x, const SpinorField<double>& b, const solve::SolveOptions& own) {
          return solve_deflated(method, precise_->space(), precise_->a(), x, b, coarse_->space(), coarse_->a(),
                                *operators_->deflation, own);
        },
        [] {});
  return solve_on(*precise_, coarse_ ? &*coarse_ : nullptr, method, space_, e, r, options, [] {});
}

}  // namespace halocline::qcd
