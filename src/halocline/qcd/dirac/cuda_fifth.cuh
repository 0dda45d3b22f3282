// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Matrices of a fifth dimension on a device; fifth_term.hpp has those of the CPU.
///
/// A thread computes one point s of one site, and reads the points of that site once more. So the matrix is a dense one
/// here, of Ls numbers a row, and no thread waits for another. Recursions along s would need 8 to 10 flops a number of
/// the spinor in place of 4 Ls, and run one after another. Elements that are zero in both chiralities are skipped with
/// the spinor that they belong to.

#include <cstdint>

#include "halocline/gpu/array.hpp"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/dirac/fifth_term.hpp"

namespace halocline::qcd::device {

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

  static std::int64_t bytes(int extent) { return std::int64_t{4} * extent * extent * sizeof(Real); }

private:
  int extent_ = 0;
  bool complex_ = false;
  gpu::DeviceArray<Real> elements_;
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
