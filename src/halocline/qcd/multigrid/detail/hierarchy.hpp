// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The coarse levels of a set-up, from the first coarse operator and the test vectors in its basis.
///
/// The test vectors of a level are those of the level above, restricted: the restriction of a low mode of D is one of
/// D_c. So the lower levels need no set-up of their own. A level is coarsened by aggregates of its sites
/// (coarse_transfer.hpp), and its operator becomes that of the next level (coarse_galerkin.hpp). The coarsest level
/// gets a dense inverse where its matrix is small, and otherwise deflation by its test vectors.
///
/// A level with fewer than `Parameters::gather_below` sites a process is gathered on fewer processes
/// (lattice/gathering.hpp), which then hold it and all levels below it. The others hold nothing of these levels. Boxes
/// become larger by that, and can be coarsened again.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/multigrid/detail/coarse_level.hpp"
#include "halocline/qcd/multigrid/parameters.hpp"

namespace halocline::qcd::multigrid {

/// The levels that `parameters.levels` gives on a lattice. A lattice on which the box of a process cannot be made
/// smaller gets fewer levels than were asked for. A pure function.
std::vector<lattice::LevelShape> level_shapes(const lattice::Geometry4& fine, const Parameters& parameters);

/// A coarse level as this process holds it.
struct PlannedLevel {
  /// Of the level above; null on a process that holds nothing of that level.
  std::shared_ptr<const lattice::Aggregates> aggregates;
  /// From the processes that hold the level above to those that hold this level; null if these are the same, and where
  /// `aggregates` is.
  std::shared_ptr<lattice::Gathering> gathering;
};

/// Shapes and lattices of all coarse levels, from the first one on.
struct LevelPlan {
  std::vector<lattice::LevelShape> shapes;
  std::vector<PlannedLevel> levels;
};

/// Collective: yes.  Cost: two splits of the group for each level that is gathered.
LevelPlan level_plan(std::shared_ptr<const lattice::Geometry4> fine, const Parameters& parameters);

/// The fine test vectors in the basis of the first coarse level, one in each column. Collective: no.
template <class S>
CoarseField restricted(const Transfer<S>& transfer, std::span<const FineField> vectors);

/// @param blocks   the operator of the first coarse level, on the processes of the fine lattice
/// @param vectors  its test vectors, one in each column
/// @return  the levels down to the last one of which this process holds something or gives something away
/// @throws core::Error  where a matrix is singular or vectors are dependent, on every rank, also on those that hold
///                      nothing of the level
/// Collective: yes.
template <class S>
std::vector<CoarseLevel<S>> coarse_levels(std::shared_ptr<const CoarseBlocks<S>> blocks, CoarseField vectors,
                                          const LevelPlan& plan, const Parameters& parameters,
                                          const std::string& transport);

/// Replaces the directions that deflate the coarsest level by eigenvectors of Gamma5 D_c (coarse_eigenvectors.hpp).
/// A level with a dense inverse stays as it is, and so does every level where `count` is zero,
/// and the last one of a process that holds nothing of the coarsest. Collective: yes.
template <class S>
void deflate_by_eigenvectors(CoarseLevel<S>& coarsest, int count, const std::string& transport);

/// Bytes of the coarse levels on a process that holds something of each. A pure function.
std::int64_t predicted_coarse_bytes(std::span<const lattice::LevelShape> shapes, const Parameters& parameters);

}  // namespace halocline::qcd::multigrid
