// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The twisted-mass operator D(mu) = D + i mu gamma5 on the CPU, with and without a clover term.
///
/// The hop is that of the Wilson operator. The site term is A + i mu gamma5. Because A commutes with gamma5, its
/// inverse is (A - i mu gamma5) (A^2 + mu^2)^-1, kept as one full matrix for each chirality. With mu = 0, site terms
/// and results are those of WilsonClover, bit for bit. D(mu)^dagger = gamma5 D(-mu) gamma5.

#include <array>
#include <memory>
#include <string>

#include "halocline/qcd/wilson/hopping_operator.hpp"

namespace halocline::qcd {

class TwistedSetup final : public wilson::HoppingSetup {
public:
  /// Parameters, errors and cost as of HoppingSetup. Collective: yes.
  TwistedSetup(const GaugeField& gauge, const TwistedCloverAction& action, int lanes = lattice::TileLayout::max_lanes,
               std::string transport = "");

  double mu() const noexcept { return mu_; }
  std::unique_ptr<DiracOperator<float>> in_float(int columns = 1, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns = 1, int stored_reals = 18) const override;

private:
  double mu_;
};

template <class T>
class TwistedClover final : public wilson::HoppingOperator<T> {
public:
  /// Parameters, errors and cost as of HoppingOperator. Collective: yes.
  explicit TwistedClover(const TwistedSetup& setup, int columns = 1, int stored_reals = 18);
  /// The same operator on fields of another number of columns; shares links and blocks. Collective: yes.
  TwistedClover(const TwistedClover& other, int columns)
      : wilson::HoppingOperator<T>(other, columns), mu_(other.mu_), inverse_(other.inverse_) {}
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  bool gamma5_hermitian() const noexcept override { return mu_ == 0; }
  double mu() const noexcept { return mu_; }
  /// The other flavour, D(-mu), on the same links and blocks: its site terms are the hermitian conjugates of ours, and
  /// so are their inverses. Collective: yes.
  std::unique_ptr<TwistedClover> opposite() const;

private:
  double mu_;
  std::array<std::shared_ptr<const core::AlignedArray<T>>, 2> inverse_;  ///< by parity, [tile][144][lane]; or none
};

extern template class TwistedClover<float>;
extern template class TwistedClover<double>;

}  // namespace halocline::qcd
