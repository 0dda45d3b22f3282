// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Matrices of a fifth dimension on a device; fifth_term.hpp has those of the CPU.
///
/// There are two forms. A pass of its own multiplies by the dense matrix, of Ls numbers a row: a thread computes one
/// point s of one site, and reads the points of that site once more. Elements that are zero in both chiralities are
/// skipped with the spinor that they belong to. A kernel that has all points of a site in shared memory
/// (wilson/detail/hop_fifth.cuh) follows the recursion of fifth_term.hpp instead, for real matrices with a factor Q^-1
/// and many points: 6 to 12 flops a real in place of 2 Ls.

#include <cstdint>

#include "halocline/gpu/array.hpp"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/dirac/fifth_term.hpp"

namespace halocline::qcd::device {

/// A step of the recursion with real coefficients (FifthTerm::Step).
template <class Real>
struct FifthStep {
  int s;
  Real x, x_before, y_before;  ///< y = x psi(s) + x_before psi(s') + y_before y(s')
  Real near, far;              ///< result(s) = near y + far y(s')
  Real corner;                 ///< weight of psi(s) in the y before the first step
};

/// A recursion for kernels.
template <class Real>
struct FifthChain {
  const FifthStep<Real>* steps = nullptr;  ///< [chirality][step]; null: there is none
  bool only_solves = false;                ///< Q^-1 alone: x_before and far are zero, near is one
};

/// Points from which on a kernel follows a recursion. On an H200 the Schur complement with 16 points takes 7 to 10 %
/// less time in double and float than with a dense matrix, and as long in fixed16; with 8 points nothing is gained.
inline constexpr int least_chain_points = 12;

template <class S>
class DeviceFifth {
public:
  using Real = RealOf<S>;

  DeviceFifth() = default;
  /// Copies the matrix to the device, and waits.
  /// @param complex  store imaginary parts even if all are zero, as matrices of one pass must be alike. Collective: no.
  DeviceFifth(Context& context, const FifthTerm<double>& term, bool complex);

  int extent() const noexcept { return extent_; }
  /// Whether imaginary parts are stored.
  bool complex() const noexcept { return complex_; }
  /// [s][s'][chirality], and with complex() [re, im] of each
  const Real* data() const noexcept { return elements_.data(); }
  /// None for a product, a complex matrix, or few points.
  FifthChain<Real> chain() const noexcept { return {steps_.data(), only_solves_}; }

  static std::int64_t bytes(int extent) {
    return std::int64_t{4} * extent * extent * sizeof(Real) + std::int64_t{2} * extent * sizeof(FifthStep<Real>);
  }

private:
  int extent_ = 0;
  bool complex_ = false;
  bool only_solves_ = false;
  gpu::DeviceArray<Real> elements_;
  gpu::DeviceArray<FifthStep<Real>> steps_;
};

/// out = scale [F] in + add_scale [G] add at the sites of one parity, in a pass of its own. Enqueued.
/// @param in    not out, if there is an F;  @param f  F; null for one
/// @param add   null for none; not out, if there is a G;  @param g  G; null for one
/// @throws InvalidArgument  for fields of other columns, boxes or parities, for columns that are no multiple of the
///                          extent, for a real and a complex matrix, or if one field is read and written
/// Cost a site and column: 48 Ls flops for each matrix, twice as many for a complex one. 48 reals of spinors, 72 with
/// `add`, if the points of a site stay in the caches.
template <class S>
void multiply_fifth(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceFifth<S>* f, double scale,
                    const DeviceSpinor<S>* add, const DeviceFifth<S>* g, double add_scale, int parity);

}  // namespace halocline::qcd::device
