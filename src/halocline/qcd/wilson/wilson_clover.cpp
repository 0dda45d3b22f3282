// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/wilson_clover.hpp"

#include <utility>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd {

WilsonSetup::WilsonSetup(const GaugeField& gauge, const WilsonCloverAction& action, int lanes, std::string transport)
    : gauge_(&gauge), action_(action), transport_(std::move(transport)) {
  action_.validate();
  auto layout = lattice::TileLayout::best(gauge.geometry_ptr(), lanes);
  neighbours_ = std::make_shared<const lattice::Neighbours>(layout);
  if (action_.has_clover()) {
    blocks_ = clover::clover_term(layout, gauge, action_);
    inverse_ = clover::inverse(*blocks_);
  }
}

std::unique_ptr<DiracOperator<float>> WilsonSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<WilsonClover<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> WilsonSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<WilsonClover<double>>(*this, columns, stored_reals);
}

template <class T>
WilsonClover<T>::WilsonClover(const WilsonSetup& setup, int columns, int stored_reals)
    : wilson::HoppingOperator<T>(wilson::Hopping<T>(setup.neighbours(), setup.gauge(), setup.action(),
                                                    {columns, stored_reals, setup.transport()})),
      diagonal_(setup.action().diagonal()) {
  if (setup.blocks()) {
    blocks_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.blocks()));
    inverse_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.inverse_blocks()));
  }
  point_at_blocks();
}

template <class T>
WilsonClover<T>::WilsonClover(const WilsonClover& other, int columns)
    : wilson::HoppingOperator<T>(wilson::Hopping<T>(other.hopping(), columns)),
      diagonal_(other.diagonal_),
      blocks_(other.blocks_),
      inverse_(other.inverse_) {
  point_at_blocks();
}

template <class T>
std::unique_ptr<DiracOperator<T>> WilsonClover<T>::with_columns(int columns) const {
  return std::make_unique<WilsonClover>(*this, columns);
}

template <class T>
void WilsonClover<T>::point_at_blocks() {
  if (!blocks_) return;
  for (int parity = 0; parity < 2; ++parity) {
    site_[parity].first = blocks_->parity(parity);
    inverse_site_[parity].first = inverse_->parity(parity);
  }
}

template class WilsonClover<float>;
template class WilsonClover<double>;

}  // namespace halocline::qcd
