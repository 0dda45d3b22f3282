// SPDX-License-Identifier: Apache-2.0
#include "bench/reorder.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cstring>
#include <functional>
#include <memory>

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

template <class Real>
Reordering spinors(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  struct Both {
    qcd::SpinorField<Real> psi;
    core::AlignedArray<Real> array;
  };
  auto how = order::spinor_order(c.order);
  if (!c.basis.empty()) how.basis = &order::basis(c.basis);
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
  const auto one_of = [](const char* what, const std::string& given, const char* first, const char* second) {
    if (given != first && given != second)
      throw core::InvalidArgument(fmt::format("the {} is \"{}\"; give {} or {}", what, given, first, second));
  };
  one_of("field", c.field, "gauge", "spinor");
  one_of("direction", c.direction, "load", "store");
  one_of("precision", c.precision, "float", "double");
}

template <class Real>
Reordering reordering_of(const std::shared_ptr<const lattice::Geometry4>& geometry, const ReorderCase& c) {
  return c.field == "gauge" ? links<Real>(geometry, c) : spinors<Real>(geometry, c);
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
