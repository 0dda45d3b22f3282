// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Restriction to and prolongation from the coarse lattice of aggregates.
///
/// Column (n, chirality) of P at an aggregate is test vector n, cut to the aggregate and to that chirality. The columns
/// of an aggregate are orthonormal, P^dagger P = 1, so P acts as
///
///   (P v)(x) = sum_n phi_n(x) [ v_(n,+)(X) on spins 0, 1;  v_(n,-)(X) on spins 2, 3 ],   x in X
///
/// and the restriction of a residual is R r = P^dagger A r: the smoother works on the system of unit diagonal, D' x = r
/// with D' = A^-1 D and r = A^-1 b, and the coarse operator is D_c = P^dagger D P. The product with the clover term A
/// costs no pass of its own.
///
/// Test vectors are stored in fp16, times a power of two that brings their numbers to about one, or in float:
/// `[domain][tile][vector][24][lane]`, in the layout of the Schwarz preconditioner. A restriction or prolongation reads
/// them once for all right-hand sides.
///
/// Flops a site and right-hand side: 2 N x 48, and 504 for A. Bytes a site: 48 N in fp16, 96 N in float.

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/half.hpp"
#include "halocline/lattice/aggregates.hpp"
#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/multigrid/coarse_field.hpp"

namespace halocline::qcd::multigrid {

using FineField = lattice::DomainField<float>;

/// A in the order of a domain layout.
struct DomainClover {
  core::AlignedArray<float> blocks;  ///< `[domain][tile][72][lane]`; empty without a clover term
  float number = 0;                  ///< A without a clover term

  /// @param canonical  clover::canonical_term, or null without a clover term
  DomainClover(const lattice::DomainLayout& layout, const std::vector<double>* canonical, double diagonal);
};

/// @tparam S  float or core::Half
template <class S>
class Transfer {
public:
  /// @param layout      of the fine fields; an aggregate is one domain or a box of domains
  /// @param aggregates  of the same lattice
  /// @param vectors     fields with the test vectors in their columns, equally many in each; orthonormalised here
  /// @param kept        how many columns P has for each chirality; 0: as many as vectors. Where there are more vectors,
  ///                    the leading left singular vectors on the aggregate are kept (arXiv:2505.14399).
  /// @throws InvalidArgument  for aggregates that cut domains, or a number of vectors that is not a multiple of 8
  /// @throws core::Error      where the vectors of an aggregate are linearly dependent
  /// Collective: yes.  Cost: 2 x 48 N^2 flops a site; with K > N vectors 48 K (K + 2 N) more, and two eigenproblems of
  /// K x K numbers an aggregate.
  Transfer(std::shared_ptr<const lattice::DomainLayout> layout, std::shared_ptr<const lattice::Aggregates> aggregates,
           std::span<const FineField> vectors, int kept = 0);

  int vectors() const noexcept { return vectors_; }
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept { return layout_; }
  const std::shared_ptr<const lattice::Aggregates>& aggregates() const noexcept { return aggregates_; }
  std::int64_t bytes() const noexcept { return data_.size() * static_cast<std::int64_t>(sizeof(S)); }

  /// out = P^dagger A in, or P^dagger in where `clover` is null. Collective: no.
  void restrict_to(CoarseField& out, const FineField& in, const DomainClover* clover) const;
  /// out = P in, or out += P in. Collective: no.
  void prolongate(FineField& out, const CoarseField& in, bool add = false) const;

  /// Test vector n as it is stored, at one site: 24 numbers `[colour][spin][re, im]`.
  void at(const lattice::DomainSite& site, int vector, float* numbers) const;

private:
  template <int V>
  void restrict_lanes(CoarseField& out, const FineField& in, const DomainClover* clover) const;
  template <int V>
  void prolongate_lanes(FineField& out, const CoarseField& in, bool add) const;
  void require(const FineField& fine, const CoarseField& coarse) const;

  std::shared_ptr<const lattice::DomainLayout> layout_;
  std::shared_ptr<const lattice::Aggregates> aggregates_;
  int vectors_;
  std::vector<std::vector<std::int32_t>> domains_;  ///< of each aggregate
  float scale_;                                     ///< a stored number times this is the number
  core::AlignedArray<S> data_;
};

extern template class Transfer<float>;
extern template class Transfer<core::Half>;

}  // namespace halocline::qcd::multigrid
