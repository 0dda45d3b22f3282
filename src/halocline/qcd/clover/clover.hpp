// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The site-diagonal part of the Wilson-clover operator, and its inverse.
///
/// A(x) = (m0 + 1 + 3 nu/xi0) + sum_{mu<nu} c_munu (i/2) sigma_munu F_munu(x). With sigma_munu = (i/2)[gamma_mu,
/// gamma_nu] = i gamma_mu gamma_nu the sum is -1/2 c_munu gamma_mu gamma_nu F_munu: hermitian, and block-diagonal in
/// chirality, so a site is two hermitian 6x6 matrices (Sheikholeslami and Wohlert, Nucl. Phys. B 259 (1985) 572).

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/lattice/tile_layout.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::clover {

/// Two hermitian 6x6 matrices a site, 72 reals, `[parity][tile][72][lane]`; site/clover_block.hpp has their order.
template <class T>
struct Blocks {
  std::shared_ptr<const lattice::TileLayout> layout;
  std::array<core::AlignedArray<T>, 2> data;

  const T* parity(int p) const noexcept { return data[p].data(); }
};

/// A on all sites.
/// @param gauge  with ghosts filled
/// Collective: no.  Cost: six field strengths a site, 576 bytes a site.
Blocks<double> clover_term(std::shared_ptr<const lattice::TileLayout> layout, const GaugeField& gauge,
                           const WilsonCloverAction& action);

/// A^-1 on all sites, or (A^2 + square)^-1: with square = mu^2 a factor of (A + i mu gamma5)^-1, and with mu^2 -
/// epsilon^2 one of the inverse of a doublet (dirac/site_term.hpp).
/// @throws Error  on every rank, if a block is singular to double precision; gives the reciprocal condition number
/// Collective: yes.
Blocks<double> inverse(const Blocks<double>& blocks, std::optional<double> square = {});

/// A on the sites of the local box in canonical order: 72 reals a site, in the order of site/clover_block.hpp, at 72
/// times the canonical local index.
/// @param gauge  with ghosts filled
/// Collective: no.
std::vector<double> canonical_term(const GaugeField& gauge, const WilsonCloverAction& action);

/// A^-1 on the sites of the local box in canonical order, for layouts other than TileLayout: 72 reals a site, in the
/// order of site/clover_block.hpp, at 72 times the canonical local index.
/// @param gauge  with ghosts filled
/// @throws Error  as inverse() does
/// Collective: yes.
std::vector<double> canonical_inverse(const GaugeField& gauge, const WilsonCloverAction& action);
/// The same from canonical_term, which becomes the result. @param geometry  of the links
std::vector<double> canonical_inverse(const lattice::Geometry4& geometry, std::vector<double> term);

/// The same blocks in another precision and in `layout`, which has the order of the blocks (TileLayout::same_order).
/// Collective: no.
template <class T>
Blocks<T> convert(const Blocks<double>& blocks, const std::shared_ptr<const lattice::TileLayout>& layout);

}  // namespace halocline::qcd::clover
