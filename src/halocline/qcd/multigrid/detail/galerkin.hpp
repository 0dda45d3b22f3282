// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The coarse operator D_c = P^dagger D P of a fine Wilson-clover operator (coarse_operator.hpp).
///
/// With the projection E_mu = (1, -gamma_mu's upper block) to half spinors, 1 - gamma_mu = E^dagger E, so a forward
/// link of the fine lattice contributes -1/2 c_mu (E phi_i(x))^dagger U_mu(x) (E phi_j(x+mu)) to row i and column j.
/// Links across a face of the aggregate make L_mu. Links inside make F, and with it the block of the site itself is
///
///   S = P^dagger A P - 1/2 (F + Gamma5 F^dagger Gamma5)
///
/// so S obeys Gamma5 S = (Gamma5 S)^dagger to the bit. The vectors are taken as they are stored, rounded to fp16 or
/// not, so D_c belongs to the P that acts.
///
/// Flops a site: about 200 (2 N)^2, most of them in products of P^dagger with the hop of all columns at once.

#include <memory>
#include <string>
#include <vector>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"
#include "halocline/qcd/multigrid/transfer.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::multigrid {

/// @param gauge   links in double with ghosts filled
/// @param clover  clover::canonical_term, or null without a clover term
/// @tparam S, C   storage of the test vectors and of the blocks: float or core::Half
/// Collective: yes.
template <class S, class C>
std::shared_ptr<const CoarseBlocks<C>> galerkin(const Transfer<S>& transfer, const GaugeField& gauge,
                                                const WilsonCloverAction& action, const std::vector<double>* clover,
                                                const std::string& transport = "");

}  // namespace halocline::qcd::multigrid
