// SPDX-License-Identifier: Apache-2.0
#include "bench/dslash.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/schwarz_cost.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/schwarz/schwarz.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"

namespace halocline::bench {
namespace {

using qcd::SpinorField;

/// An operator with fields of its own; the counts are for one application on this process.
struct Operator {
  Work work;
  double flops, bytes;
  Extents tile;
};

Operator counted(Work work, const Cost& cost, double number_bytes, const DslashCase& c, const Extents& tile) {
  return {std::move(work), c.columns * cost.flops, number_bytes * cost.reals(c.columns), tile};
}

bool is_one_of(const std::string& form, std::initializer_list<std::string_view> names) {
  return std::ranges::find(names, form) != names.end();
}

qcd::WilsonCloverAction action_of(const std::string& form) {
  qcd::WilsonCloverAction action;
  action.mass = 0.1;
  action.csw = is_one_of(form, {"hopping", "wilson"}) ? 0.0 : 1.0;
  return action;
}

/// The forms on fields of two parities.
template <class T>
struct Tiled {
  Tiled(const qcd::GaugeField& gauge, const DslashCase& c)
      : setup(gauge, action_of(c.form)), d(setup, c.columns, c.link_reals), schur(d) {
    const auto subset = c.form == "schur" ? schur.subset() : lattice::Subset::full;
    in = qcd::spinor_field<T>(d.layout(), subset, c.columns);
    out = qcd::spinor_field<T>(d.layout(), subset, c.columns);
    fill(in.span());
  }
  Tiled(const Tiled&) = delete;
  Tiled& operator=(const Tiled&) = delete;

  void apply(const std::string& form) {
    if (form == "hopping") return d.hopping().apply(out.parity(0), in.parity(1), 0, false);
    if (form == "schur") return schur.apply(out, in);
    if (form == "clover-inverse") {
      for (const int parity : {0, 1}) d.multiply_inverse_diagonal(out, in, parity);
      return;
    }
    d.apply(out, in);
  }

  qcd::WilsonSetup setup;
  qcd::WilsonClover<T> d;
  qcd::Schur<T> schur;
  SpinorField<T> in, out;
};

template <class T>
Operator tiled(const qcd::GaugeField& gauge, const DslashCase& c) {
  const auto op = std::make_shared<Tiled<T>>(gauge, c);
  double sites = static_cast<double>(gauge.geometry().local_volume());
  if (is_one_of(c.form, {"hopping", "schur"})) sites /= 2;
  const Cost cost = c.form == "hopping"          ? hopping_cost(c.link_reals)
                    : c.form == "schur"          ? schur_cost(true, c.link_reals)
                    : c.form == "clover-inverse" ? clover_cost
                                                 : wilson_cost(c.form == "clover", c.link_reals);
  return counted([op, form = c.form] { op->apply(form); }, cost * sites, sizeof(T), c, op->d.layout()->tile());
}

/// D_in on the domains of both colours.
Operator inside(const qcd::GaugeField& gauge, const DslashCase& c) {
  struct Inside {
    qcd::schwarz::Schwarz schwarz;
    qcd::schwarz::Schwarz::Field in, out;
  };
  auto parameters = qcd::schwarz::Parameters::fugaku();
  parameters.link_reals = c.link_reals;
  qcd::schwarz::Schwarz schwarz(gauge, action_of(c.form), parameters, c.columns);
  auto in = schwarz.create(), out = schwarz.create();
  fill(in.span());
  const auto op = std::make_shared<Inside>(Inside{std::move(schwarz), std::move(in), std::move(out)});
  const auto& layout = *op->schwarz.layout();
  const Work work = [op] {
    for (const int colour : {0, 1}) op->schwarz.apply_inside(op->out, op->in, colour);
  };
  return counted(work, inside_cost({c.local, layout.blocks()}, c.link_reals), sizeof(float), c, layout.tile());
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
  if (!is_one_of(c.form, {"hopping", "wilson", "clover", "schur", "clover-inverse", "inside"}))
    throw core::InvalidArgument(
        fmt::format("the form is \"{}\"; give hopping, wilson, clover, schur, clover-inverse or inside", c.form));
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
