// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/hierarchy.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "halocline/comm/group/time_limit.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/multigrid/coarse_eigenvectors.hpp"
#include "halocline/qcd/multigrid/detail/coarse_galerkin.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// A matrix of at most this many rows is inverted: 0.3 s at 30 Gflop/s, and 8 MiB.
constexpr std::int64_t most_dense_rows = 1024;
/// Of eigenvectors for deflation, on residuals over |D_c|. 1e-3 gave the same iterations, 3e-2 twice as many.
constexpr double eigenvector_tolerance = 1e-2;

/// Rows of the system of a coarsest level.
std::int64_t system_rows(const lattice::Coordinates<4>& global, const lattice::Coordinates<4>& local, int rows) {
  return lattice::product<4>(global) * rows / (lattice::has_parities(global, local) ? 2 : 1);
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
    const bool dense = system_rows(geometry->global(), geometry->local(), rows) <= most_dense_rows;
    const int columns = dense ? rows : 2 * vectors.columns();
    System system(level, columns, transport);
    const auto apply = [&](CoarseField& out, const CoarseField& in) { system.apply(out, in); };
    if (dense)
      level.dense =
          std::make_shared<const DenseInverse>(geometry, system.space().create().sites(), rows, columns, apply);
    else
      level.deflation = std::make_shared<const CoarseDeflation>(
          *geometry, deflation_directions(vectors, *geometry, level.inverse != nullptr), apply);
  });
}

template <class S>
std::shared_ptr<const CoarseBlocks<S>> gathered(lattice::Gathering& gathering, const CoarseBlocks<S>& blocks) {
  const std::size_t site = blocks.span().size_bytes() / static_cast<std::size_t>(gathering.spread()->local_volume());
  std::shared_ptr<CoarseBlocks<S>> out;
  if (gathering.keeps()) out = std::make_shared<CoarseBlocks<S>>(gathering.gathered(), blocks.rows());
  gathering.gather(out ? std::as_writable_bytes(out->span()) : std::span<std::byte>(), std::as_bytes(blocks.span()),
                   site);
  if (out) out->twist(blocks.mu());  // which the numbers contain
  return out;
}

CoarseField gathered(lattice::Gathering& gathering, const CoarseField& field) {
  CoarseField out;
  if (gathering.keeps()) out = CoarseField(gathering.gathered()->local_volume(), field.rows(), field.columns());
  gathering.gather(std::as_writable_bytes(out.span()), std::as_bytes(field.span()), bytes_a_site(field));
  return out;
}

/// Makes the levels of a set-up one after another.
template <class S>
class Builder {
public:
  Builder(const LevelPlan& plan, const Parameters& p, const std::string& transport)
      : plan_(plan), p_(p), transport_(transport) {}

  std::vector<CoarseLevel<S>> levels;

  /// Appends a level and those below it.
  void add(std::shared_ptr<const CoarseBlocks<S>> blocks, CoarseField vectors) {
    const auto& gathering = plan_.levels[levels.size()].gathering;
    levels.emplace_back().gathering = gathering;
    if (!gathering) return hold(std::move(blocks), std::move(vectors));
    blocks = gathered(*gathering, *blocks);
    vectors = gathered(*gathering, vectors);
    comm::on_every_rank(gathering->spread()->communicator(), [&] {
      if (gathering->keeps()) hold(std::move(blocks), std::move(vectors));
    });
  }

private:
  /// Completes the last level on the processes that hold it.
  void hold(std::shared_ptr<const CoarseBlocks<S>> blocks, CoarseField vectors) {
    CoarseLevel<S>& level = levels.back();
    level.blocks = std::move(blocks);
    if (CoarseSchur<S>::possible(*level.blocks->geometry()))
      level.inverse = std::make_shared<const InverseBlocks<S>>(*level.blocks);
    if (levels.size() == plan_.levels.size()) return complete(level, vectors, transport_);
    const auto& aggregates = plan_.levels[levels.size()].aggregates;
    if (vectors.columns() != p_.vectors_below()) vectors = first_columns(vectors, p_.vectors_below());
    level.transfer = std::make_shared<const CoarseTransfer<S>>(aggregates, vectors);
    auto below = galerkin(*level.blocks, *level.transfer, transport_);
    CoarseField next(aggregates->count(), 2 * vectors.columns(), vectors.columns());
    level.transfer->restrict_to(next, vectors);
    add(std::move(below), std::move(next));
  }

