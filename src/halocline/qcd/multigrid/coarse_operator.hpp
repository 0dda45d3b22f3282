// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The operator on a coarse lattice: a dense block at each site and one for each of the eight neighbours.
///
///   (D_c v)(X) = S(X) v(X) + sum_mu [ L_mu(X) v(X + mu) + Gamma5 L_mu(X - mu)^dagger Gamma5 v(X - mu) ]
///
/// Gamma5 D_c is hermitian because Gamma5 D is and the test vectors keep the chiralities apart. So only S and the four
/// forward blocks L_mu are stored, five matrices of 2 N x 2 N a site. A boundary phase of the fine lattice is part of
/// the blocks that cross the edge. A twisted mass adds i mu Gamma5 to every S, and then
/// D_c(mu)^dagger = Gamma5 D_c(-mu) Gamma5 = Gamma5 D_c(mu) Gamma5 - 2 i mu Gamma5.
///
/// An application reads each block once. It takes the forward product for its own site, and the adjoint product for the
/// site in front of it, which waits in a buffer of its own until all sites are done. So threads never write to the same
/// place, and the order of every sum is fixed. Blocks are `[site][S, L_x, L_y, L_z, L_t][row / 16][column][re, im]
/// [row mod 16]`: lanes run over the rows of a block, so the extents of the coarse lattice do not matter.
///
/// Flops a site and right-hand side: 9 x 8 (2 N)^2. Bytes a site: 5 x 8 (2 N)^2 in float, half of that in fp16.

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/half.hpp"
#include "halocline/lattice/aggregates.hpp"
#include "halocline/qcd/multigrid/coarse_field.hpp"

namespace halocline::comm {
class HaloExchange;
}

namespace halocline::qcd::multigrid {

/// The blocks of a coarse operator on one process.
/// @tparam S  float or core::Half
template <class S>
class CoarseBlocks {
public:
  static constexpr int matrices = 5;  ///< self, then L_x, L_y, L_z, L_t

  /// All zero. @param rows  2 N. Collective: no.
  CoarseBlocks(std::shared_ptr<const lattice::Geometry4> geometry, int rows);

  const std::shared_ptr<const lattice::Geometry4>& geometry() const noexcept { return geometry_; }
  int rows() const noexcept { return rows_; }
  std::int64_t bytes() const noexcept { return data_.size() * static_cast<std::int64_t>(sizeof(S)); }
  /// First number of a matrix; `which` is 0 for S, 1 + mu for L_mu.
  const S* matrix(std::int64_t site, int which) const noexcept { return data_.data() + offset(site, which); }
  /// All numbers, `[site]` first.
  std::span<S> span() noexcept { return data_.span(); }
  std::span<const S> span() const noexcept { return data_.span(); }
  void set(std::int64_t site, int which, int row, int column, std::complex<float> value) noexcept;
  /// Sets the twisted mass: S = S(0) + i mu Gamma5. S(0) has a real diagonal, because Gamma5 S(0) is hermitian, so the
  /// twisted mass is the imaginary part of the diagonal and replaces an earlier one. Collective: no.
  void twist(double mu) noexcept;
  double mu() const noexcept { return mu_; }
  std::complex<float> get(std::int64_t site, int which, int row, int column) const noexcept;
  /// Place of the real part of an entry within a matrix; the imaginary part follows 16 numbers later.
  static constexpr std::int64_t place(int row, int column, int rows) noexcept {
    return (std::int64_t{row / 16} * rows + column) * 32 + row % 16;
  }

private:
  std::int64_t offset(std::int64_t site, int which) const noexcept {
    return (site * matrices + which) * 2 * rows_ * rows_;
  }

  std::shared_ptr<const lattice::Geometry4> geometry_;
  int rows_;
  double mu_ = 0;
  core::AlignedArray<S> data_;
};

/// D_c for fields of a number of columns.
template <class S>
class CoarseOperator {
public:
  /// @param transport  of the halo exchange, by name; empty for the default. Collective: yes.
  CoarseOperator(std::shared_ptr<const CoarseBlocks<S>> blocks, int columns, const std::string& transport = "");
  ~CoarseOperator();
  CoarseOperator(CoarseOperator&&) noexcept;

  int columns() const noexcept { return columns_; }
  const CoarseBlocks<S>& blocks() const noexcept { return *blocks_; }

  /// out = D_c in; different fields. Collective: yes where an axis is split.
  void apply(CoarseField& out, const CoarseField& in);
  /// out = D_c^dagger in = Gamma5 D_c(-mu) Gamma5 in. Collective: yes where an axis is split.
  void apply_dagger(CoarseField& out, const CoarseField& in);

private:
  void run(CoarseField& out, const CoarseField& in);
  void send(const CoarseField& in);

  std::shared_ptr<const CoarseBlocks<S>> blocks_;
  int columns_;
  std::shared_ptr<const lattice::SiteNeighbours> neighbours_;
  core::AlignedArray<float> ahead_;  ///< adjoint products, [site][mu][column][rows as in a field]
  std::unique_ptr<comm::HaloExchange> halo_;
};

extern template class CoarseBlocks<float>;
extern template class CoarseBlocks<core::Half>;
extern template class CoarseOperator<float>;
extern template class CoarseOperator<core::Half>;

}  // namespace halocline::qcd::multigrid
