// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Device spinor fields as a vector space of the Krylov solvers (solve/vector_space.hpp).
///
/// One kernel carries out a whole list of updates and the dot products that follow them, site by site, so an iteration
/// reads and writes each vector once a call, as on the CPU. Sums are added in double in a fixed order (gpu/sum.cuh),
/// then over the processes by comm::Reduction.

#include "halocline/comm/reduction.hpp"
#include "halocline/gpu/sum.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd::device {

template <class S>
class SpinorSpace {
public:
  using Vector = DeviceSpinor<S>;

  /// Collective: yes.
  SpinorSpace(ContextPtr context, lattice::Subset subset, int columns = 1);

  int columns() const noexcept { return columns_; }
  lattice::Subset subset() const noexcept { return subset_; }
  const ContextPtr& context() const noexcept { return context_; }

  /// All zero.
  Vector create() const;
  void copy(Vector& out, const Vector& in) const;
  void set_zero(Vector& v) const;
  void axpy(std::span<const solve::Scalar> a, const Vector& x, Vector& y) const;
  void scale(std::span<const solve::Scalar> a, Vector& y) const;
  void dot(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const;
  /// Waits where there are dots. Collective: where there are dots.
  solve::FinishedSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                        std::span<const solve::Dot<Vector>> dots) const;

private:
  ContextPtr context_;
  lattice::Subset subset_;
  int columns_;
  struct Work;
  std::shared_ptr<Work> work_;
};

}  // namespace halocline::qcd::device
