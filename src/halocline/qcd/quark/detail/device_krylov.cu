// SPDX-License-Identifier: Apache-2.0
//
// Host code only. In nvcc's pass for a GPU architecture this file is empty and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/quark/detail/device_krylov.cuh"

#include "halocline/qcd/quark/detail/krylov_definition.hpp"
#include "halocline/solve/multishift_cg.hpp"

namespace halocline::qcd::device {

std::vector<solve::SolveResult> solve_shifted(SpinorSpace<double>& space, DeviceOperator<double>& a,
                                              std::span<const double> shifts, std::span<DeviceSpinor<double>> x,
                                              const DeviceSpinor<double>& b, const solve::SolveOptions& options) {
  solve::NormalOperator<SpinorSpace<double>, DeviceOperator<double>> normal(space, a);
  return solve::multishift_cg(space, normal, shifts, x, b, options);
}

std::vector<solve::SolveResult> solve_shifted_positive(SpinorSpace<double>& space, DeviceOperator<double>& a,
                                                       std::span<const double> shifts,
                                                       std::span<DeviceSpinor<double>> x, const DeviceSpinor<double>& b,
                                                       const solve::SolveOptions& options) {
  return solve::multishift_cg(space, a, shifts, x, b, options);
}

WorkVectors work_vectors(const std::string& kind, bool mixed, int restart_length) {
  // Work vectors of each method, including the one that its LinearProblem holds.
  const int alone = kind == "cg" ? 5 : kind == "gcr" ? 2 + 2 * restart_length : 6;
  if (!mixed) return {alone, 0};
  // Outer fields: work, residual and correction. Reliable updates replace the work vector of an inner LinearProblem by
  // two inner fields: the correction, and the residual from the outer space. Defect correction adds two inner fields to
  // those of the inner solve: residual and correction.
  return {3, alone + (kind == "gcr" ? 2 : 1)};
}

}  // namespace halocline::qcd::device

namespace halocline::qcd {

HALOCLINE_DEVICE_METHODS()

}  // namespace halocline::qcd

#endif
