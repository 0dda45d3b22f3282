// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods of krylov.hpp over device fields, instantiated once for each storage (device_krylov.cu).
///
/// In mixed precision, BiCGStab and CG iterate in the inner storage with reliable updates in double; GCR uses defect
/// correction. CG keeps its search direction over a reliable update, so it takes as many iterations in any storage as
/// in double. Defect correction would cost CG more iterations (8 x 4^3 sites, random links, mass -1):
///
///   | inner storage | double | float | fixed16 | fixed8 |
///   |---------------|--------|-------|---------|--------|
///   | iterations    | 49     | 50    | 52      | 69     |
///
/// KrylovTraits::replacement sets how far the residual may fall in an inner storage before it is recomputed in double:
///   - float: two digits, as on the CPU;
///   - fixed16: one digit; every site and column has its own scale, so 15 bits remain for vectors of any size;
///   - fixed8: a factor of two, because there are only seven bits.
/// One recomputation, in double and for all columns, costs as much as several iterations. Decisions therefore come at
/// every 8th iteration (every 4th in fixed8), where columns coincide (solve::SolveOptions::replacement_interval).

#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "halocline/qcd/device/operator.cuh"
#include "halocline/qcd/quark/detail/krylov.hpp"

namespace halocline::qcd {

template <class S>
struct KrylovTraits<device::SpinorSpace<S>> {
  static constexpr bool fixed16 = std::is_same_v<S, device::Fixed16>, fixed8 = std::is_same_v<S, device::Fixed8>;
  static constexpr bool offers_all = false;
  static constexpr double replacement = fixed8 ? 0.5 : fixed16 ? 1e-1 : 1e-2;
  static constexpr int replacement_interval = fixed8 ? 4 : 8;
  static constexpr double most_gain = fixed8 ? 0.3 : fixed16 ? 1e-2 : 0.0;
};

}  // namespace halocline::qcd

namespace halocline::qcd::device {

/// (A^dagger A + shifts[i]) x[i] = b for every shift, in double. Collective: yes.
std::vector<solve::SolveResult> solve_shifted(SpinorSpace<double>& space, DeviceOperator<double>& a,
                                              std::span<const double> shifts, std::span<DeviceSpinor<double>> x,
                                              const DeviceSpinor<double>& b, const solve::SolveOptions& options);

/// The same with A in place of A^dagger A, for an A that is hermitian and positive.
std::vector<solve::SolveResult> solve_shifted_positive(SpinorSpace<double>& space, DeviceOperator<double>& a,
                                                       std::span<const double> shifts,
                                                       std::span<DeviceSpinor<double>> x, const DeviceSpinor<double>& b,
                                                       const solve::SolveOptions& options);

/// Number of fields that a solve holds at a time, besides its arguments.
struct WorkVectors {
  int outer = 0, inner = 0;
};
/// @param mixed  true for solve_mixed; false for solve_by, whose fields all count as outer
WorkVectors work_vectors(const std::string& kind, bool mixed, int restart_length);

}  // namespace halocline::qcd::device

namespace halocline::qcd {

#define HALOCLINE_DEVICE_KRYLOV(prefix, S)                                                                             \
  prefix template solve::SolveResult solve_by(const std::string&, device::SpinorSpace<S>&, device::DeviceOperator<S>&, \
                                              device::DeviceSpinor<S>&, const device::DeviceSpinor<S>&,                \
                                              const solve::SolveOptions&);
#define HALOCLINE_DEVICE_MIXED(prefix, S)                                                                              \
  prefix template solve::SolveResult solve_mixed(const std::string&, device::SpinorSpace<double>&,                     \
                                                 device::DeviceOperator<double>&, device::DeviceSpinor<double>&,       \
                                                 const device::DeviceSpinor<double>&, device::SpinorSpace<S>&,         \
                                                 device::DeviceOperator<S>&, const solve::SolveOptions&);
#define HALOCLINE_DEVICE_METHODS(prefix)                                                                               \
  HALOCLINE_DEVICE_KRYLOV(prefix, double)                                                                              \
  HALOCLINE_DEVICE_KRYLOV(prefix, float)                                                                               \
  HALOCLINE_DEVICE_KRYLOV(prefix, device::Fixed16)                                                                     \
  HALOCLINE_DEVICE_KRYLOV(prefix, device::Fixed8)                                                                      \
  HALOCLINE_DEVICE_MIXED(prefix, float)                                                                                \
  HALOCLINE_DEVICE_MIXED(prefix, device::Fixed16)                                                                      \
  HALOCLINE_DEVICE_MIXED(prefix, device::Fixed8)
HALOCLINE_DEVICE_METHODS(extern)

}  // namespace halocline::qcd
