// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links on a device, in 18, 12 or 8 reals.
///
/// 12 reals are the first two rows; the third row is the conjugate of their cross product. With 8 reals, row 0 is a
/// unit vector in C^3 and is stored as the five stereographic coordinates of a point of S^5. Row 1 is stored as the
/// three coordinates of a point of S^3, in a frame orthogonal to row 0. This frame is the image of the other two axes
/// under the complex reflection that carries the pole to row 0. Each projection uses the pole that is farther away, so
/// all numbers lie in [-1, 1] and no denominator is below one. The lowest bit of one number of each row stores the
/// pole. The encoding has no singular matrices (detail/link_compression.cuh).
///
/// The largest error of a real or imaginary part, over random matrices and matrices at which a chart could fail:
///
///   | storage | 18 reals | 12 reals | 8 reals |
///   |---------|----------|----------|---------|
///   | double  | 0        | 6e-16    | 1.2e-15 |
///   | float   | 3.0e-8   | 1.2e-7   | 3.9e-7  |
///   | fixed16 | 1.5e-5   | 4.1e-5   | 1.2e-4  |
///   | fixed8  | 3.9e-3   | 1.0e-2   | 3.1e-2  |
///
/// A matrix read from 8 reals is in SU(3) to the rounding of the arithmetic (1e-6), in fixed point too.
///
/// Memory is `[parity][direction][chunk][site]`, as in spinor_array.cuh. For example, a fixed16 link of 12 reals is one
/// chunk of 16 bytes and one of 8. Flops of a load, a reciprocal counted as one: 42 from 12 reals, 118 from 8.

#include "halocline/qcd/device/host_data.hpp"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::device {

/// For kernels: read access to the links of the sites of one parity.
template <class S, int reals>
struct LinkReader {
  using Real = RealOf<S>;
  const typename Storage<S>::Word* data = nullptr;
  int stride = 0;

  /// The matrix of direction d at a site, without coefficient and boundary phase.
  template <detail::Read read = detail::Read::constant>
  HALOCLINE_INLINE Su3<Real> load(int site, int d) const;
};
/// Hopping coefficients and boundary phases (HostLinks), in the arithmetic of the kernel.
template <class Real>
struct LinkFactors {
  Real coefficient[4];
  core::Complex<Real> edge[8];  ///< includes the coefficient
  bool trivial_edge[8];         ///< whether the edge factor is the coefficient alone
  bool unit[4];                 ///< whether the coefficient is one
};

template <class S>
class DeviceLinks {
public:
  using Real = RealOf<S>;

  /// @param reals  18, 12 or 8
  /// @throws InvalidArgument  for another number of reals or links of another box. With 12 or 8 reals or fixed point,
  ///                          for links that are not unitary with determinant one (to 1e-12 in double, to 1e-5
  ///                          otherwise). On every rank. Collective: no.
  DeviceLinks(ContextPtr context, const HostLinks& links, int reals);

  int reals() const noexcept { return reals_; }
  const ContextPtr& context() const noexcept { return context_; }
  template <int r>
  LinkReader<S, r> reader(int parity) const noexcept {
    assert(r == reals_);
    const int stride = padded(context_->box.sites);
    return {reinterpret_cast<const typename Storage<S>::Word*>(memory_.data()) + std::int64_t{stride} * 8 * r * parity,
            stride};
  }
  const LinkFactors<RealOf<S>>& factors() const noexcept { return factors_; }
  static std::int64_t bytes(const Box& box, int reals);

private:
  ContextPtr context_;
  int reals_;
  LinkFactors<RealOf<S>> factors_;
  gpu::DeviceArray<std::byte> memory_;
};

/// Copies matrices [face][site][3][3][re, im] of one box, any number of faces, to rows of records on the device:
/// [face][piece][site], of `reals` reals each. Enqueued; the matrices have been read when it returns. Collective: no.
template <class S>
void upload_links(Context& context, std::byte* memory, std::span<const double> matrices, int reals);

extern template class DeviceLinks<double>;
extern template class DeviceLinks<float>;
extern template class DeviceLinks<Fixed16>;
extern template class DeviceLinks<Fixed8>;

}  // namespace halocline::qcd::device

#include "halocline/qcd/device/detail/link_access.cuh"
