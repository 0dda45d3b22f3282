// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator D = A - 1/2 hop on full fields, in one precision.
///
/// A is the clover term (clover/clover.hpp) or, without one, a number. D^dagger = gamma5 D gamma5.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/wilson/hopping_operator.hpp"

namespace halocline::qcd {

/// What Wilson-clover operators of all precisions share.
class WilsonSetup : public DiracSetup {
public:
  /// @param gauge  links in double, ghosts filled; referred to, so it must live as long as this
  /// @param lanes  most lanes of the layout; fewer only where a test asks for it
  /// @throws InvalidArgument  for impossible parameters or a box that no layout fits, on every rank
  /// @throws Error            where the clover term cannot be inverted
  /// Collective: yes.  Cost: the clover term and its inverse, 2 x 576 bytes a site.
  WilsonSetup(const GaugeField& gauge, const WilsonCloverAction& action, int lanes = lattice::TileLayout::max_lanes,
              std::string transport = "");

  const GaugeField& gauge() const noexcept { return *gauge_; }
  const WilsonCloverAction& action() const noexcept { return action_; }
  const std::shared_ptr<const lattice::Neighbours>& neighbours() const noexcept { return neighbours_; }
  const std::optional<clover::Blocks<double>>& blocks() const noexcept { return blocks_; }
  const std::optional<clover::Blocks<double>>& inverse_blocks() const noexcept { return inverse_; }
  const std::string& transport() const noexcept { return transport_; }

  std::unique_ptr<DiracOperator<float>> in_float(int columns = 1, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns = 1, int stored_reals = 18) const override;

private:
  const GaugeField* gauge_;
  WilsonCloverAction action_;
  std::shared_ptr<const lattice::Neighbours> neighbours_;
  std::optional<clover::Blocks<double>> blocks_, inverse_;
  std::string transport_;
};

template <class T>
class WilsonClover final : public wilson::HoppingOperator<T> {
public:
  using typename DiracOperator<T>::Field;
  using typename DiracOperator<T>::Term;

  /// @param columns, stored_reals  as HoppingOptions say (stored_reals is its link_reals)
  /// @throws InvalidArgument  as wilson::Hopping does
  /// Collective: yes.  Cost: the links in the order of the kernel, and the clover blocks, in T.
  explicit WilsonClover(const WilsonSetup& setup, int columns = 1, int stored_reals = 18);
  /// The same operator on fields of another number of columns; shares links and clover blocks. Collective: yes.
  WilsonClover(const WilsonClover& other, int columns);
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  double diagonal() const noexcept override { return diagonal_; }
  const Term* site(int parity, bool) const noexcept override { return blocks_ ? &site_[parity] : nullptr; }
  const Term* inverse_site(int parity, bool) const noexcept override {
    return blocks_ ? &inverse_site_[parity] : nullptr;
  }
  bool gamma5_hermitian() const noexcept override { return true; }

private:
  void point_at_blocks();

  double diagonal_;
  std::shared_ptr<const clover::Blocks<T>> blocks_, inverse_;
  std::array<Term, 2> site_, inverse_site_;  ///< by parity
};

extern template class WilsonClover<float>;
extern template class WilsonClover<double>;

}  // namespace halocline::qcd
