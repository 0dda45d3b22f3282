// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Clover blocks on a device, in 72 or 56 reals a site.
///
/// 72 reals hold any two hermitian 6x6 matrices (site/clover_block.hpp). In each chirality the clover term is
/// c + sum_k sigma_k x F_k, with the Pauli matrices sigma_k and three hermitian colour matrices F_k. Its diagonal
/// colour blocks are c + M and c - M, and the block below the diagonal is a general matrix L. So 28 reals determine a
/// chirality. They are, in this order: c, the diagonal of M (M need not be traceless), re and im of the entries (1,0)
/// (2,0) (2,1) of M, and L row by row. The inverse does not have this structure.
///
/// In fixed point a site has two floats. The first is the mean of all twelve diagonal entries. It is subtracted from
/// the diagonal (from c, with 56 reals). The second is the largest modulus of the resulting numbers, and the stored
/// integers are fractions of it.
///
/// Memory is `[parity][chirality][chunk][site]`, as in spinor_array.cuh, then the pairs of floats `[parity][site][2]`.

#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/qcd/site/clover_block.hpp"

namespace halocline::qcd::device {

/// For kernels: read access to the blocks of one parity.
template <class S, int reals>
struct CloverReader {
  using Real = RealOf<S>;
  const typename Storage<S>::Word* data = nullptr;
  const float* scale = nullptr;  ///< fixed point only: mean diagonal, largest
  int stride = 0;

  /// A(site) psi. Flops: 504 from 72 reals, 516 from 56; in fixed point at most one multiply-add more for each
  /// real.
  HALOCLINE_INLINE Spinor<Real> multiply(int site, const Spinor<Real>& psi) const;
};

template <class S>
class DeviceClover {
public:
  /// @param blocks  [parity][site][72] (HostClover); @param reals  72, or 56 for blocks with that structure
  /// @throws InvalidArgument  for another number of reals; for a wrong length; for 56 reals and blocks that miss the
  ///                          structure (such as an inverse) by more than 1e-12 of the largest entry. Collective: no.
  DeviceClover(ContextPtr context, std::span<const double> blocks, int reals);

  int reals() const noexcept { return reals_; }
  const ContextPtr& context() const noexcept { return context_; }
  template <int r>
  CloverReader<S, r> reader(int parity) const noexcept {
    assert(r == reals_);
    using Word = typename Storage<S>::Word;
    const std::int64_t stride = padded(context_->box.sites);
    CloverReader<S, r> reader;
    reader.data = reinterpret_cast<const Word*>(memory_.data()) + stride * r * parity;
    if constexpr (Storage<S>::scaled)
      reader.scale =
          reinterpret_cast<const float*>(memory_.data() + stride * 2 * r * sizeof(Word)) + stride * 2 * parity;
    reader.stride = static_cast<int>(stride);
    return reader;
  }
  static std::int64_t bytes(const Box& box, int reals);

private:
  ContextPtr context_;
  int reals_;
  gpu::DeviceArray<std::byte> memory_;
};

/// For kernels: blocks of either size, or none.
template <class S>
struct AnyBlocks {
  CloverReader<S, 72> full{};
  CloverReader<S, 56> packed{};
  int reals = 0;

  /// @param clover  null for none
  static AnyBlocks of(const DeviceClover<S>* clover, int parity) noexcept {
    AnyBlocks blocks;
    if (clover == nullptr) return blocks;
    blocks.reals = clover->reals();
    if (blocks.reals == 56)
      blocks.packed = clover->template reader<56>(parity);
    else
      blocks.full = clover->template reader<72>(parity);
    return blocks;
  }
  HALOCLINE_INLINE Spinor<RealOf<S>> multiply(int site, const Spinor<RealOf<S>>& psi) const {
    return reals == 56 ? packed.multiply(site, psi) : full.multiply(site, psi);
  }
};

/// out = A in on one parity, all columns; out may be in. Enqueued.
/// @throws InvalidArgument  for fields that differ in columns or context, or that do not hold the parity
template <class S>
void multiply(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceClover<S>& blocks, int parity);

extern template class DeviceClover<double>;
extern template class DeviceClover<float>;
extern template class DeviceClover<Fixed16>;
extern template class DeviceClover<Fixed8>;

}  // namespace halocline::qcd::device

#include "halocline/qcd/device/detail/clover_access.cuh"
