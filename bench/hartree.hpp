// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `hartree`: the Hartree potential, each space group by itself, all processes together, and as the library chooses.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/result.hpp"

namespace halocline::bench {

struct HartreeCase {
  std::array<std::int64_t, 3> points{64, 64, 64};  ///< of the whole grid
  std::string boundary = "periodic";               ///< or "isolated"
  std::string over = "orbitals";                   ///< what the processes divide; or "space"
  int threads = 1;                                 ///< of each process
};

/// Three results, whose parameter `way` is redundant, shared and automatic; measured in turns. Operations are those of
/// the transforms, 5 n log2(n) a complex and half of that a real line of n, and of the kernel, on all processes; bytes
/// are the density and the potential, once on each process. `result` has what the library chose, what its trial of both
/// took [s], and the median over that of the better of both.
/// @throws InvalidArgument  for an unknown name, or points that cannot be divided so; on every rank
/// Collective: yes.  Cost: about six times effort.seconds.
std::vector<Result> hartree(const comm::Communicator& group, const HartreeCase& parameters, const Effort& effort);

}  // namespace halocline::bench
