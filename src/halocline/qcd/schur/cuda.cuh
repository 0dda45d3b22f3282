// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Schur complement of D on one parity, on a device, by the algorithms of even_odd.hpp.
///
/// For Wilson-clover quarks the kernel of a hop also applies the clover inverse and adds the source vector. Where no
/// axis is split, it computes the dot products of the solver too. The cost is then two kernels for an application of
/// either form, and three for the adjoint of the symmetric form. Where an axis is split, a hop also has the kernels of
/// its halo (wilson/cuda.cuh). The twisted-mass operator applies its blocks in separate kernels (twisted/cuda.cuh).

#include "halocline/qcd/dirac/cuda.cuh"
#include "halocline/qcd/schur/even_odd.hpp"

namespace halocline::qcd::device {

template <class S>
class DeviceSchur : public DeviceOperator<S> {
public:
  using Field = DeviceSpinor<S>;

  /// @param d       referred to; must outlive this object
  /// @param parity  the parity that is solved for: 0 even, 1 odd
  explicit DeviceSchur(DeviceDirac<S>& d, SchurForm form = SchurForm::symmetric, int parity = 0);

  SchurForm form() const noexcept { return form_; }
  bool hermitian_positive() const noexcept override { return d_->hermitian_schur(); }
  gpu::FaceExchange* exchange() noexcept override { return d_->exchange(); }

  /// Computes the right-hand side of S, on subset(), from that of D, on a full field. Enqueued.
  /// @throws InvalidArgument  for a field of another subset, context or number of columns
  /// Collective: yes, if an axis is split.
  void prepare(Field& rhs, const Field& source);
  /// Completes x: fills the full `solution` from its `half` on subset() and the full source. Enqueued, with the same
  /// errors. Collective: yes, if an axis is split.
  void reconstruct(Field& solution, const Field& half, const Field& source);

  /// Bytes of the two work fields on the device.
  static std::int64_t bytes(const Box& box, int columns, int components = spinor_components) {
    return 2 * DeviceSpinor<S>::bytes(box, lattice::Subset::even, columns, components);
  }

private:
  void enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) override;
  bool sums_in_last_kernel() const noexcept override { return d_->sums_in_hop(); }
  void require(const Field& field, lattice::Subset subset, const char* what) const;

  DeviceDirac<S>* d_;
  SchurForm form_;
  int parity_;
  Field other_;  ///< work on the other parity
  Field same_;   ///< work on the solved parity, for the adjoint of the symmetric form
};

}  // namespace halocline::qcd::device
