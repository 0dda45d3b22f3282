// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/twisted/twisted_clover.hpp"

#include <utility>

namespace halocline::qcd {

TwistedSetup::TwistedSetup(const GaugeField& gauge, const TwistedCloverAction& action, int lanes, std::string transport)
    : HoppingSetup(gauge, (action.validate(), action.wilson), action.mu, lanes, std::move(transport)), mu_(action.mu) {}

std::unique_ptr<DiracOperator<float>> TwistedSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<TwistedClover<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> TwistedSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<TwistedClover<double>>(*this, columns, stored_reals);
}

template <class T>
TwistedClover<T>::TwistedClover(const TwistedSetup& setup, int columns, int stored_reals)
    : wilson::HoppingOperator<T>(setup, columns, stored_reals), mu_(setup.mu()) {
  if (mu_ == 0) return;
  const double d = this->diagonal(), square = d * d + mu_ * mu_;
  for (int parity = 0; parity < 2; ++parity)
    for (const bool dagger : {false, true}) {
      const double mu = dagger ? -mu_ : mu_;
      const T* a = this->blocks(parity);
      if (a != nullptr)
        this->set_terms(parity, dagger, {.second = a, .twist = static_cast<T>(mu)},
                        {.first = this->inverse_blocks(parity), .second = a, .twist = static_cast<T>(-mu)});
      else
        this->set_terms(parity, dagger, {.constant = static_cast<T>(d), .twist = static_cast<T>(mu)},
                        {.constant = static_cast<T>(d / square), .twist = static_cast<T>(-mu / square)});
    }
}

template <class T>
std::unique_ptr<DiracOperator<T>> TwistedClover<T>::with_columns(int columns) const {
  return std::make_unique<TwistedClover>(*this, columns);
}

template class TwistedClover<float>;
template class TwistedClover<double>;

}  // namespace halocline::qcd
