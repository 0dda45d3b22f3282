// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods of solve/ over device fields, instantiated once for each storage (device_krylov.cu).
///
/// Mixed precision: BiCGStab and CG iterate in the inner storage with reliable updates in double; GCR corrects defects.
/// CG keeps its search direction over an update, and so takes as many iterations in any storage as in double; by defect
/// correction it took 49 in double and 50, 52 and 69 in float, fixed16 and fixed8 (8 x 4^3, random links, mass -1).
/// What an inner storage can gain before it must see the true residual:
///   - float: two digits, as on the processor;
///   - fixed16: one digit; the scale of every site and column keeps 15 bits whatever the size of the vectors;
///   - fixed8: seven bits, so the residual is replaced each time it has halved.

#include <string>

#include "halocline/qcd/device/operator.cuh"
#include "halocline/solve/result.hpp"

namespace halocline::qcd::device {

/// A x = b by "bicgstab", "cg" (normal equations) or "gcr" in one storage. Collective.
template <class S>
solve::SolveResult solve_by(const std::string& kind, SpinorSpace<S>& space, DeviceOperator<S>& a, DeviceSpinor<S>& x,
                            const DeviceSpinor<S>& b, const solve::SolveOptions& options);

/// The same with the iteration in storage S and solution and residual in double. Collective.
template <class S>
solve::SolveResult solve_mixed(const std::string& kind, SpinorSpace<double>& space, DeviceOperator<double>& a,
                               DeviceSpinor<double>& x, const DeviceSpinor<double>& b, SpinorSpace<S>& inner_space,
                               DeviceOperator<S>& inner, const solve::SolveOptions& options);

/// (A^dagger A + shifts[i]) x[i] = b for every shift, in double. Collective.
std::vector<solve::SolveResult> solve_shifted(SpinorSpace<double>& space, DeviceOperator<double>& a,
                                              std::span<const double> shifts, std::span<DeviceSpinor<double>> x,
                                              const DeviceSpinor<double>& b, const solve::SolveOptions& options);

/// Fields that a solve by a method holds at a time, beside its arguments.
struct WorkVectors {
  int outer = 0, inner = 0;
};
/// @param mixed  solve_mixed, else solve_by, whose fields count as outer
WorkVectors work_vectors(const std::string& kind, bool mixed, int restart_length);

}  // namespace halocline::qcd::device
