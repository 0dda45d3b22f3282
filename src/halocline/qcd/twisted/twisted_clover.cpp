// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/twisted/twisted_clover.hpp"

#include <utility>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd {

TwistedSetup::TwistedSetup(const GaugeField& gauge, const TwistedCloverAction& action, int lanes, std::string transport)
    : gauge_(&gauge), action_(action), transport_(std::move(transport)) {
  action_.validate();
  auto layout = lattice::TileLayout::best(gauge.geometry_ptr(), lanes);
  neighbours_ = std::make_shared<const lattice::Neighbours>(layout);
  if (action_.wilson.has_clover()) {
    blocks_ = clover::clover_term(layout, gauge, action_.wilson);
    inverse_ = clover::inverse(*blocks_, action_.mu);
  }
}

std::unique_ptr<DiracOperator<float>> TwistedSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<TwistedClover<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> TwistedSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<TwistedClover<double>>(*this, columns, stored_reals);
}

template <class T>
TwistedClover<T>::TwistedClover(const TwistedSetup& setup, int columns, int stored_reals)
    : wilson::HoppingOperator<T>(wilson::Hopping<T>(setup.neighbours(), setup.gauge(), setup.action().wilson,
                                                    {columns, stored_reals, setup.transport()})),
      diagonal_(setup.action().wilson.diagonal()),
      mu_(setup.action().mu) {
  if (setup.blocks()) {
    blocks_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.blocks()));
    inverse_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.inverse_blocks()));
  }
  make_terms();
}

template <class T>
TwistedClover<T>::TwistedClover(const TwistedClover& other, int columns)
    : wilson::HoppingOperator<T>(wilson::Hopping<T>(other.hopping(), columns)),
      diagonal_(other.diagonal_),
      mu_(other.mu_),
      blocks_(other.blocks_),
      inverse_(other.inverse_) {
  make_terms();
}

template <class T>
std::unique_ptr<DiracOperator<T>> TwistedClover<T>::with_columns(int columns) const {
  return std::make_unique<TwistedClover>(*this, columns);
}

template <class T>
void TwistedClover<T>::make_terms() {
  const double square = diagonal_ * diagonal_ + mu_ * mu_;
  for (int parity = 0; parity < 2; ++parity)
    for (int dagger = 0; dagger < 2; ++dagger) {
      const double mu = dagger != 0 ? -mu_ : mu_;
      Term& site = site_[parity][dagger];
      Term& inverse = inverse_site_[parity][dagger];
      if (blocks_ && mu_ == 0) {
        site.first = blocks_->parity(parity);
        inverse.first = inverse_->parity(parity);
      } else if (blocks_) {
        site.second = blocks_->parity(parity);
        site.twist = static_cast<T>(mu);
        inverse.first = inverse_->parity(parity);
        inverse.second = blocks_->parity(parity);
        inverse.twist = static_cast<T>(-mu);
      } else {
        site.constant = static_cast<T>(diagonal_);
        site.twist = static_cast<T>(mu);
        inverse.constant = static_cast<T>(diagonal_ / square);
        inverse.twist = static_cast<T>(-mu / square);
      }
    }
}

template <class T>
auto TwistedClover<T>::site(int parity, bool dagger) const noexcept -> const Term* {
  return blocks_ || mu_ != 0 ? &site_[parity][dagger ? 1 : 0] : nullptr;
}

template <class T>
auto TwistedClover<T>::inverse_site(int parity, bool dagger) const noexcept -> const Term* {
  return blocks_ || mu_ != 0 ? &inverse_site_[parity][dagger ? 1 : 0] : nullptr;
}

template class TwistedClover<float>;
template class TwistedClover<double>;

}  // namespace halocline::qcd
