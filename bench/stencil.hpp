// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `stencil`: the 25-point stencil on blocks of complex orbitals, with the gradient along all axes.
///
/// Forms: "apply" is H psi. "taylor" is a step of the Taylor series based on it, out = base - i dt H psi.
/// "taylor-current" also computes the current of psi. "current" is the current alone, and "density" the sum of weighted
/// squares.

#include <array>
#include <cstdint>
#include <string>

#include "bench/result.hpp"

namespace halocline::bench {

struct StencilCase {
  std::array<std::int64_t, 3> points{32, 32, 32};  ///< of the whole grid
  int orbitals = 16;
  std::string form = "apply";          ///< as above
  int threads = 1;                     ///< of each process
  double memory_gib = 8;               ///< cases that need more, on all processes together, are skipped
  std::string lattice = "orthogonal";  ///< or "hexagonal" with one diagonal more, "face-centred" with three
  std::string precision = "double";    ///< of the orbitals, or "float"
};

/// Measures one case; the processes divide space, the slowest axis first. For the forms that apply H, operations are
/// the nominal 158 for each point and orbital, as in the report on the optimisation of SALMON for Fugaku; for "current"
/// 84 and for "density" 5. Bytes are those of the blocks of four orbitals, eight in float, full or not: each array
/// once, and the potential once for each block.
/// @throws InvalidArgument  an unknown form, lattice or precision, or points that cannot be divided in this way; on
/// every rank Collective: yes.  Cost: about twice effort.seconds.
Result stencil(const comm::Communicator& group, const StencilCase& parameters, const Effort& effort);

}  // namespace halocline::bench