  const LevelPlan& plan_;
  const Parameters& p_;
  const std::string& transport_;
};

}  // namespace

std::vector<lattice::LevelShape> level_shapes(const lattice::Geometry4& fine, const Parameters& p) {
  return lattice::level_shapes(
      fine.grid().dims(), fine.local(),
      {.first = p.aggregate, .next = p.coarse_aggregate, .levels = p.levels, .gather_below = p.gather_below});
}

LevelPlan level_plan(std::shared_ptr<const lattice::Geometry4> fine, const Parameters& p) {
  LevelPlan plan{level_shapes(*fine, p), {}};
  // The processes that wait do so for a whole coarse solve, in which a wait of the others may take its time limit. Then
  // these can still tell what happened.
  const double patience = 2 * comm::solve_time_limit(fine->communicator());
  std::shared_ptr<const lattice::Geometry4> geometry = std::move(fine);
  for (const lattice::LevelShape& shape : plan.shapes) {
    PlannedLevel& level = plan.levels.emplace_back();
    if (!geometry) continue;
    level.aggregates = std::make_shared<const lattice::Aggregates>(geometry, shape.aggregate);
    geometry = level.aggregates->coarse();
    if (!shape.gathers()) continue;
    level.gathering = std::make_shared<lattice::Gathering>(geometry, p.gather_below, patience);
    geometry = level.gathering->gathered();
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
                                          const LevelPlan& plan, const Parameters& p, const std::string& transport) {
  const core::Region region("coarse levels");
  Builder<S> builder(plan, p, transport);
  builder.add(std::move(blocks), std::move(vectors));
  return std::move(builder.levels);
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
        *geometry, directions, [&](CoarseField& out, const CoarseField& in) { system.apply(out, in); });
  });
}

std::int64_t predicted_coarse_bytes(std::span<const lattice::LevelShape> shapes, const Parameters& p) {
  const std::int64_t number = p.storage == "half" ? sizeof(core::Half) : sizeof(float);
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const lattice::LevelShape& level = shapes[i];
    const std::int64_t vectors = i == 0 ? p.vectors : p.vectors_below(), rows = 2 * vectors;
    const std::int64_t sites = lattice::product<4>(level.local), below = p.vectors_below();
    const std::int64_t block = 2 * rows * rows * number;
    bytes += sites * 6 * block;  // five blocks and an inverse
    // The messages of the gathering, one from each process of a cell; and the first level as it was before.
    if (level.gathers()) bytes += 5 * block * (sites + (i == 0 ? lattice::product<4>(level.spread) : 0));
    if (i + 1 < shapes.size()) {
      bytes += sites * 2 * rows * below * number;
      continue;
    }
    const std::int64_t unknowns = system_rows(level.global, level.local, static_cast<int>(rows));
    const std::int64_t share = level.sites() / sites;  // processes
    // Rows of the inverse; or directions of deflation, two for each vector, and their images.
    const std::int64_t test_vectors = shapes.size() == 1 ? p.made_vectors() : vectors;
    const std::int64_t directions = p.coarse_eigenvectors > 0 ? (p.coarse_eigenvectors + 7) / 8 * 8 : 2 * test_vectors;
    bytes += unknowns <= most_dense_rows ? 8 * unknowns * unknowns / share : 2 * directions * 8 * unknowns / share;
  }
  return bytes;
}

template CoarseField restricted(const Transfer<float>&, std::span<const FineField>);
template CoarseField restricted(const Transfer<core::Half>&, std::span<const FineField>);
template void deflate_by_eigenvectors(CoarseLevel<float>&, int, const std::string&);
template void deflate_by_eigenvectors(CoarseLevel<core::Half>&, int, const std::string&);
template std::vector<CoarseLevel<float>> coarse_levels(std::shared_ptr<const CoarseBlocks<float>>, CoarseField,
                                                       const LevelPlan&, const Parameters&, const std::string&);
template std::vector<CoarseLevel<core::Half>> coarse_levels(std::shared_ptr<const CoarseBlocks<core::Half>>,
                                                            CoarseField, const LevelPlan&, const Parameters&,
                                                            const std::string&);

}  // namespace halocline::qcd::multigrid
