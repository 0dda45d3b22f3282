// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The operator of the next coarser lattice, D_cc = P^dagger D_c P, from the blocks of a coarse operator.
///
/// With the blocks S and L_mu of coarse_operator.hpp, links across a face of an aggregate make the new L_mu,
///
///   L'_mu(X) = sum over x at the face of  P(x)^dagger L_mu(x) P(x + mu)
///
/// Links inside an aggregate make F in the same way. A backward link is Gamma5 times the adjoint of a forward one times
/// Gamma5, and P keeps the chiralities apart, so the new block of a site is
///
///   S' = sum_x P(x)^dagger S(x) P(x)  +  F + Gamma5 F^dagger Gamma5
///
/// No symmetry of S is used or enforced: a twisted mass, S + i mu Gamma5, goes through to S' + i mu Gamma5.
///
/// Flops a site: about 5 x 16 (2 N)^2 N' for blocks of 2 N rows and N' test vectors, twice that where N' = N.

#include <memory>
#include <string>

#include "halocline/qcd/multigrid/coarse_operator.hpp"
#include "halocline/qcd/multigrid/coarse_transfer.hpp"

namespace halocline::qcd::multigrid {

/// @param transfer  from the lattice of the blocks to the next one
/// @throws InvalidArgument  for blocks of another lattice or number of rows
/// Collective: yes.
template <class S>
std::shared_ptr<const CoarseBlocks<S>> galerkin(const CoarseBlocks<S>& blocks, const CoarseTransfer<S>& transfer,
                                                const std::string& transport = "");

}  // namespace halocline::qcd::multigrid
