// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The algorithms of even-odd preconditioning, written once for the operators of all actions, on the CPU and on
/// devices: the Schur complement of D on one parity, its right-hand side, and the way back to the full solution.
///
/// Let e be the parity that is solved for, o the other one, and H = -1/2 hop. Then
///   asymmetric:  S = A_ee - H_eo A_oo^-1 H_oe,          S x_e = b_e - H_eo A_oo^-1 b_o
///   symmetric:   S = 1 - A_ee^-1 H_eo A_oo^-1 H_oe,     S x_e = A_ee^-1 (b_e - H_eo A_oo^-1 b_o)
/// and x_o = A_oo^-1 (b_o - H_oe x_e). An application consists of two hops. The pass of a hop also multiplies by the
/// inverse block and adds the source vector, while the site is in registers.

#include "halocline/qcd/dirac/even_odd_operator.hpp"

namespace halocline::qcd {

enum class SchurForm { symmetric, asymmetric };

namespace even_odd {

/// The terms of a hop that multiply its result by `scale` A^-1.
template <EvenOddOperator D>
typename D::Terms with_inverse(D& d, int parity, bool dagger, double scale) {
  typename D::Terms terms;
  terms.hop_term = d.inverse_site(parity, dagger);
  terms.hop_scale = terms.hop_term != nullptr ? scale : scale / d.diagonal();
  return terms;
}

/// The terms of the second hop of S or S^dagger, except for the vector `in` to which the hop is added.
template <EvenOddOperator D>
typename D::Terms second_terms(D& d, SchurForm form, int parity, bool dagger) {
  // H_eo A_oo^-1 H_oe = 1/4 hop A^-1 hop
  if (form == SchurForm::symmetric && !dagger) return with_inverse(d, parity, false, -0.25);
  typename D::Terms terms;
  terms.hop_scale = -0.25;
  if (form == SchurForm::asymmetric) {
    terms.add_term = d.site(parity, dagger);
    terms.add_scale = terms.add_term != nullptr ? 1.0 : d.diagonal();
  }
  return terms;
}

/// out = S in, or S^dagger in, on one parity.
/// @param other, same  work fields on the other and on this parity; `same` is for the adjoint of the symmetric form
/// @param more         called with the terms of the last hop, so that the caller can add to them
template <EvenOddOperator D, class More>
void apply(D& d, SchurForm form, int parity, bool dagger, typename D::Field& out, const typename D::Field& in,
           typename D::Field& other, typename D::Field& same, const More& more) {
  const typename D::Field* first = &in;
  if (form == SchurForm::symmetric && dagger) {
    d.multiply_inverse_diagonal(same, in, parity, true);
    first = &same;
  }
  d.hop(other, *first, 1 - parity, dagger, with_inverse(d, 1 - parity, dagger, 1.0));
  typename D::Terms terms = second_terms(d, form, parity, dagger);
  terms.add = &in;
  more(terms);
  d.hop(out, other, parity, dagger, terms);
}

/// Computes the right-hand side of S from that of D. @param source  full field;  @param rhs  on `parity`
template <EvenOddOperator D>
void prepare(D& d, SchurForm form, int parity, typename D::Field& rhs, const typename D::Field& source,
             typename D::Field& other) {
  d.multiply_inverse_diagonal(other, source, 1 - parity, false);
  typename D::Terms terms;
  terms.hop_scale = 0.5;
  terms.add = &source;
  d.hop(rhs, other, parity, false, terms);
  if (form == SchurForm::symmetric) d.multiply_inverse_diagonal(rhs, rhs, parity, false);
}

/// Computes the other parity of the full `solution` of D from `half`, its part on this parity, and the full `source`.
template <EvenOddOperator D>
void reconstruct(D& d, int parity, typename D::Field& solution, const typename D::Field& half,
                 const typename D::Field& source, typename D::Field& other) {
  typename D::Terms terms;
  terms.hop_scale = 0.5;
  terms.add = &source;
  d.hop(other, half, 1 - parity, false, terms);
  d.multiply_inverse_diagonal(solution, other, 1 - parity, false);
}

}  // namespace even_odd
}  // namespace halocline::qcd
