// SPDX-License-Identifier: Apache-2.0
#include "bench/dslash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/actions.hpp"
#include "bench/schwarz_cost.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/quark/dirac_setup.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"

namespace halocline::bench {
namespace {

using qcd::SpinorField;

/// An operator with fields of its own; the counts are for one application on this process.
struct Operator {
  Work work;
  double flops, bytes;
  Extents tile;
};

bool is_one_of(const std::string& form, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, form) != names.end();
}

/// Columns of a field.
int field_columns(const DslashCase& c) { return c.columns * columns_of_one(c.action, c.ls); }

/// Forms that need no clover term have none, so that no time is spent on it.
qcd::Action action_of(const DslashCase& c) {
  return action_of(ActionWords{.name = c.action,
                               .mass = has_walls(c.action) ? 0.01 : 0.1,
                               .csw = is_one_of(c.form, {"hopping", "wilson"}) ? 0.0 : 1.0,
                               .ls = c.ls});
}

template <class T>
std::unique_ptr<qcd::DiracOperator<T>> operator_of(const qcd::DiracSetup& setup, const DslashCase& c) {
  if constexpr (sizeof(T) == 4)
    return setup.in_float(field_columns(c), c.link_reals);
  else
    return setup.in_double(field_columns(c), c.link_reals);
}

/// The forms on fields of two parities.
template <class T>
struct Tiled {
  Tiled(const qcd::GaugeField& gauge, const DslashCase& c)
      : setup(qcd::dirac_setup(gauge, action_of(c))),
        d(operator_of<T>(*setup, c)),
        schur(*d, c.form == "schur-asymmetric" ? qcd::SchurForm::asymmetric : qcd::SchurForm::symmetric),
        halves(is_one_of(c.form, {"schur", "schur-asymmetric"})) {
    const auto subset = halves ? schur.subset() : lattice::Subset::full;
    in = d->field(subset);
    out = d->field(subset);
    fill(in.span());
  }
  Tiled(const Tiled&) = delete;
  Tiled& operator=(const Tiled&) = delete;

  void apply(const std::string& form) {
    if (form == "hopping") return d->hop(out, in, 0, false, {});
    if (halves) return schur.apply(out, in);
    if (form == "clover-inverse") {
      for (const int parity : {0, 1}) d->multiply_inverse_diagonal(out, in, parity);
      return;
    }
    d->apply(out, in);
  }

  std::unique_ptr<qcd::DiracSetup> setup;
  std::unique_ptr<qcd::DiracOperator<T>> d;
  qcd::Schur<T> schur;
  bool halves;
  SpinorField<T> in, out;
};

template <class T>
Operator tiled(const qcd::GaugeField& gauge, const DslashCase& c) {
  const auto op = std::make_shared<Tiled<T>>(gauge, c);
  double sites = static_cast<double>(gauge.geometry().local_volume());
  if (op->halves || c.form == "hopping") sites /= 2;
  const Cost cost = action_cost(*op->d, action_of(c), c.form, c.link_reals) * sites;
  const int columns = field_columns(c);
  return {[op, form = c.form] { op->apply(form); }, columns * cost.flops, sizeof(T) * cost.reals(columns),
          op->d->layout()->tile()};
}

void check(const DslashCase& c) {
  if (!is_one_of(c.form, {"hopping", "wilson", "clover", "schur", "schur-asymmetric", "clover-inverse", "inside"}))
    throw core::InvalidArgument(fmt::format(
        "the form is \"{}\"; give hopping, wilson, clover, schur, schur-asymmetric, clover-inverse or inside", c.form));
  if ((has_walls(c.action) || c.action == "doublet") && is_one_of(c.form, {"clover", "clover-inverse", "inside"}))
    throw core::InvalidArgument(
        fmt::format("the action {} has no form {}; give hopping, wilson, schur or schur-asymmetric", c.action, c.form));
  if (is_staggered(c.action) && !is_one_of(c.form, {"hopping", "wilson", "schur"}))
    throw core::InvalidArgument(
        fmt::format("the action {} has no form {}; give hopping, wilson or schur", c.action, c.form));
  if (is_staggered(c.action) && c.link_reals != 18)
    throw core::InvalidArgument(
        fmt::format("links of {} reals were asked for; the fat links of the action {} are not unitary, give 18",
                    c.link_reals, c.action));
  if (c.action == "twisted" && c.form == "inside")
    throw core::InvalidArgument("the form inside is of the action wilson; give another form for twisted");
}

/// D_in on the domains of both colours.
Operator inside(const qcd::GaugeField& gauge, const DslashCase& c) {
  struct Inside {
    qcd::schwarz::Schwarz schwarz;
    qcd::schwarz::Schwarz::Field in, out;
  };
  auto parameters = qcd::schwarz::Parameters::fugaku();
  parameters.link_reals = c.link_reals;
  qcd::schwarz::Schwarz schwarz(gauge, qcd::wilson_part(action_of(c)), parameters, c.columns);
  auto in = schwarz.create(), out = schwarz.create();
  fill(in.span());
  const auto op = std::make_shared<Inside>(Inside{std::move(schwarz), std::move(in), std::move(out)});
  const auto& layout = *op->schwarz.layout();
  const Work work = [op] {
    for (const int colour : {0, 1}) op->schwarz.apply_inside(op->out, op->in, colour);
  };
  const Cost cost = inside_cost({c.local, layout.blocks()}, c.link_reals);
  return {work, c.columns * cost.flops, sizeof(float) * cost.reals(c.columns), layout.tile()};
}

template <class T>
Result run(const comm::Communicator& group, const DslashCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  const auto geometry = geometry_of(group, c.local);
  const qcd::GaugeField gauge = qcd::gauge::random_links(geometry, 1);
  const Operator op = c.form == "inside" ? inside(gauge, c) : tiled<T>(gauge, c);

  Result result;
  result.bench = "dslash";
  const auto& grid = geometry->grid().dims();
  result.parameters = {{"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", c.precision},
                       {"form", c.form},
                       {"link_reals", std::int64_t(c.link_reals)},
                       {"columns", std::int64_t(c.columns)},
                       {"action", c.action},
                       {"ls", std::int64_t(has_walls(c.action) ? c.ls : 1)},
                       {"grid", std::vector<std::int64_t>(grid.begin(), grid.end())},
                       {"tile", to_vector(op.tile)}};
  result.flops = op.flops * group.size();
  result.bytes = op.bytes * group.size();
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(op.bytes), effort);

  const auto times = measure_together(group, op.work, FmaChains<T>{}, effort);
  result.seconds = times.work;
  const double fma_flops = 1e-9 * FmaChains<T>::flops(c.threads) * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.regions = regions_of(op.work);
  return result;
}

}  // namespace

Result dslash(const comm::Communicator& group, const DslashCase& c, const Effort& effort) {
  action_of(c);  // refuses unknown names
  check(c);
  if (c.link_reals != 18 && c.link_reals != 12)
    throw core::InvalidArgument(fmt::format("links of {} reals were asked for; give 18 or 12", c.link_reals));
  if (c.columns < 1) throw core::InvalidArgument(fmt::format("{} columns were asked for; give at least 1", c.columns));
  if (c.form == "inside" && c.precision == "double")
    throw core::InvalidArgument("the operator inside the domains exists in single precision; give float");
  if (c.precision == "float") return run<float>(group, c, effort);
  if (c.precision == "double") return run<double>(group, c, effort);
  throw core::InvalidArgument(fmt::format("the precision is \"{}\"; give float or double", c.precision));
}

}  // namespace halocline::bench
