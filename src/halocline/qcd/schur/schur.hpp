// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Even-odd preconditioning: the Schur complement of D on one parity.
///
/// With e the parity that is solved for, o the other, and H = -1/2 hop,
///   asymmetric:  S = A_ee - H_eo A_oo^-1 H_oe,          S x_e = b_e - H_eo A_oo^-1 b_o
///   symmetric:   S = 1 - A_ee^-1 H_eo A_oo^-1 H_oe,     S x_e = A_ee^-1 (b_e - H_eo A_oo^-1 b_o)
/// and x_o = A_oo^-1 (b_o - H_oe x_e). An application is two hops, each finished in its own pass: the clover inverse
/// and the sum with the source vector are applied while the site is in registers.

#include "halocline/qcd/wilson/wilson_clover.hpp"

namespace halocline::qcd {

enum class SchurForm { symmetric, asymmetric };

template <class T>
class Schur {
public:
  using Field = SpinorField<T>;

  /// @param parity  the one that is solved for: 0 even, 1 odd
  /// Works on fields of d.columns() columns. `d` is referred to and must live as long as this.
  explicit Schur(const WilsonClover<T>& d, SchurForm form = SchurForm::symmetric, int parity = 0);

  SchurForm form() const noexcept { return form_; }
  lattice::Subset subset() const noexcept { return static_cast<lattice::Subset>(parity_); }
  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept { return d_->layout(); }

  int columns() const noexcept { return d_->columns(); }

  /// out = S in on fields of subset(), not the same field.
  /// @throws InvalidArgument  for a field of another subset or number of columns
  /// Collective: yes.  Cost: 2 hops a site of the parity and column, plus 504 flops a clover multiplication.
  void apply(Field& out, const Field& in);
  /// out = S^dagger in
  void apply_dagger(Field& out, const Field& in);

  /// The right-hand side of S from that of D: full field in, subset() out. Collective: yes.
  void prepare(Field& rhs, const Field& source);
  /// Completes x: fills the full `solution` from its `half` on subset() and the full source. Collective: yes.
  void reconstruct(Field& solution, const Field& half, const Field& source);

private:
  const WilsonClover<T>* d_;
  SchurForm form_;
  int parity_;
  Field other_;  ///< work on the other parity
  Field same_;   ///< work on the solved parity, for the adjoint of the symmetric form
};

extern template class Schur<float>;
extern template class Schur<double>;

}  // namespace halocline::qcd
