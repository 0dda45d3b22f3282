// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The operator of staggered quarks, D = m - 1/2 hop, with fields of three colours and one spin.
///
/// hop is anti-hermitian, so both forms of the Schur complement, and D^dagger D on one parity, are m^2 - D_eo D_oe up
/// to a factor: hermitian and positive. Conjugate gradients solve it without the normal equations.

#include <memory>
#include <string>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/staggered/hopping.hpp"

namespace halocline::qcd {

/// Makes the links of the action once, in double. They are freed with this object; operators have their own copies.
class StaggeredSetup final : public DiracSetup {
public:
  /// @param gauge  links in double, ghosts filled; read here and not kept
  /// @param lanes  upper limit on the lanes of the layout; only tests lower it
  /// @throws InvalidArgument  for impossible parameters, or a box that the action does not fit, on every rank
  /// @throws Error            if a smeared link cannot be projected to U(3)
  /// Collective: yes.
  StaggeredSetup(const GaugeField& gauge, const StaggeredAction& action, int lanes = lattice::TileLayout::max_lanes,
                 std::string transport = "");

  const StaggeredAction& action() const noexcept { return action_; }
  const gauge::StaggeredLinks& links() const noexcept { return links_; }
  const lattice::NeighboursByPrecision& neighbours() const noexcept { return neighbours_; }
  const std::string& transport() const noexcept { return transport_; }
  /// @throws InvalidArgument  for stored_reals other than 18: fat links are not unitary
  std::unique_ptr<DiracOperator<float>> in_float(int columns = 1, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns = 1, int stored_reals = 18) const override;

private:
  StaggeredAction action_;
  gauge::StaggeredLinks links_;
  lattice::NeighboursByPrecision neighbours_;
  std::string transport_;
};

template <class T>
class Staggered final : public DiracOperator<T> {
public:
  using typename DiracOperator<T>::Field;
  using typename DiracOperator<T>::Term;
  using typename DiracOperator<T>::Terms;

  /// @throws InvalidArgument  as staggered::Hopping does. Collective: yes.
  explicit Staggered(const StaggeredSetup& setup, int columns = 1);
  /// The same operator on fields of another number of columns; shares the links. Collective: yes.
  Staggered(const Staggered& other, int columns);
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept override { return hopping_.layout_ptr(); }
  int columns() const noexcept override { return hopping_.columns(); }
  int components() const noexcept override { return colours; }
  double diagonal() const noexcept override { return mass_; }
  const Term* site(int, bool) const noexcept override { return nullptr; }
  const Term* inverse_site(int, bool) const noexcept override { return nullptr; }
  bool gamma5_hermitian() const noexcept override { return false; }
  bool hermitian_schur() const noexcept override { return true; }
  /// @throws InvalidArgument  for terms with blocks, which belong to other actions
  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const override;

  const staggered::Hopping<T>& hopping() const noexcept { return hopping_; }

private:
  staggered::Hopping<T> hopping_;
  double mass_;
};

extern template class Staggered<float>;
extern template class Staggered<double>;

}  // namespace halocline::qcd
