// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Conversion of fields between the floats outside a preconditioner of 16 bits and its own numbers.
///
/// A column is multiplied by a power of two on its way in and by the inverse on its way out, so that its largest number
/// leaves room on both sides of the range of 16 bits. A power of two adds no rounding. For arithmetic in float, the
/// largest number is brought between 8 and 16. For arithmetic in half, sums and products must fit as well, and the
/// largest number is brought between 1/2 and 1: the middle of the range, 14 powers of two above the smallest normal
/// number and 16 below the largest (docs/design/0007-schwarz.md derives how much room K may need).
///
/// With the doubled layout, one permutation of a full register for each number makes an inner tile of two outer ones,
/// and another takes it apart. With the same layout on both sides, numbers are converted in their places.

#include <cstdint>
#include <memory>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/schwarz/detail/arithmetic.hpp"

namespace halocline::qcd::schwarz {

class HalfBorder {
public:
  using Outer = lattice::DomainField<float>;
  using Inner = lattice::DomainField<core::Half>;

  /// @param inner  the outer layout or its double
  HalfBorder(std::shared_ptr<const lattice::DomainLayout> outer, const ArithmeticChoice& inner);

  /// The power of two for each column of the field; 1 for a column of zeros, or one that is not finite. The same on all
  /// processes, for any number of threads. Collective: yes.  Cost: 96 bytes a site and column.
  std::vector<float> scales(const Outer& in) const;
  /// to = scale[column] * from, rounded. Collective: no.  Cost: 144 bytes a site and column.
  void demote(Inner& to, const Outer& from, const std::vector<float>& scale) const;
  /// to = from / scale[column]. Collective: no.  Cost: as demote.
  void promote(Outer& to, const Inner& from, const std::vector<float>& scale) const;

private:
  static constexpr int inner_lanes = core::native_lanes<core::Half>;
  /// The outer tiles that a tile consists of.
  struct Pair {
    std::int32_t first, second;
  };

  std::shared_ptr<const lattice::DomainLayout> outer_;
  int top_;                  ///< the largest number is brought to at most 2^top_
  std::vector<Pair> pairs_;  ///< by inner tile of a domain; empty if the layouts are the same
  alignas(
      64) std::int16_t together_[inner_lanes]{};   ///< place in the first tile's lanes and the second's, by inner lane
  alignas(64) std::int16_t apart_[inner_lanes]{};  ///< the other way round
};

}  // namespace halocline::qcd::schwarz
