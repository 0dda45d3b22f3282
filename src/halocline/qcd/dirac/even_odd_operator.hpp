// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What even-odd preconditioning needs of a Dirac operator, on the CPU and on a device. No header of either back end.

#include <concepts>

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

/// What even-odd preconditioning needs of an operator, on any back end.
template <class D>
concept EvenOddOperator = requires(D& d, typename D::Field& out, const typename D::Field& in, int parity, bool dagger,
                                   const typename D::Terms& terms) {
  { d.columns() } -> std::convertible_to<int>;
  { d.diagonal() } -> std::convertible_to<double>;
  { d.site(parity, dagger) } -> std::same_as<const typename D::Term*>;
  { d.inverse_site(parity, dagger) } -> std::same_as<const typename D::Term*>;
  d.hop(out, in, parity, dagger, terms);
  d.multiply_inverse_diagonal(out, in, parity, dagger);
};

}  // namespace halocline::qcd
