// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/hierarchy.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "halocline/core/region.hpp"
#include "halocline/qcd/multigrid/coarse_eigenvectors.hpp"
#include "halocline/qcd/multigrid/detail/coarse_galerkin.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// More coarse sites than these on all processes get another level, if the number of levels is not set. With 4^4 sites
/// a third level halves the time of a solve at a light mass.
constexpr std::int64_t most_coarsest_sites = 128;
/// A matrix of at most this many rows is inverted: 0.3 s at 30 Gflop/s, and 8 MiB.
constexpr std::int64_t most_dense_rows = 1024;
/// Of eigenvectors for deflation, on residuals over |D_c|. 1e-3 gave the same iterations, 3e-2 twice as many.
constexpr double eigenvector_tolerance = 1e-2;

/// As lattice::Aggregates::nearest, but a size below twice the wanted one is taken first where it leaves an even number
/// of aggregates: without parities the next lattice has twice the unknowns, and a dense inverse is out of reach sooner.
/// Six sites along an axis are so coarsened to two instead of three; on 24^4 that made set-up and solves twice as fast.
/// An axis of three sites is coarsened, too.
lattice::Coordinates<4> aggregate_of(const lattice::Geometry4& level, const lattice::Coordinates<4>& wanted) {
  auto size = lattice::Aggregates::nearest(level, wanted);
  for (int axis = 0; axis < 4; ++axis) {
    const auto even = [&](std::int64_t d) { return level.global()[axis] / d % 2 == 0; };
    for (std::int64_t d = 2; d <= 2 * wanted[axis] - 1; ++d) {
      if (level.local()[axis] % d != 0) continue;
      const bool nearer = std::abs(d - wanted[axis]) < std::abs(size[axis] - wanted[axis]);
      if (size[axis] == 1 || (even(d) && (!even(size[axis]) || nearer))) size[axis] = d;
    }
  }
  return size;
}

/// Rows of the system of a coarsest level.
template <class S>
std::int64_t system_rows(const lattice::Geometry4& level, int rows) {
  return level.global_volume() * rows / (CoarseSchur<S>::possible(level) ? 2 : 1);
}

/// The test vectors that the transfer to the next level takes.
CoarseField first_columns(const CoarseField& vectors, int count) {
  CoarseField out(vectors.sites(), vectors.rows(), count);
  for (std::int64_t site = 0; site < vectors.sites(); ++site)
    std::copy_n(vectors.at(site, 0), std::int64_t{count} * 2 * vectors.rows(), out.at(site, 0));
  return out;
}

/// Test vectors cut to either chirality, on the even sites or on all.
CoarseField deflation_directions(const CoarseField& vectors, const lattice::Geometry4& level, bool even) {
  const int rows = vectors.rows(), columns = vectors.columns();
  CoarseField out(even ? vectors.sites() / 2 : vectors.sites(), rows, 2 * columns);
  std::int64_t next = 0;
  for (std::int64_t site = 0; site < vectors.sites(); ++site) {
    if (even && level.parity(lattice::coordinates_of<4>(site, level.local())) != 0) continue;
    for (int vector = 0; vector < columns; ++vector)
      for (int chirality = 0; chirality < 2; ++chirality)
        std::copy_n(vectors.at(site, vector) + chirality * rows, rows,
                    out.at(next, 2 * vector + chirality) + chirality * rows);
    ++next;
  }
  return out;
}

/// The even sites of a field, or all.
CoarseField part_of_system(const CoarseField& field, const lattice::Geometry4& level, bool even) {
  if (!even) return field;
  CoarseField out(field.sites() / 2, field.rows(), field.columns());
  std::int64_t next = 0;
  for (std::int64_t site = 0; site < field.sites(); ++site)
    if (level.parity(lattice::coordinates_of<4>(site, level.local())) == 0)
      std::copy_n(field.at(site, 0), std::int64_t{field.columns()} * 2 * field.rows(), out.at(next++, 0));
  return out;
}

/// The solver's part of the coarsest level.
template <class S>
void complete(CoarseLevel<S>& level, const CoarseField& vectors, const std::string& transport) {
  const auto& geometry = level.blocks->geometry();
  const int rows = level.blocks->rows();
  with_system(level, [&]<class System>() {
    const bool dense = system_rows<S>(*geometry, rows) <= most_dense_rows;
    const int columns = dense ? rows : 2 * vectors.columns();
    System system(level, columns, transport);
    const auto apply = [&](CoarseField& out, const CoarseField& in) { system.apply(out, in); };
    if (dense)
      level.dense =
          std::make_shared<const DenseInverse>(geometry, system.space().create().sites(), rows, columns, apply);
    else
      level.deflation = std::make_shared<const CoarseDeflation>(
          geometry, deflation_directions(vectors, *geometry, level.inverse != nullptr), apply);
  });
}

}  // namespace

AggregatePlan aggregate_plan(std::shared_ptr<const lattice::Geometry4> fine, const Parameters& p) {
  AggregatePlan plan;
  const auto first = lattice::Aggregates::nearest(*fine, p.aggregate);
  plan.push_back(std::make_shared<const lattice::Aggregates>(std::move(fine), first));
  for (;;) {
    const auto& last = plan.back()->coarse();
    const int levels = static_cast<int>(plan.size()) + 1;
    if (p.levels > 0 ? levels >= p.levels : last->global_volume() <= most_coarsest_sites) break;
    const auto size = aggregate_of(*last, p.coarse_aggregate);
    if (lattice::product<4>(size) == 1) break;
    plan.push_back(std::make_shared<const lattice::Aggregates>(last, size));
  }
  return plan;
}

