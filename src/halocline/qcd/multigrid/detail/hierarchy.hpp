// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The coarse levels of a set-up, from the first coarse operator and the test vectors in its basis.
///
/// The test vectors of a level are those of the level above, restricted: the restriction of a low mode of D is one of
/// D_c. So the lower levels need no set-up of their own. A level is coarsened by aggregates of its sites
/// (coarse_transfer.hpp), and its operator becomes that of the next level (coarse_galerkin.hpp). The coarsest level
/// gets a dense inverse where its matrix is small, and otherwise deflation by its test vectors.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/multigrid/detail/coarse_level.hpp"
#include "halocline/qcd/multigrid/parameters.hpp"

namespace halocline::qcd::multigrid {

/// Aggregates of the fine level, and of each coarse level above the coarsest.
using AggregatePlan = std::vector<std::shared_ptr<const lattice::Aggregates>>;

/// The levels that `parameters.levels` gives on a lattice. A lattice on which the box of a process cannot be made
/// smaller gets fewer levels than were asked for. Collective: no.
AggregatePlan aggregate_plan(std::shared_ptr<const lattice::Geometry4> fine, const Parameters& parameters);

/// The fine test vectors in the basis of the first coarse level, one in each column. Collective: no.
template <class S>
CoarseField restricted(const Transfer<S>& transfer, std::span<const FineField> vectors);

/// @param blocks   the operator of the first coarse level
/// @param vectors  its test vectors, one in each column
/// @throws core::Error  where a matrix is singular or vectors are dependent, on every rank
/// Collective: yes.
template <class S>
std::vector<CoarseLevel<S>> coarse_levels(std::shared_ptr<const CoarseBlocks<S>> blocks, CoarseField vectors,
                                          const AggregatePlan& plan, const Parameters& parameters,
                                          const std::string& transport);

/// Replaces the directions that deflate the coarsest level by eigenvectors of Gamma5 D_c (coarse_eigenvectors.hpp).
/// A level with a dense inverse stays as it is, and so does every level where `count` is zero. Collective: yes.
template <class S>
void deflate_by_eigenvectors(CoarseLevel<S>& coarsest, int count, const std::string& transport);

/// Bytes of the coarse levels of a plan on a process. Collective: no.
std::int64_t predicted_coarse_bytes(const AggregatePlan& plan, const Parameters& parameters);

}  // namespace halocline::qcd::multigrid
