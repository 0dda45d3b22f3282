// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/wilson_clover.hpp"

#include <utility>

namespace halocline::qcd {

WilsonSetup::WilsonSetup(const GaugeField& gauge, const WilsonCloverAction& action, int lanes, std::string transport)
    : HoppingSetup(gauge, action, {}, lanes, std::move(transport)) {}

std::unique_ptr<DiracOperator<float>> WilsonSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<WilsonClover<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> WilsonSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<WilsonClover<double>>(*this, columns, stored_reals);
}

template <class T>
std::unique_ptr<DiracOperator<T>> WilsonClover<T>::with_columns(int columns) const {
  return std::make_unique<WilsonClover>(*this, columns);
}

template class WilsonClover<float>;
template class WilsonClover<double>;

}  // namespace halocline::qcd
