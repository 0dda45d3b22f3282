// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Dirac operators whose hop is the Wilson hopping term: all but their blocks of sites.

#include <utility>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/wilson/hopping.hpp"

namespace halocline::qcd::wilson {

template <class T>
class HoppingOperator : public DiracOperator<T> {
public:
  using typename DiracOperator<T>::Field;
  using typename DiracOperator<T>::Terms;

  const std::shared_ptr<const lattice::TileLayout>& layout() const noexcept override { return hopping_.layout_ptr(); }
  int columns() const noexcept override { return hopping_.columns(); }
  const Hopping<T>& hopping() const noexcept { return hopping_; }

  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const override {
    hopping_.apply(out.parity(target_parity), in.parity(1 - target_parity), target_parity, dagger,
                   {.hop_scale = static_cast<T>(terms.hop_scale),
                    .hop_term = terms.hop_term,
                    .add = terms.add != nullptr ? terms.add->parity(target_parity) : nullptr,
                    .add_scale = static_cast<T>(terms.add_scale),
                    .add_term = terms.add_term});
  }

protected:
  explicit HoppingOperator(Hopping<T> hopping) : hopping_(std::move(hopping)) {}

private:
  Hopping<T> hopping_;
};

}  // namespace halocline::qcd::wilson
