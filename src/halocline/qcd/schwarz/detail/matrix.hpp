// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Contents of a Matrix.

#include "halocline/qcd/schwarz/detail/coefficients.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"

namespace halocline::qcd::schwarz {

struct Matrix::State {
  State(const GaugeField& gauge, const WilsonCloverAction& action, const Parameters& parameters, int columns,
        const std::vector<double>* term);
  /// The same numbers in the order of another layout with as many lanes.
  State(const State& other, std::shared_ptr<const lattice::DomainLayout> layout);

  WilsonCloverAction action;
  Parameters parameters;
  std::shared_ptr<const lattice::DomainLayout> layout;
  std::shared_ptr<const Coefficients<float>> single;
  std::shared_ptr<const Coefficients<core::Half>> half;  ///< null where K is stored in float
  ArithmeticChoice inner;                                ///< of K, and the layout of `half`
};

}  // namespace halocline::qcd::schwarz
