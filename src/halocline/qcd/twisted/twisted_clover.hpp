// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The twisted-mass operator D(mu) = D + i mu gamma5 on the CPU, with and without a clover term.
///
/// It has the hop of the Wilson operator and other blocks of sites: A + i mu gamma5, and its inverse
/// (A - i mu gamma5) (A^2 + mu^2)^-1, as A commutes with gamma5. With mu = 0 the blocks and the bits are those of
/// WilsonClover. D(mu)^dagger = gamma5 D(-mu) gamma5.

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "halocline/qcd/clover/clover.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/wilson/hopping_operator.hpp"

namespace halocline::qcd {

/// What twisted-mass operators of all precisions share.
class TwistedSetup : public DiracSetup {
public:
  /// As WilsonSetup. A needs no inverse where mu is not 0.
  TwistedSetup(const GaugeField& gauge, const TwistedCloverAction& action, int lanes = lattice::TileLayout::max_lanes,
               std::string transport = "");

  const GaugeField& gauge() const noexcept { return *gauge_; }
  const TwistedCloverAction& action() const noexcept { return action_; }
  const std::shared_ptr<const lattice::Neighbours>& neighbours() const noexcept { return neighbours_; }
  const std::optional<clover::Blocks<double>>& blocks() const noexcept { return blocks_; }
  /// (A^2 + mu^2)^-1; A^-1 where mu = 0.
  const std::optional<clover::Blocks<double>>& inverse_blocks() const noexcept { return inverse_; }
  const std::string& transport() const noexcept { return transport_; }

  std::unique_ptr<DiracOperator<float>> in_float(int columns = 1, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns = 1, int stored_reals = 18) const override;

private:
  const GaugeField* gauge_;
  TwistedCloverAction action_;
  std::shared_ptr<const lattice::Neighbours> neighbours_;
  std::optional<clover::Blocks<double>> blocks_, inverse_;
  std::string transport_;
};

template <class T>
class TwistedClover final : public wilson::HoppingOperator<T> {
public:
  using typename DiracOperator<T>::Field;
  using typename DiracOperator<T>::Term;

  /// @param columns, stored_reals  as HoppingOptions say (stored_reals is its link_reals)
  /// @throws InvalidArgument  as wilson::Hopping does. Collective: yes.
  explicit TwistedClover(const TwistedSetup& setup, int columns = 1, int stored_reals = 18);
  /// The same operator on fields of another number of columns; shares links and blocks. Collective: yes.
  TwistedClover(const TwistedClover& other, int columns);
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  double mu() const noexcept { return mu_; }
  double diagonal() const noexcept override { return diagonal_; }
  const Term* site(int parity, bool dagger) const noexcept override;
  const Term* inverse_site(int parity, bool dagger) const noexcept override;
  bool gamma5_hermitian() const noexcept override { return mu_ == 0; }

private:
  void make_terms();

  double diagonal_, mu_;
  std::shared_ptr<const clover::Blocks<T>> blocks_, inverse_;
  std::array<std::array<Term, 2>, 2> site_, inverse_site_;  ///< by parity and conjugation
};

extern template class TwistedClover<float>;
extern template class TwistedClover<double>;

}  // namespace halocline::qcd
