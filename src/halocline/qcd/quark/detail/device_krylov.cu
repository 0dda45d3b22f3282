// SPDX-License-Identifier: Apache-2.0
//
// Host code alone: what nvcc compiles for each architecture is empty, and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/quark/detail/device_krylov.cuh"

#include "halocline/qcd/quark/detail/krylov_methods.hpp"
#include "halocline/solve/multishift_cg.hpp"

namespace halocline::qcd::device {
namespace {

template <class S>
constexpr qcd::detail::MixedOptions mixed_options() {
  if (std::is_same_v<S, Fixed16>) return {.replacement = 1e-1, .reliable_cg = true, .most_gain = 1e-2};
  if (std::is_same_v<S, Fixed8>) return {.replacement = 0.5, .reliable_cg = true, .most_gain = 0.3};
  return {.replacement = 1e-2, .reliable_cg = true, .most_gain = 0};
}

}  // namespace

template <class S>
solve::SolveResult solve_by(const std::string& kind, SpinorSpace<S>& space, DeviceOperator<S>& a, DeviceSpinor<S>& x,
                            const DeviceSpinor<S>& b, const solve::SolveOptions& options) {
  return qcd::detail::solve_by_name(kind, space, a, x, b, options);
}

template <class S>
solve::SolveResult solve_mixed(const std::string& kind, SpinorSpace<double>& space, DeviceOperator<double>& a,
                               DeviceSpinor<double>& x, const DeviceSpinor<double>& b, SpinorSpace<S>& inner_space,
                               DeviceOperator<S>& inner, const solve::SolveOptions& options) {
  const auto to_inner = [](DeviceSpinor<S>& out, const DeviceSpinor<double>& in) { convert(out, in); };
  const auto to_outer = [](DeviceSpinor<double>& out, const DeviceSpinor<S>& in) { convert(out, in); };
  const auto inner_solve = [&](const std::string& method, DeviceSpinor<S>& e, const DeviceSpinor<S>& r,
                               const solve::SolveOptions& inner_options) {
    return solve_by(method, inner_space, inner, e, r, inner_options);
  };
  return qcd::detail::solve_mixed_by_name(kind, space, a, x, b, inner_space, inner, to_inner, to_outer, options,
                                          mixed_options<S>(), inner_solve);
}

std::vector<solve::SolveResult> solve_shifted(SpinorSpace<double>& space, DeviceOperator<double>& a,
                                              std::span<const double> shifts, std::span<DeviceSpinor<double>> x,
                                              const DeviceSpinor<double>& b, const solve::SolveOptions& options) {
  solve::NormalOperator<SpinorSpace<double>, DeviceOperator<double>> normal(space, a);
  return solve::multishift_cg(space, normal, shifts, x, b, options);
}

WorkVectors work_vectors(const std::string& kind, bool mixed, int restart_length) {
  // Each with the one of its LinearProblem.
  const int alone = kind == "cg" ? 5 : kind == "gcr" ? 2 + 2 * restart_length : 6;
  if (!mixed) return {alone, 0};
  // Reliable updates: work, residual and correction outside; the correction and what replaces the residual inside.
  // Defect correction: as many outside; residual and correction inside.
  return {3, alone + (kind == "gcr" ? 2 : 1)};
}

template solve::SolveResult solve_by(const std::string&, SpinorSpace<double>&, DeviceOperator<double>&,
                                     DeviceSpinor<double>&, const DeviceSpinor<double>&, const solve::SolveOptions&);
#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template solve::SolveResult solve_by(const std::string&, SpinorSpace<S>&, DeviceOperator<S>&, DeviceSpinor<S>&,      \
                                       const DeviceSpinor<S>&, const solve::SolveOptions&);                            \
  template solve::SolveResult solve_mixed(const std::string&, SpinorSpace<double>&, DeviceOperator<double>&,           \
                                          DeviceSpinor<double>&, const DeviceSpinor<double>&, SpinorSpace<S>&,         \
                                          DeviceOperator<S>&, const solve::SolveOptions&);
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device

#endif
