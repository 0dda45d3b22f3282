// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The part of a Dirac operator that even-odd preconditioning needs, on the CPU and on a device. Includes no header
/// of either back end.

#include <concepts>

namespace halocline::qcd {

/// out = hop_scale [B] hop(in) + add_scale [A] add, where B and A are site terms or absent.
/// @tparam Field  of the back end;  @tparam Term  the site terms of the back end, such as SiteTerm
template <class Field, class Term>
struct DiracTerms {
  double hop_scale = 1;
  const Term* hop_term = nullptr;  ///< B
  const Field* add = nullptr;      ///< holds the target parity
  double add_scale = 1;
  const Term* add_term = nullptr;  ///< A
};

/// An operator for even-odd preconditioning, on any back end.
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
