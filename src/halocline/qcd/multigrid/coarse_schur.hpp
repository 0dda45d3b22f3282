// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Even-odd preconditioning of a coarse operator, D_c = S + H with the self blocks S and the hop H between parities.
///
///   (1 - S_e^-1 H_eo S_o^-1 H_oe) x_e = S_e^-1 (b_e - H_eo S_o^-1 b_o),   x_o = S_o^-1 (b_o - H_oe x_e)
///
/// The parity of a coarse site is that of the sum of its global coordinates. Every extent of the coarse lattice must be
/// even, and every process must hold as many even sites as odd ones: `possible()`. A Krylov solver on x_e needs about
/// half the iterations, on vectors of half the length.
///
/// An application reads each link block twice, once for either product: on the target sites for the forward one, on the
/// others for the adjoint one.

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"

namespace halocline::qcd::multigrid {

/// Inverses of the self blocks, `[site][block]` in the order of CoarseBlocks.
template <class S>
class InverseBlocks {
public:
  /// @throws core::Error  if a block is singular, on every rank. Collective: yes.  Cost: 8 (2 N)^3 flops a site.
  explicit InverseBlocks(const CoarseBlocks<S>& blocks);
  const S* block(std::int64_t site) const noexcept { return data_.data() + site * numbers_; }
  std::int64_t bytes() const noexcept { return data_.size() * static_cast<std::int64_t>(sizeof(S)); }

private:
  std::int64_t numbers_;
  core::AlignedArray<S> data_;
};

template <class S>
class CoarseSchur {
public:
  /// Whether a coarse lattice can be divided into parities.
  static bool possible(const lattice::Geometry4& coarse);

  /// @param transport  of the halo exchange, by name; empty for the default. Collective: yes.
  CoarseSchur(std::shared_ptr<const CoarseBlocks<S>> blocks, std::shared_ptr<const InverseBlocks<S>> inverse,
              int columns, const std::string& transport = "");
  ~CoarseSchur();
  CoarseSchur(CoarseSchur&&) noexcept;

  /// The space of x_e.
  CoarseSpace space() const;

  /// out = (1 - S_e^-1 H_eo S_o^-1 H_oe) in, on fields of space(). Collective: yes where an axis is split.
  void apply(CoarseField& out, const CoarseField& in);
  /// The right-hand side for x_e. @param b  on the whole coarse lattice. Collective: yes where an axis is split.
  void prepare(CoarseField& even, const CoarseField& b);
  /// x on the whole coarse lattice. Collective: yes where an axis is split.
  void reconstruct(CoarseField& x, const CoarseField& even, const CoarseField& b);

  /// The residual of D_c on the whole lattice that belongs to a residual of the Schur complement: S_e even on the even
  /// sites, and zero on the others. So whole = D_c e has e_e = Schur^-1 even. Collective: no.
  void spread(CoarseField& whole, const CoarseField& even) const;
  /// The even sites of a field on the whole lattice. Collective: no.
  void even_part(CoarseField& even, const CoarseField& whole) const;

private:
  struct Step;
  void run(const Step& step);
  void send(const CoarseField& in, int parity);

  std::shared_ptr<const CoarseBlocks<S>> blocks_;
  std::shared_ptr<const InverseBlocks<S>> inverse_;
  int columns_;
  lattice::SiteNeighbours neighbours_;
  std::array<std::vector<std::int64_t>, 2> sites_;  ///< of each parity
  std::vector<std::int64_t> rank_;                  ///< of a site among those of its parity
  std::vector<int> parity_;                         ///< of a site
  CoarseField odd_;                                 ///< work
  core::AlignedArray<float> ahead_;                 ///< adjoint products of one parity, [rank][mu][column][rows]
  std::unique_ptr<comm::HaloExchange> halo_;
};

extern template class InverseBlocks<float>;
extern template class InverseBlocks<core::Half>;
extern template class CoarseSchur<float>;
extern template class CoarseSchur<core::Half>;

}  // namespace halocline::qcd::multigrid
