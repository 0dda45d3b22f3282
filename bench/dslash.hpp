// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `dslash`: Dirac operators on fields that stay in place.
///
/// Forms: "hopping" is the one-parity hopping term, of which all others consist. "wilson" is D without, "clover" D with
/// the clover term, on both parities. "schur" is the symmetric Schur complement with the clover term. "clover-inverse"
/// is the inverse clover term alone, on both parities. "inside" is D_in of the Schwarz preconditioner on two halves
/// along x, with the clover term, in single precision.
///
/// Actions (actions.hpp): "wilson" has all forms. "twisted" (mu = 0.1) has all but "inside". "doublet" (epsilon = 0.05)
/// and the walls "domain-wall" and "mobius" have "hopping", "wilson", which is A - 1/2 hop of qcd/domain_wall, "schur"
/// and "schur-asymmetric". The sites of walls are those of five dimensions, a right-hand side of a doublet has two
/// columns, and the flops are those of the algorithm that runs. "one-link", "asqtad" and "hisq" are of staggered quarks
/// and have "hopping", "wilson", which is D, and "schur".

#include "bench/fields.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct DslashCase {
  Extents local{8, 8, 8, 8};        ///< sites of each process
  int threads = 1;                  ///< of each process
  std::string precision = "float";  ///< or "double"
  std::string form = "hopping";     ///< as above
  int link_reals = 18;              ///< reals stored for each link; 12: the third row is computed
  int columns = 1;                  ///< right-hand sides, which share the reading of links and clover blocks
  std::string action = "wilson";    ///< as above
  int ls = 8;                       ///< points of the fifth dimension; ignored without one
};

/// Measures one case.
/// @throws InvalidArgument  an unknown name, or a lattice that no layout fits; on every rank
/// Collective: yes.  Cost: about three times effort.seconds.
Result dslash(const comm::Communicator& group, const DslashCase& parameters, const Effort& effort);

}  // namespace halocline::bench
