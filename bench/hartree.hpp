// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `hartree`: the Hartree potential, solved by each space group alone, by all processes together, and as the library
/// chooses.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/result.hpp"

namespace halocline::bench {

struct HartreeCase {
  std::array<std::int64_t, 3> points{64, 64, 64};  ///< of the whole grid
  std::string boundary = "periodic";               ///< or "isolated"
  std::string over = "orbitals";                   ///< quantity divided over the processes; or "space"
  int threads = 1;                                 ///< of each process
};

/// Gives three results, with the parameter `way` redundant, shared and automatic, measured in turns. Operations are
/// those of the transforms, 5 n log2(n) for a complex and half of that for a real line of n, and of the kernel, on all
/// processes. Bytes are the density and the potential, once on each process. `result` has the library's choice, the
/// times of its trial of both ways [s], and the median divided by that of the faster way.
/// @throws InvalidArgument  an unknown name, or points that cannot be divided in this way; on every rank
/// Collective: yes.  Cost: about six times effort.seconds.
std::vector<Result> hartree(const comm::Communicator& group, const HartreeCase& parameters, const Effort& effort);

}  // namespace halocline::bench
