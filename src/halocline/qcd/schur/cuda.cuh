// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Schur complement of D on one parity, on a device: the algorithms of even_odd.hpp, each hop with the clover
/// inverse, the sum with the source vector, and the dot products of a solver in its kernel.
///
/// Cost: two kernels an application of either form, one more for the adjoint of the symmetric form (where two axes or
/// more are split, those of the halo).

#include "halocline/qcd/dirac/cuda.cuh"
#include "halocline/qcd/schur/even_odd.hpp"

namespace halocline::qcd::device {

template <class S>
class DeviceSchur : public DeviceOperator<S> {
public:
  using Field = DeviceSpinor<S>;

  /// @param d       referred to; must live as long as this
  /// @param parity  the one that is solved for
  explicit DeviceSchur(DeviceDirac<S>& d, SchurForm form = SchurForm::symmetric, int parity = 0);

  SchurForm form() const noexcept { return form_; }

  /// The right-hand side of S from that of D: full field in, subset() out. Enqueued. Collective: where an axis is
  /// split.
  /// @throws InvalidArgument  for a field of another subset or number of columns; reconstruct() too
  void prepare(Field& rhs, const Field& source);
  /// Completes x: fills the full `solution` from its `half` on subset() and the full source. As above.
  void reconstruct(Field& solution, const Field& half, const Field& source);

  /// Bytes on the device.
  static std::int64_t bytes(const Box& box, int columns) {
    return 2 * DeviceSpinor<S>::bytes(box, lattice::Subset::even, columns);
  }

private:
  void enqueue(Field& out, const Field& in, bool dagger, gpu::SumBuffer* sums, const Field* with) override;
  bool sums_in_last_kernel() const noexcept override { return d_->sums_in_hop(); }
  void require(const Field& field, lattice::Subset subset, const char* what) const;

  DeviceDirac<S>* d_;
  SchurForm form_;
  int parity_;
  Field other_;  ///< work on the other parity
  Field same_;   ///< work on the solved parity, for the adjoint of the symmetric form
};

}  // namespace halocline::qcd::device
