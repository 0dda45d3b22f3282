// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Links and inverse clover blocks in the order of the passes, for one way of storing them.
///
/// For arithmetic in half both are normalised by p, the power of two that brings p / (2 (m0 + 1 + 3 nu/xi0)) between
/// 1/2 and 1: links are divided by p and blocks multiplied by p. Only their products matter. So no sum over the eight
/// directions is much larger than the field, and a large mass does not make the blocks vanish.

#include <array>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/half.hpp"
#include "halocline/lattice/domain_layout.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/schwarz/detail/arithmetic.hpp"

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::schwarz {

template <class S>
struct Coefficients {
  int link_reals = 18;
  core::AlignedArray<S> links;   ///< `[domain][tile][mu][row][column][re, im][lane]`, with c_mu, without phases
  core::AlignedArray<S> blocks;  ///< `[domain][tile][72][lane]`, A^-1 / 2; empty without a clover term
  float number = 0;              ///< 1 / (2 A) without a clover term
  std::array<float, 4> row_factor{1, 1, 1, 1};

  /// @param canonical_inverse  clover::canonical_inverse, or null without a clover term
  Coefficients(const lattice::DomainLayout& layout, const GaugeField& gauge, const WilsonCloverAction& action,
               const std::vector<double>* canonical_inverse, int link_reals,
               Arithmetic arithmetic = Arithmetic::single);
  /// The numbers of `other`, reordered for another layout of the same box with as many lanes.
  Coefficients(const lattice::DomainLayout& layout, const Coefficients& other,
               const lattice::DomainLayout& other_layout);
};

extern template struct Coefficients<float>;
extern template struct Coefficients<core::Half>;

}  // namespace halocline::qcd::schwarz
