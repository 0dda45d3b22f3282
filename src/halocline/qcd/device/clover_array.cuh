// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Clover blocks on a device, in 72 or 56 reals a site.
///
/// 72 reals are any two hermitian 6x6 matrices (clover/detail/kernels.hpp). The clover term itself, not its inverse,
/// has a common number on the diagonal and, but for that, opposite diagonal colour blocks in each chirality: 28 reals a
/// chirality (1 + 9 + 18) give it back. Fixed point has one float scale a site, and the common diagonal kept apart in
/// it.
///
/// Memory is `[parity][chunk][site]`, as in spinor_array.cuh.

#include "halocline/qcd/clover/detail/kernels.hpp"
#include "halocline/qcd/device/spinor_array.cuh"

namespace halocline::qcd::device {

/// For kernels: the blocks of one parity.
template <class S, int reals>
struct CloverReader {
  using Real = RealOf<S>;
  const typename Storage<S>::Word* data = nullptr;
  const float* scale = nullptr;
  int stride = 0;

  /// A(site) psi
  HALOCLINE_INLINE Spinor<Real> multiply(int site, const Spinor<Real>& psi) const;
};

template <class S>
class DeviceClover {
public:
  /// @param blocks  [parity][site][72] (HostClover); @param reals  72, or 56 where the blocks have that structure
  /// @throws InvalidArgument  56 for blocks that have not (an inverse); other numbers. Collective: no.
  DeviceClover(ContextPtr context, std::span<const double> blocks, int reals);

  int reals() const noexcept { return reals_; }
  template <int r>
  CloverReader<S, r> reader(int parity) const noexcept;
  static std::int64_t bytes(const Box& box, int reals);

private:
  ContextPtr context_;
  int reals_;
  gpu::DeviceArray<std::byte> memory_;
};

/// out = A in on one parity; out may be in. Enqueued.
template <class S>
void multiply(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceClover<S>& blocks, int parity);

}  // namespace halocline::qcd::device

#include "halocline/qcd/device/detail/clover_access.cuh"
