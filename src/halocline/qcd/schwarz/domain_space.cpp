// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/domain_space.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "halocline/qcd/spinor_field.hpp"

namespace halocline::qcd::schwarz {

using solve::Dot;
using solve::Scalar;
using solve::Update;

DomainSpace::DomainSpace(std::shared_ptr<const lattice::DomainLayout> layout, int columns)
    : layout_(std::move(layout)),
      algebra_({std::int64_t{layout_->domains()} * layout_->tiles(), columns, spinor_reals, layout_->lanes()},
               layout_->geometry().communicator()) {}

DomainSpace::Vector DomainSpace::create() const { return Vector(layout_, spinor_reals, columns()); }

void DomainSpace::copy(Vector& out, const Vector& in) const {
  const std::array<Update<Vector>, 1> update{solve::assign(out, {}, in)};
  update_and_reduce(update, {});
}

void DomainSpace::set_zero(Vector& v) const { std::ranges::fill(v.span(), 0.0F); }

void DomainSpace::axpy(std::span<const Scalar> a, const Vector& x, Vector& y) const {
  const std::array<Update<Vector>, 1> update{solve::add(y, a, x)};
  update_and_reduce(update, {});
}

void DomainSpace::scale(std::span<const Scalar> a, Vector& y) const {
  const std::array<Update<Vector>, 1> update{solve::scale(y, a)};
  update_and_reduce(update, {});
}

void DomainSpace::dot(std::span<Scalar> out, const Vector& x, const Vector& y) const {
  const std::array<Dot<Vector>, 1> dots{Dot<Vector>{&x, &y}};
  const auto sums = update_and_reduce({}, dots);
  std::ranges::copy(sums.wait(), out.begin());
}

}  // namespace halocline::qcd::schwarz
