// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator D = A - 1/2 hop on full fields, in one precision.
///
/// A is the clover term (clover/clover.hpp) or, without one, a number. D^dagger = gamma5 D gamma5.

#include <memory>
#include <string>

#include "halocline/qcd/wilson/hopping_operator.hpp"

namespace halocline::qcd {

class WilsonSetup final : public wilson::HoppingSetup {
public:
  /// Parameters, errors and cost as of HoppingSetup. Collective: yes.
  WilsonSetup(const GaugeField& gauge, const WilsonCloverAction& action, int lanes = lattice::TileLayout::max_lanes,
              std::string transport = "");

  std::unique_ptr<DiracOperator<float>> in_float(int columns = 1, int stored_reals = 18) const override;
  std::unique_ptr<DiracOperator<double>> in_double(int columns = 1, int stored_reals = 18) const override;
};

template <class T>
class WilsonClover final : public wilson::HoppingOperator<T> {
public:
  /// Parameters, errors and cost as of HoppingOperator. Collective: yes.
  explicit WilsonClover(const WilsonSetup& setup, int columns = 1, int stored_reals = 18)
      : wilson::HoppingOperator<T>(setup, columns, stored_reals) {}
  /// The same operator on fields of another number of columns; shares links and clover blocks. Collective: yes.
  WilsonClover(const WilsonClover& other, int columns) : wilson::HoppingOperator<T>(other, columns) {}
  std::unique_ptr<DiracOperator<T>> with_columns(int columns) const override;

  bool gamma5_hermitian() const noexcept override { return true; }
};

extern template class WilsonClover<float>;
extern template class WilsonClover<double>;

}  // namespace halocline::qcd
