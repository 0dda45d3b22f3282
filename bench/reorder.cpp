// SPDX-License-Identifier: Apache-2.0
#include "bench/reorder.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "bench/fields.hpp"
#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/qcd/order/convert.hpp"

namespace halocline::bench {
namespace {

namespace order = qcd::order;

/// What is done, and how many bytes it reads and writes.
struct Reordering {
  Work work;
  std::int64_t bytes = 0;
};

template <class Real>
Reordering links(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  struct Both {
    qcd::GaugeField u;
    core::AlignedArray<Real> array;
  };
  const auto how = order::gauge_order(c.order);
  order::check(how, *geometry, sizeof(Real));
  const std::int64_t numbers = order::gauge_reals * geometry->local_volume();
  const auto both = std::make_shared<Both>(Both{qcd::GaugeField(geometry), core::AlignedArray<Real>(numbers)});
  fill(both->array.span());
  const Work load = [both, how] {
    order::load_local<Real>(both->u, order::direction_origins<const Real>(both->array.data(), how, both->u.geometry()),
                            how);
  };
  const Work store = [both, how] {
    order::store_local<Real>(order::direction_origins<Real>(both->array.data(), how, both->u.geometry()), both->u, how);
  };
  load();
  return {c.direction == "load" ? load : store, numbers * static_cast<std::int64_t>(sizeof(Real) + sizeof(double))};
}

order::SpinorOrder spinor_order_of(const ReorderCase& c) {
  auto how = order::spinor_order(c.order);
  if (!c.basis.empty()) how.basis = &order::basis(c.basis);
  return how;
}

template <class Real>
Reordering spinors(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  struct Both {
    qcd::SpinorField<Real> psi;
    core::AlignedArray<Real> array;
  };
  const auto how = spinor_order_of(c);
  order::check(how.sites, *geometry, sizeof(Real));
  const auto whole = lattice::TileLayout::best(geometry);
  const auto layout = lattice::TileLayout::split(whole, core::native_lanes<Real>);
  const std::int64_t numbers = qcd::spinor_reals * geometry->local_volume();
  const auto both = std::make_shared<Both>(
      Both{qcd::spinor_field<Real>(layout, lattice::Subset::full), core::AlignedArray<Real>(numbers)});
  fill(both->array.span());
  const Work load = [both, how] {
    order::load<Real, Real>(both->psi, 0, std::span<const Real>(both->array.span()), how);
  };
  const Work store = [both, how] { order::store<Real, Real>(both->array.span(), both->psi, 0, how); };
  load();
  return {c.direction == "load" ? load : store, 2 * numbers * static_cast<std::int64_t>(sizeof(Real))};
}

/// Spinors in canonical arrays, as Python has them.
template <class Real>
Reordering canonical_spinors(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  struct Both {
    core::AlignedArray<std::complex<double>> canonical;
    core::AlignedArray<Real> array;
  };
  const auto how = spinor_order_of(c);
  order::check(how.sites, *geometry, sizeof(Real));
  const std::int64_t numbers = qcd::spinor_reals * geometry->local_volume();
  const auto both = std::make_shared<Both>(
      Both{core::AlignedArray<std::complex<double>>(numbers / 2), core::AlignedArray<Real>(numbers)});
  fill(both->array.span());
  const Work load = [both, how, geometry] {
    order::load<Real>(both->canonical.span(), std::span<const Real>(both->array.span()), how, *geometry);
  };
  const Work store = [both, how, geometry] {
    order::store<Real>(both->array.span(), std::span<const std::complex<double>>(both->canonical.span()), how,
                       *geometry);
  };
  load();
  return {c.direction == "load" ? load : store, numbers * static_cast<std::int64_t>(sizeof(Real) + sizeof(double))};
}

template <class Real>
Reordering propagators(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  struct Both {
    qcd::measure::Propagator s;
    core::AlignedArray<Real> array;
  };
  auto how = order::propagator_order(c.order);
  if (!c.basis.empty()) how.basis = &order::basis(c.basis);
  order::check(how.sites, *geometry, sizeof(Real));
  const std::int64_t numbers = order::propagator_reals * geometry->local_volume();
  const auto both = std::make_shared<Both>(Both{qcd::measure::Propagator(geometry), core::AlignedArray<Real>(numbers)});
  fill(both->array.span());
  const Work load = [both, how] { order::load<Real>(both->s, std::span<const Real>(both->array.span()), how); };
  const Work store = [both, how] { order::store<Real>(both->array.span(), both->s, how); };
  load();
  return {c.direction == "load" ? load : store, numbers * static_cast<std::int64_t>(sizeof(Real) + sizeof(double))};
}

/// memcpy of `bytes` bytes, each thread a part of whole cache lines.
Work copy_of(std::int64_t bytes) {
  struct Arrays {
    core::AlignedArray<char> from, to;
  };
  const auto arrays =
      std::make_shared<Arrays>(Arrays{core::AlignedArray<char>(bytes), core::AlignedArray<char>(bytes)});
  return [arrays, bytes] {
#pragma omp parallel
    {
      const std::int64_t lines = bytes / 64, threads = omp_get_num_threads(), me = omp_get_thread_num();
      const std::int64_t begin = lines * me / threads * 64, end = lines * (me + 1) / threads * 64;
      std::memcpy(arrays->to.data() + begin, arrays->from.data() + begin, static_cast<std::size_t>(end - begin));
    }
  };
}

void check(const ReorderCase& c) {
  const auto one_of = [](const char* what, const std::string& given, const std::vector<std::string>& known) {
    if (std::ranges::find(known, given) == known.end())
      throw core::InvalidArgument(fmt::format("the {} is \"{}\"; give one of {}", what, given, fmt::join(known, ", ")));
  };
  one_of("field", c.field, {"gauge", "spinor", "canonical", "propagator"});
  one_of("direction", c.direction, {"load", "store"});
  one_of("precision", c.precision, {"float", "double"});
}

template <class Real>
Reordering reordering_of(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  if (c.field == "gauge") return links<Real>(geometry, c);
  if (c.field == "spinor") return spinors<Real>(geometry, c);
  return c.field == "canonical" ? canonical_spinors<Real>(geometry, c) : propagators<Real>(geometry, c);
}

}  // namespace

Result reorder(const comm::Communicator& group, const ReorderCase& c, const Effort& effort) {
  check(c);
  const Threads threads(c.threads);
  const auto geometry = geometry_of(group, c.local);
  const Reordering reordering =
      c.precision == "float" ? reordering_of<float>(geometry, c) : reordering_of<double>(geometry, c);
  Result result;
  result.bench = "reorder";
  result.parameters = {{"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"order", c.order},
                       {"field", c.field},
                       {"direction", c.direction},
                       {"precision", c.precision},
                       {"basis", c.basis}};
  result.bytes = static_cast<double>(reordering.bytes) * group.size();
  const auto times = measure_together(group, reordering.work, copy_of(reordering.bytes / 2), effort);
  result.seconds = times.work;
  result.ceilings = no_ceilings();
  result.regions = regions_of(reordering.work);
  result.outcome = {{"copy_gbytes_per_s", 1e-9 * result.bytes / times.companion.median},
                    {"fraction_of_copy", times.companion.median / times.work.median},
                    {"fraction_of_copy_by_cpu", times.companion.cpu / times.work.cpu}};
  return result;
}

}  // namespace halocline::bench
