// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `stencil`: the 25-point stencil on blocks of complex orbitals, with the gradient along all axes.
///
/// "apply" is H psi; "taylor" a step of the Taylor series on top of it, out = base - i dt H psi; "taylor-current" the
/// same with the current of psi; "current" the current alone; "density" the sum of weighted squares.

#include <array>
#include <cstdint>
#include <string>

#include "bench/result.hpp"

namespace halocline::bench {

struct StencilCase {
  std::array<std::int64_t, 3> points{32, 32, 32};  ///< of the whole grid
  int orbitals = 16;
  std::string form = "apply";  ///< as above
  int threads = 1;             ///< of each process
  double memory_gib = 8;       ///< cases that need more, on all processes together, are skipped
};

/// Measures one case; the processes divide space, the slowest axis first. Operations are the nominal 158 a point and
/// orbital of papers/003 for the forms that apply H, 84 for "current" and 5 for "density". Bytes are those of the
/// blocks of four orbitals, full or not: each array once, and the potential once a block.
/// @throws InvalidArgument  for an unknown form, or points that cannot be divided so; on every rank
/// Collective: yes.  Cost: about twice effort.seconds.
Result stencil(const comm::Communicator& group, const StencilCase& parameters, const Effort& effort);

}  // namespace halocline::bench
