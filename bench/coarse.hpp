// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `coarse`: the operator of a coarse level of multigrid, on fields that stay in place.
///
/// Forms: "operator" is D_c, which reads five blocks of (2 N)^2 complex numbers a site. "schur" is the even-odd
/// preconditioned operator, which reads every link block twice and the inverse of every self block once: nine blocks a
/// site. Both take 9 x 8 (2 N)^2 flops a site and column.

#include <cstdint>
#include <string>

#include "bench/geometry.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct CoarseCase {
  Extents local{8, 8, 8, 8};      ///< coarse sites of each process
  int vectors = 24;               ///< N, a multiple of 8
  int columns = 1;                ///< right-hand sides, which share the reading of the blocks
  std::string storage = "half";   ///< of the blocks: "half" or "float"
  std::string form = "operator";  ///< as above
  int threads = 1;                ///< of each process
};

/// Measures one case, on blocks of random numbers with a dominant diagonal.
/// @throws InvalidArgument  an unknown name, a number of vectors that is no multiple of 8, or a coarse lattice without
///                          parities for "schur"; on every rank
/// Collective: yes.  Cost: about three times effort.seconds; 40 or 20 bytes times (2 N)^2 of memory a site in float or
/// half, for "schur" a fifth more.
Result coarse(const comm::Communicator& group, const CoarseCase& parameters, const Effort& effort);

}  // namespace halocline::bench
