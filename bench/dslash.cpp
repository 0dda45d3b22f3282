// SPDX-License-Identifier: Apache-2.0
#include "bench/dslash.hpp"

#include <fmt/format.h>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/gauge/start.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/wilson/wilson_clover.hpp"

namespace halocline::bench {
namespace {

using qcd::SpinorField;

/// The operator of a case with the fields it goes between; `cost` is that of one of its `sites` on this process.
template <class T>
struct Operator {
  Operator(const qcd::GaugeField& gauge, const std::string& form)
      : setup(gauge, action_of(form)), d(setup), schur(d), sites(gauge.geometry().local_volume()) {
    const bool one_parity = form == "hopping" || form == "schur";
    const auto subset = form == "schur" ? schur.subset() : lattice::Subset::full;
    in = qcd::spinor_field<T>(d.layout(), subset);
    out = qcd::spinor_field<T>(d.layout(), subset);
    fill(in.span());
    if (one_parity) sites /= 2;
    if (form == "hopping") {
      cost = hopping_cost();
      work = [this] { d.hopping().apply(out.parity(0), in.parity(1), 0, false); };
    } else if (form == "schur") {
      cost = schur_cost(true);
      work = [this] { schur.apply(out, in); };
    } else {
      cost = wilson_cost(form == "clover");
      work = [this] { d.apply(out, in); };
    }
  }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  static qcd::ActionParameters action_of(const std::string& form) {
    qcd::ActionParameters action;
    action.mass = 0.1;
    action.csw = form == "clover" || form == "schur" ? 1.0 : 0.0;
    return action;
  }

  qcd::DiracSetup setup;
  qcd::WilsonClover<T> d;
  qcd::Schur<T> schur;
  SpinorField<T> in, out;
  std::int64_t sites;
  Cost cost{};
  Work work;
};

template <class T>
Result run(const comm::Communicator& group, const DslashCase& c, const Effort& effort) {
  const Threads threads(c.threads);
  const auto geometry = geometry_of(group, c.local);
  const qcd::GaugeField gauge = qcd::gauge::random_links(geometry, 1);
  Operator<T> op(gauge, c.form);

  Result result;
  result.bench = "dslash";
  const auto& tile = op.d.layout()->tile();
  const auto& grid = geometry->grid().dims();
  result.parameters = {{"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", c.precision},
                       {"form", c.form},
                       {"grid", std::vector<std::int64_t>(grid.begin(), grid.end())},
                       {"tile", to_vector(tile)}};
  const double sites = static_cast<double>(op.sites);
  result.flops = op.cost.flops * sites * group.size();
  result.bytes = op.cost.reals * sizeof(T) * sites * group.size();
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(op.cost.reals * sizeof(T) * sites), effort);

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
  if (c.form != "hopping" && c.form != "wilson" && c.form != "clover" && c.form != "schur")
    throw core::InvalidArgument(fmt::format("the form is \"{}\"; give hopping, wilson, clover or schur", c.form));
  if (c.precision == "float") return run<float>(group, c, effort);
  if (c.precision == "double") return run<double>(group, c, effort);
  throw core::InvalidArgument(fmt::format("the precision is \"{}\"; give float or double", c.precision));
}

}  // namespace halocline::bench
