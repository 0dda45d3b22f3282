// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The base of Dirac operators with the Wilson hopping term and clover blocks. An action adds only its own site
/// terms.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/wilson/hopping.hpp"

namespace halocline::qcd::wilson {

/// The data that the operators of one action share in all precisions.
class HoppingSetup : public DiracSetup {
public:
  const GaugeField& gauge() const noexcept { return *gauge_; }
  const WilsonCloverAction& wilson() const noexcept { return wilson_; }
  const lattice::NeighboursByPrecision& neighbours() const noexcept { return neighbours_; }
  /// The clover term A in the layout of fields in double; empty without one.
  const std::optional<clover::Blocks<double>>& blocks() const noexcept { return blocks_; }
  /// A^-1 or, with a twisted mass, (A^2 + square)^-1; empty without a clover term.
  const std::optional<clover::Blocks<double>>& inverse_blocks() const noexcept { return inverse_; }
  const std::string& transport() const noexcept { return transport_; }

protected:
  /// @param gauge  links in double, ghosts filled; not copied, so it must outlive this object
  /// @param square  of a twisted mass, as of twisted_square(); without it the clover term itself must be invertible
  /// @param lanes  upper limit on the lanes of the layout; only tests lower it
  /// @param points  columns of one right-hand side, of a fifth dimension or of a doublet
  /// @throws InvalidArgument  for impossible parameters or a box that no layout fits, on every rank
  /// @throws Error            if a clover block cannot be inverted; on every rank
  /// Collective: yes.  Cost: the clover term and its inverse, 2 x 576 bytes a site.
  HoppingSetup(const GaugeField& gauge, const WilsonCloverAction& wilson, std::optional<double> square, int lanes,
               std::string transport, int points = 1);

private:
  const GaugeField* gauge_;
  WilsonCloverAction wilson_;
  lattice::NeighboursByPrecision neighbours_;
  std::optional<clover::Blocks<double>> blocks_, inverse_;
  std::string transport_;
};

template <class T>
class HoppingOperator : public DiracOperator<T> {
public:
  using typename DiracOperator<T>::Field;
  using typename DiracOperator<T>::Term;
  using typename DiracOperator<T>::Terms;

  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept override { return hopping_.layout_ptr(); }
  int columns() const noexcept override { return hopping_.columns(); }
  double diagonal() const noexcept override { return diagonal_; }
  const Term* site(int parity, bool dagger) const noexcept override {
    return has_terms_ ? &site_[parity][dagger ? 1 : 0] : nullptr;
  }
  const Term* inverse_site(int parity, bool dagger) const noexcept override {
    return has_terms_ ? &inverse_site_[parity][dagger ? 1 : 0] : nullptr;
  }
  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const override;

  const Hopping<T>& hopping() const noexcept { return hopping_; }

protected:
  /// Makes A the clover term, or the number diagonal() without one.
  /// @param columns, stored_reals  as in HoppingOptions (stored_reals is its link_reals)
  /// @param with_inverse  keep the inverse blocks in T; an action that sets an inverse of its own has no use for them
  /// @throws InvalidArgument  as Hopping does
  /// Collective: yes.  Cost: memory for the links in the order of the kernel, and for the clover blocks, in T.
  HoppingOperator(const HoppingSetup& setup, int columns, int stored_reals, bool with_inverse = true);
  /// The same operator for another number of columns; shares links and blocks. Collective: yes.
  HoppingOperator(const HoppingOperator& other, int columns);

  /// The clover blocks of one parity, [tile][72][lane]; null without a clover term.
  const T* blocks(int parity) const noexcept { return blocks_ ? blocks_->parity(parity) : nullptr; }
  const T* inverse_blocks(int parity) const noexcept { return inverse_ ? inverse_->parity(parity) : nullptr; }
  /// Sets A and its inverse on one parity; with `dagger`, sets their hermitian conjugates.
  void set_terms(int parity, bool dagger, const Term& site, const Term& inverse);

private:
  Hopping<T> hopping_;
  double diagonal_;
  std::shared_ptr<const clover::Blocks<T>> blocks_, inverse_;
  bool has_terms_ = false;
  std::array<std::array<Term, 2>, 2> site_{}, inverse_site_{};  ///< by parity and conjugation
};

extern template class HoppingOperator<float>;
extern template class HoppingOperator<double>;

}  // namespace halocline::qcd::wilson
