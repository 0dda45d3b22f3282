// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/wilson/wilson_clover.hpp"

#include <fmt/format.h>

#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd {

DiracSetup::DiracSetup(const GaugeField& gauge, const ActionParameters& action, int lanes, std::string transport)
    : gauge_(&gauge), action_(action), transport_(std::move(transport)) {
  action_.validate();
  auto layout = lattice::TileLayout::best(gauge.geometry_ptr(), lanes);
  neighbours_ = std::make_shared<const lattice::Neighbours>(layout);
  if (action_.has_clover()) {
    blocks_ = clover::clover_term(layout, gauge, action_);
    inverse_ = clover::inverse(*blocks_);
  }
}

template <class T>
WilsonClover<T>::WilsonClover(const DiracSetup& setup, int columns, int stored_reals)
    : hopping_(setup.neighbours(), setup.gauge(), setup.action(), {columns, stored_reals, setup.transport()}),
      diagonal_(setup.action().diagonal()) {
  if (setup.blocks()) {
    blocks_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.blocks()));
    inverse_ = std::make_shared<const clover::Blocks<T>>(clover::convert<T>(*setup.inverse_blocks()));
  }
}

template <class T>
WilsonClover<T>::WilsonClover(const WilsonClover& other, int columns)
    : hopping_(other.hopping_, columns), diagonal_(other.diagonal_), blocks_(other.blocks_), inverse_(other.inverse_) {}

template <class T>
void WilsonClover<T>::apply(Field& out, const Field& in, bool dagger) const {
  if (out.subset() != lattice::Subset::full || in.subset() != lattice::Subset::full || out.data() == in.data())
    throw core::InvalidArgument(
        "the operator D needs two different full fields, and was given one parity or one field");
  if (out.columns() != columns() || in.columns() != columns())
    throw core::InvalidArgument(
        fmt::format("an operator D made for {} columns was given fields of {} and {}; make one for them, "
                    "WilsonClover(d, columns)",
                    columns(), in.columns(), out.columns()));
  for (int parity = 0; parity < 2; ++parity) {
    wilson::HopTerms<T> terms;
    terms.hop_scale = T(-0.5);
    terms.add = in.parity(parity);
    terms.add_scale = blocks_ ? T(1) : static_cast<T>(diagonal_);
    terms.add_blocks = blocks(parity);
    hopping_.apply(out.parity(parity), in.parity(1 - parity), parity, dagger, terms);
  }
}

template <class T>
void WilsonClover<T>::multiply_inverse_diagonal(T* out, const T* in, int parity) const {
  if (inverse_) return clover::multiply(out, in, *inverse_, parity, columns());
  const T factor = static_cast<T>(1 / diagonal_);
  const std::int64_t count = layout()->tiles() * columns() * spinor_reals * layout()->lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) out[i] = factor * in[i];
}

template class WilsonClover<float>;
template class WilsonClover<double>;

}  // namespace halocline::qcd
