// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator D = A - 1/2 hop on full fields, in one precision.
///
/// A is the clover term (clover/clover.hpp) or, without one, a number. The same object offers the one-parity pieces
/// that the even-odd Schur complement is made of (schur/schur.hpp). D^dagger = gamma5 D gamma5.

#include <memory>
#include <optional>
#include <string>

#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/field/spinor_field.hpp"
#include "halocline/qcd/wilson/hopping.hpp"

namespace halocline::qcd {

/// What the operators of all precisions share and compute once, in double.
class DiracSetup {
public:
  /// @param gauge  links in double, ghosts filled; referred to, so it must live as long as this
  /// @param lanes  most lanes of the layout; fewer only where a test asks for it
  /// @throws InvalidArgument  for impossible parameters or a box that no layout fits, on every rank
  /// @throws Error            where the clover term cannot be inverted
  /// Collective: yes.  Cost: the clover term and its inverse, 2 x 576 bytes a site.
  DiracSetup(const GaugeField& gauge, const ActionParameters& action, int lanes = lattice::TileLayout::max_lanes,
             std::string transport = "");

  const GaugeField& gauge() const noexcept { return *gauge_; }
  const ActionParameters& action() const noexcept { return action_; }
  const std::shared_ptr<const lattice::Neighbours>& neighbours() const noexcept { return neighbours_; }
  const std::optional<clover::Blocks<double>>& blocks() const noexcept { return blocks_; }
  const std::optional<clover::Blocks<double>>& inverse_blocks() const noexcept { return inverse_; }
  const std::string& transport() const noexcept { return transport_; }

private:
  const GaugeField* gauge_;
  ActionParameters action_;
  std::shared_ptr<const lattice::Neighbours> neighbours_;
  std::optional<clover::Blocks<double>> blocks_, inverse_;
  std::string transport_;
};

template <class T>
class WilsonClover {
public:
  using Field = SpinorField<T>;

  /// @param columns, stored_reals  as HoppingOptions say (stored_reals is its link_reals)
  /// @throws InvalidArgument  as wilson::Hopping does
  /// Collective: yes.  Cost: the links in the order of the kernel, and the clover blocks, in T.
  explicit WilsonClover(const DiracSetup& setup, int columns = 1, int stored_reals = 18);
  /// The same operator on fields of another number of columns; shares links and clover blocks. Collective: yes.
  WilsonClover(const WilsonClover& other, int columns);

  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept { return hopping_.layout_ptr(); }
  int columns() const noexcept { return hopping_.columns(); }
  double diagonal() const noexcept { return diagonal_; }
  const wilson::Hopping<T>& hopping() const noexcept { return hopping_; }
  /// A and A^-1 of one parity; null without a clover term, when A is diagonal().
  const T* blocks(int parity) const noexcept { return blocks_ ? blocks_->parity(parity) : nullptr; }
  const T* inverse_blocks(int parity) const noexcept { return inverse_ ? inverse_->parity(parity) : nullptr; }

  /// out = D in on full fields of columns() columns, out and in not the same.
  /// Collective: yes.  Cost: 1368 flops a site and column, 1824 + 48 with the clover term.
  void apply(Field& out, const Field& in) const { apply(out, in, false); }
  /// out = D^dagger in
  void apply_dagger(Field& out, const Field& in) const { apply(out, in, true); }

  /// out = A^-1 in on the tiles of one parity; out may be in. Collective: no.
  void multiply_inverse_diagonal(T* out, const T* in, int parity) const;

private:
  void apply(Field& out, const Field& in, bool dagger) const;

  wilson::Hopping<T> hopping_;
  double diagonal_;
  std::shared_ptr<const clover::Blocks<T>> blocks_, inverse_;
};

extern template class WilsonClover<float>;
extern template class WilsonClover<double>;

}  // namespace halocline::qcd