template <class S>
CoarseField restricted(const Transfer<S>& transfer, std::span<const FineField> vectors) {
  const std::int64_t sites = transfer.aggregates()->count();
  const int n = transfer.vectors();
  int columns = 0;  // more than n where the transfer has reduced them
  for (const FineField& field : vectors) columns += field.columns();
  CoarseField out(sites, 2 * n, columns);
  int first = 0;
  for (const FineField& field : vectors) {
    CoarseField some(sites, 2 * n, field.columns());
    transfer.restrict_to(some, field, nullptr);
    for (std::int64_t site = 0; site < sites; ++site)
      std::copy_n(some.at(site, 0), std::int64_t{field.columns()} * 4 * n, out.at(site, first));
    first += field.columns();
  }
  return out;
}

template <class S>
std::vector<CoarseLevel<S>> coarse_levels(std::shared_ptr<const CoarseBlocks<S>> blocks, CoarseField vectors,
                                          const AggregatePlan& plan, const Parameters& p,
                                          const std::string& transport) {
  const core::Region region("coarse levels");
  std::vector<CoarseLevel<S>> levels;
  for (std::size_t i = 1;; ++i) {
    CoarseLevel<S>& level = levels.emplace_back();
    level.blocks = std::move(blocks);
    if (CoarseSchur<S>::possible(*level.blocks->geometry()))
      level.inverse = std::make_shared<const InverseBlocks<S>>(*level.blocks);
    if (i == plan.size()) break;
    if (vectors.columns() != p.vectors_below()) vectors = first_columns(vectors, p.vectors_below());
    level.transfer = std::make_shared<const CoarseTransfer<S>>(plan[i], vectors);
    blocks = galerkin(*level.blocks, *level.transfer, transport);
    CoarseField next(plan[i]->count(), 2 * vectors.columns(), vectors.columns());
    level.transfer->restrict_to(next, vectors);
    vectors = std::move(next);
  }
  complete(levels.back(), vectors, transport);
  return levels;
}

template <class S>
void deflate_by_eigenvectors(CoarseLevel<S>& level, int count, const std::string& transport) {
  if (!level.deflation || count == 0) return;
  const auto& geometry = level.blocks->geometry();
  const auto found = coarse_eigenvectors(level.blocks, count, eigenvector_tolerance, transport);
  if (found.values.empty()) return;  // Lanczos found none, and the test vectors stay
  with_system(level, [&]<class System>() {
    const CoarseField directions = part_of_system(found.vectors, *geometry, level.inverse != nullptr);
    System system(level, directions.columns(), transport);
    level.deflation = std::make_shared<const CoarseDeflation>(
        geometry, directions, [&](CoarseField& out, const CoarseField& in) { system.apply(out, in); });
  });
}

std::int64_t predicted_coarse_bytes(const AggregatePlan& plan, const Parameters& p) {
  const std::int64_t number = p.storage == "half" ? sizeof(core::Half) : sizeof(float);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto& level = *plan[i]->coarse();
    const std::int64_t vectors = i == 0 ? p.vectors : p.vectors_below(), rows = 2 * vectors;
    const std::int64_t sites = level.local_volume(), below = p.vectors_below();
    bytes += sites * 6 * 2 * rows * rows * number;  // five blocks and an inverse
    if (i + 1 < plan.size()) {
      bytes += sites * 2 * rows * below * number;
      continue;
    }
    const std::int64_t unknowns = system_rows<float>(level, static_cast<int>(rows));
    // Rows of the inverse; or directions of deflation, two for each vector, and their images.
    const std::int64_t test_vectors = plan.size() == 1 ? p.made_vectors() : vectors;
    const std::int64_t directions = p.coarse_eigenvectors > 0 ? (p.coarse_eigenvectors + 7) / 8 * 8 : 2 * test_vectors;
    bytes += unknowns <= most_dense_rows ? 8 * unknowns * unknowns / level.communicator().size()
                                         : 2 * directions * 8 * unknowns / level.communicator().size();
  }
  return bytes;
}

template CoarseField restricted(const Transfer<float>&, std::span<const FineField>);
template CoarseField restricted(const Transfer<core::Half>&, std::span<const FineField>);
template void deflate_by_eigenvectors(CoarseLevel<float>&, int, const std::string&);
template void deflate_by_eigenvectors(CoarseLevel<core::Half>&, int, const std::string&);
template std::vector<CoarseLevel<float>> coarse_levels(std::shared_ptr<const CoarseBlocks<float>>, CoarseField,
                                                       const AggregatePlan&, const Parameters&, const std::string&);
template std::vector<CoarseLevel<core::Half>> coarse_levels(std::shared_ptr<const CoarseBlocks<core::Half>>,
                                                            CoarseField, const AggregatePlan&, const Parameters&,
                                                            const std::string&);

}  // namespace halocline::qcd::multigrid
