// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Even-odd preconditioning on the CPU: the Schur complement of D on one parity (even_odd.hpp).

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/schur/even_odd.hpp"

namespace halocline::qcd {

template <class T>
class Schur final : public SpinorOperator<T> {
public:
  using typename SpinorOperator<T>::Field;

  /// @param d       referred to; must outlive this object
  /// @param parity  the parity that is solved for: 0 even, 1 odd
  /// Works on fields of d.columns() columns.
  explicit Schur(const DiracOperator<T>& d, SchurForm form = SchurForm::symmetric, int parity = 0);

  SchurForm form() const noexcept { return form_; }
  lattice::Subset subset() const noexcept { return static_cast<lattice::Subset>(parity_); }
  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept { return d_->layout(); }

  int columns() const noexcept { return d_->columns(); }

  /// out = S in, on two different fields of subset().
  /// @throws InvalidArgument  for a field of another subset, layout or number of columns
  /// Collective: yes.  Cost for each site of the parity and column: 2 hops, and the blocks (504 flops a clover block).
  void apply(Field& out, const Field& in) const override { apply(out, in, false); }
  /// out = S^dagger in
  void apply_dagger(Field& out, const Field& in) const override { apply(out, in, true); }
  bool hermitian_positive() const noexcept override { return d_->hermitian_schur(); }

  /// Computes the right-hand side of S, on subset(), from that of D, on a full field. Collective: yes.
  void prepare(Field& rhs, const Field& source);
  /// Completes x: fills the full `solution` from its `half` on subset() and the full source. Collective: yes.
  void reconstruct(Field& solution, const Field& half, const Field& source);

private:
  void apply(Field& out, const Field& in, bool dagger) const;

  const DiracOperator<T>* d_;
  SchurForm form_;
  int parity_;
  mutable Field other_;  ///< work on the other parity
  mutable Field same_;   ///< work on the solved parity, for the adjoint of the symmetric form
};

extern template class Schur<float>;
extern template class Schur<double>;

}  // namespace halocline::qcd
