// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Restriction to and prolongation from a coarser lattice, between two coarse lattices.
///
/// It does what transfer.hpp does between the fine lattice and the first coarse one. Column (n, chirality) of P at an
/// aggregate of coarse sites is test vector n of that level, cut to the aggregate and to the rows of that chirality:
///
///   (P v)(x) = sum_n phi_n(x) [ v_(n,+)(X) on rows n < N;  v_(n,-)(X) on rows N ... 2 N - 1 ],   x in X
///
/// The columns of an aggregate are orthonormal, P^dagger P = 1. The restriction is P^dagger. Gamma5 stays +1 on the
/// first half of the rows and -1 on the other, so an operator keeps its symmetry on the next level.
///
/// Test vectors are stored in fp16, times a power of two that brings their numbers to about one, or in float:
/// `[site][row / 8][vector][re, im][row mod 8]`. Lanes run over rows, so aggregates may have any extents.
///
/// Flops a site and right-hand side: 16 N N', with the N' test vectors of this level. Bytes a site: 8 N N' in fp16.

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/half.hpp"
#include "halocline/lattice/aggregates.hpp"
#include "halocline/qcd/multigrid/coarse_field.hpp"

namespace halocline::qcd::multigrid {

/// @tparam S  float or core::Half
template <class S>
class CoarseTransfer {
public:
  /// @param aggregates  of the sites of this level
  /// @param vectors     the test vectors in the columns of a field of this level; orthonormalised here
  /// @throws InvalidArgument  for a field of another lattice, or a number of vectors that is not a multiple of 8
  /// @throws core::Error      where the vectors of an aggregate are linearly dependent, on every rank
  /// Collective: yes.  Cost: 16 N N'^2 flops a site.
  CoarseTransfer(std::shared_ptr<const lattice::Aggregates> aggregates, const CoarseField& vectors);

  int vectors() const noexcept { return vectors_; }
  /// Rows of a site of this level.
  int rows() const noexcept { return rows_; }
  const std::shared_ptr<const lattice::Aggregates>& aggregates() const noexcept { return aggregates_; }
  std::int64_t bytes() const noexcept { return data_.size() * static_cast<std::int64_t>(sizeof(S)); }

  /// out = P^dagger in. Collective: no.
  void restrict_to(CoarseField& out, const CoarseField& in) const;
  /// out = P in. Collective: no.
  void prolongate(CoarseField& out, const CoarseField& in) const;

  /// The test vectors as they are stored, at one site: `[row][re, im][vector]`, 4 N N' numbers.
  void at(std::int64_t site, float* numbers) const;
  /// Sites of an aggregate, in the order of lattice::Aggregates.
  const std::vector<std::int64_t>& sites(std::int64_t aggregate) const {
    return sites_[static_cast<std::size_t>(aggregate)];
  }

private:
  void require(const CoarseField& fine, const CoarseField& coarse) const;
  std::int64_t place(std::int64_t site, int group, int vector) const noexcept {
    return ((site * (rows_ / row_group) + group) * vectors_ + vector) * 2 * row_group;
  }

  std::shared_ptr<const lattice::Aggregates> aggregates_;
  int rows_, vectors_;
  std::vector<std::vector<std::int64_t>> sites_;  ///< of each aggregate
  float scale_ = 1;                               ///< a stored number times this is the number
  core::AlignedArray<S> data_;
};

extern template class CoarseTransfer<float>;
extern template class CoarseTransfer<core::Half>;

}  // namespace halocline::qcd::multigrid
