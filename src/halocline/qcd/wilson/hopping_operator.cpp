// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/hopping_operator.hpp"

#include <utility>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::wilson {

HoppingSetup::HoppingSetup(const GaugeField& gauge, const WilsonCloverAction& wilson, std::optional<double> square,
                           int lanes, std::string transport, int points)
    : gauge_(&gauge),
      wilson_((wilson.validate(), wilson)),
      neighbours_(lattice::TileLayout::best(gauge.geometry_ptr(), lanes), 1,
                  points > 1 ? 0 : 8 * link_reals + 2 * spinor_reals),
      transport_(std::move(transport)) {
  if (wilson_.has_clover()) {
    blocks_ = clover::clover_term(neighbours_.in<double>()->layout_ptr(), gauge, wilson_);
    inverse_ = clover::inverse(*blocks_, square);
  }
}

template <class T>
HoppingOperator<T>::HoppingOperator(const HoppingSetup& setup, int columns, int stored_reals, bool with_inverse)
    : hopping_(setup.neighbours().in<T>(), setup.gauge(), setup.wilson(), {columns, stored_reals, setup.transport()}),
      diagonal_(setup.wilson().diagonal()) {
  if (!setup.blocks()) return;
  blocks_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.blocks(), layout()));
  if (with_inverse)
    inverse_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.inverse_blocks(), layout()));
  for (int parity = 0; parity < 2; ++parity)
    for (const bool dagger : {false, true})
      set_terms(parity, dagger, {.first = blocks(parity)}, {.first = inverse_blocks(parity)});
}

template <class T>
HoppingOperator<T>::HoppingOperator(const HoppingOperator& other, int columns)
    : hopping_(other.hopping_, columns),
      diagonal_(other.diagonal_),
      blocks_(other.blocks_),
      inverse_(other.inverse_),
      has_terms_(other.has_terms_),
      site_(other.site_),
      inverse_site_(other.inverse_site_) {}

template <class T>
void HoppingOperator<T>::set_terms(int parity, bool dagger, const Term& site, const Term& inverse) {
  has_terms_ = true;
  site_[parity][dagger ? 1 : 0] = site;
  inverse_site_[parity][dagger ? 1 : 0] = inverse;
}

template <class T>
void HoppingOperator<T>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const {
  hopping_.apply(out.parity(target_parity), in.parity(1 - target_parity), target_parity, dagger,
                 {.hop_scale = static_cast<T>(terms.hop_scale),
                  .hop_term = terms.hop_term,
                  .add = terms.add != nullptr ? terms.add->parity(target_parity) : nullptr,
                  .add_scale = static_cast<T>(terms.add_scale),
                  .add_term = terms.add_term});
}

template class HoppingOperator<float>;
template class HoppingOperator<double>;

}  // namespace halocline::qcd::wilson
