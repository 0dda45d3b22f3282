// SPDX-License-Identifier: Apache-2.0
#include "bench/coarse.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

#include "bench/fields.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/multigrid/coarse_schur.hpp"

namespace halocline::bench {
namespace {

using namespace qcd::multigrid;

/// Random blocks, in which the diagonal of S outweighs the rest: they are as regular as those of a coarse level.
template <class S>
std::shared_ptr<const CoarseBlocks<S>> random_blocks(const std::shared_ptr<const lattice::Geometry4>& geometry,
                                                     int rows) {
  auto blocks = std::make_shared<CoarseBlocks<S>>(geometry, rows);
  std::vector<float> numbers(65521);
  fill(std::span(numbers));
  const float size = 1.f / static_cast<float>(rows);
  std::size_t next = 0;
  const auto number = [&] { return size * numbers[++next % numbers.size()]; };
  for (std::int64_t site = 0; site < geometry->local_volume(); ++site)
    for (int which = 0; which < CoarseBlocks<S>::matrices; ++which)
      for (int column = 0; column < rows; ++column)
        for (int row = 0; row < rows; ++row) {
          const float re = number() + (which == 0 && row == column ? 4.f : 0.f);
          blocks->set(site, which, row, column, {re, number()});
        }
  return blocks;
}

/// One application of a form to fields that the returned function owns.
template <class S>
Work application(const std::shared_ptr<const lattice::Geometry4>& geometry, const CoarseCase& c) {
  const int rows = 2 * c.vectors;
  const auto blocks = random_blocks<S>(geometry, rows);
  if (c.form == "schur") {
    const auto inverse = std::make_shared<const InverseBlocks<S>>(*blocks);
    const auto op = std::make_shared<CoarseSchur<S>>(blocks, inverse, c.columns);
    const auto in = std::make_shared<CoarseField>(op->space().create()), out = std::make_shared<CoarseField>(*in);
    fill(in->span());
    return [=] { op->apply(*out, *in); };
  }
  const auto op = std::make_shared<CoarseOperator<S>>(blocks, c.columns);
  const auto in = std::make_shared<CoarseField>(geometry->local_volume(), rows, c.columns);
  const auto out = std::make_shared<CoarseField>(*in);
  fill(in->span());
  return [=] { op->apply(*out, *in); };
}

}  // namespace

Result coarse(const comm::Communicator& group, const CoarseCase& c, const Effort& effort) {
  if (c.form != "operator" && c.form != "schur")
    throw core::InvalidArgument(fmt::format("the form is \"{}\"; give operator or schur", c.form));
  if (c.storage != "half" && c.storage != "float")
    throw core::InvalidArgument(fmt::format("the storage is \"{}\"; give half or float", c.storage));
  if (c.columns < 1) throw core::InvalidArgument(fmt::format("{} columns were asked for; give at least 1", c.columns));
  const Threads threads(c.threads);
  const auto geometry = geometry_of(group, c.local);
  const Work work = c.storage == "half" ? application<core::Half>(geometry, c) : application<float>(geometry, c);

  Result result;
  result.bench = "coarse";
  const auto& grid = geometry->grid().dims();
  result.parameters = {{"local", to_vector(c.local)},
                       {"processes", std::int64_t(group.size())},
                       {"threads", std::int64_t(c.threads)},
                       {"precision", std::string("float")},
                       {"storage", c.storage},
                       {"form", c.form},
                       {"vectors", std::int64_t(c.vectors)},
                       {"columns", std::int64_t(c.columns)},
                       {"grid", std::vector<std::int64_t>(grid.begin(), grid.end())}};
  const bool schur = c.form == "schur";
  const auto sites = static_cast<double>(geometry->local_volume());
  const double entries = 4.0 * c.vectors * c.vectors, number = c.storage == "half" ? 2 : 4;
  // The source and the result, of the even sites alone for the Schur complement.
  const double fields = (schur ? 1 : 2) * c.columns * 2.0 * c.vectors * 2 * sizeof(float);
  const double bytes = sites * ((schur ? 9 : 5) * entries * 2 * number + fields);
  result.flops = sites * 9 * 8 * entries * c.columns * group.size();
  result.bytes = bytes * group.size();
  result.ceilings = bandwidth_ceilings(group, static_cast<std::int64_t>(bytes), effort);
  const auto times = measure_together(group, work, FmaChains<float>{}, effort);
  result.seconds = times.work;
  const double fma_flops = 1e-9 * FmaChains<float>::flops(c.threads) * group.size();
  result.ceilings.fma_gflops = fma_flops / times.companion.median;
  result.fma_gflops_of_cpu_time = fma_flops / times.companion.cpu;
  result.regions = regions_of(work);
  return result;
}

}  // namespace halocline::bench
