// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `heatbath`: seconds of one sweep that updates every link of a quenched field once.

#include "bench/fields.hpp"
#include "bench/result.hpp"

namespace halocline::bench {

struct HeatbathCase {
  Extents local{16, 16, 16, 16};  ///< sites of each process
  int threads = 1;
  double beta = 6.0;
  int overrelaxation_steps = 0;  ///< after each heatbath sweep, included in its time
};

/// Starts from random links and warms up with two sweeps.
/// @throws InvalidArgument  as heatbath_sweep. Collective: yes.
Result heatbath(const comm::Communicator& group, const HeatbathCase& parameters, const Effort& effort);

/// Operations of one link's staples: six of two SU(3) products (198 each) and their sum (18 each). Generating the SU(2)
/// elements costs less, and not always the same; it is not counted, so the rate is a lower bound.
inline constexpr double staple_flops = 6 * (2 * 198 + 18);

}  // namespace halocline::bench
