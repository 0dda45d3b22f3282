// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Two twisted flavours of different masses on the CPU: D = D_W + i mu gamma5 tau_1 + epsilon tau_3.
///
/// The flavours are columns 2 i and 2 i + 1 of the fields, so a hop reads its links once for both. The site term
/// connects them: A + i mu gamma5 tau_1 + epsilon tau_3. Because tau_1 and tau_3 anticommute, its inverse is (A - i mu
/// gamma5 tau_1 - epsilon tau_3) (A^2 + mu^2 - epsilon^2)^-1, and the inverted block is the same for both. D^dagger =
/// gamma5 tau_3 D gamma5 tau_3.

#include <array>
#include <memory>
#include <string>

#include "halocline/qcd/wilson/hopping_operator.hpp"

namespace halocline::qcd {

class TwistedDoubletSetup final : public wilson::HoppingSetup {
public:
  /// Parameters, errors and cost as of HoppingSetup.
  /// @throws InvalidArgument  without a clover term also if d^2 + mu^2 - epsilon^2 = 0, d the diagonal of D_W
  /// Collective: yes.
  TwistedDoubletSetup(const GaugeField& gauge, const TwistedDoubletAction& action,
                      int lanes = lattice::TileLayout::max_lanes, std::string transport = "");

  const TwistedDoubletAction& action() const noexcept { return action_; }
  int points() const noexcept override { return 2; }
  /// @param columns  twice the number of right-hand sides
  std::unique_ptr<DiracOperator<float>> in_float(int columns, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns, int stored_reals = 18) const override;

private:
  TwistedDoubletAction action_;
};

template <class T>
class TwistedDoublet final : public wilson::HoppingOperator<T> {
public:
  using typename DiracOperator<T>::Field;

  /// @param columns  as of TwistedDoubletSetup::in_float
  /// @throws InvalidArgument  as HoppingOperator does; for an odd number of columns
  /// Collective: yes.
  explicit TwistedDoublet(const TwistedDoubletSetup& setup, int columns = 2, int stored_reals = 18);
  /// The same operator on fields of another number of columns; shares links and blocks. Collective: yes.
  TwistedDoublet(const TwistedDoublet& other, int columns);
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  int points() const noexcept override { return 2; }
  bool gamma5_hermitian() const noexcept override { return false; }  // gamma5 tau_3 hermitian

  /// @param sources  local boxes, [t][z][y][x][flavour 2][spin 4][colour 3]
  void load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) const override;
  /// The shape of a source.
  void unload_quark(std::span<std::complex<double>> quark, const Field& x, int number) const override;

private:
  void require_columns() const;
};

extern template class TwistedDoublet<float>;
extern template class TwistedDoublet<double>;

}  // namespace halocline::qcd
