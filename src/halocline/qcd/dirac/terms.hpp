// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What one application of the hopping term may do besides, in the same pass where the back end can.

namespace halocline::qcd {

/// out = hop_scale [B] hop(in) + add_scale [A] add, where B and A are blocks of sites or absent.
/// @tparam Field  of the back end;  @tparam Term  blocks of sites of the back end, such as SiteTerm
template <class Field, class Term>
struct DiracTerms {
  double hop_scale = 1;
  const Term* hop_term = nullptr;  ///< B
  const Field* add = nullptr;      ///< holds the target parity
  double add_scale = 1;
  const Term* add_term = nullptr;  ///< A
};

}  // namespace halocline::qcd
