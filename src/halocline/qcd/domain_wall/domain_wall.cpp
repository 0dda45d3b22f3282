// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/domain_wall/domain_wall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd {
namespace {

/// b + c S, and (b d + 1) + (c d - 1) S, the site term of D.
FifthMatrix matrix_b(const DomainWallAction& action) {
  std::vector<std::complex<double>> near, far;
  for (int s = 0; s < action.ls; ++s) {
    near.push_back(action.b_at(s));
    far.push_back(action.c_at(s));
  }
  return FifthMatrix::shift(near, far, action.mass);
}
FifthMatrix matrix_full(const DomainWallAction& action) {
  const double d = action.wilson().diagonal();
  std::vector<std::complex<double>> near, far;
  for (int s = 0; s < action.ls; ++s) {
    near.push_back(action.b_at(s) * d + 1.0);
    far.push_back(action.c_at(s) * d - 1.0);
  }
  return FifthMatrix::shift(near, far, action.mass);
}

bool is_one(const DomainWallAction& action) {
  return std::ranges::all_of(action.b, [](auto z) { return z == 1.; }) &&
         std::ranges::all_of(action.c, [](auto z) { return z == 0.; });
}

}  // namespace

DomainWallSetup::DomainWallSetup(const GaugeField& gauge, const DomainWallAction& action, int lanes,
                                 std::string transport)
    : gauge_(&gauge), action_(action), transport_(std::move(transport)) {
  action_.validate();
  FifthTerm<double>::solve(matrix_full(action_));  // throws where it cannot be inverted
  FifthTerm<double>::solve(matrix_b(action_));
  neighbours_ = std::make_shared<const lattice::Neighbours>(lattice::TileLayout::best(gauge.geometry_ptr(), lanes));
}

std::unique_ptr<DiracOperator<float>> DomainWallSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<DomainWall<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> DomainWallSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<DomainWall<double>>(*this, columns, stored_reals);
}

template <class T>
DomainWall<T>::FifthTerms::FifthTerms(const DomainWallAction& action) : trivial(is_one(action)) {
  using F = FifthTerm<T>;
  const FifthMatrix q = matrix_full(action), p = matrix_b(action);
  const FifthMatrix q_dagger = q.adjoint(), p_dagger = p.adjoint();
  full = {F::product(q), F::product(q_dagger)};
  b = {F::product(p), F::product(p_dagger)};
  inverse_b = F::solve(p);
  if (trivial) {
    a = full;
    inverse_a = {F::solve(q), F::solve(q_dagger)};
  } else {
    // (P Q^-1)^dagger = Q^-dagger P^dagger
    a = {F::solve_product(p, q), F::product_solve(q_dagger, p_dagger)};
    inverse_a = {F::solve_product(q, p), F::product_solve(p_dagger, q_dagger)};
  }
  for (std::size_t dagger = 0; dagger < 2; ++dagger) {
    site[dagger].fifth = &a[dagger];
    inverse[dagger].fifth = &inverse_a[dagger];
    full_site[dagger].fifth = &full[dagger];
    product[dagger].fifth = &b[dagger];
  }
  solution.fifth = &inverse_b;
}

template <class T>
DomainWall<T>::DomainWall(const DomainWallSetup& setup, int columns, int stored_reals)
    : action_(setup.action()),
      hopping_(setup.neighbours(), setup.gauge(), setup.action().wilson(), {columns, stored_reals, setup.transport()}),
      terms_(std::make_shared<const FifthTerms>(setup.action())) {
  require_columns();
}

template <class T>
DomainWall<T>::DomainWall(const DomainWall& other, int columns)
    : action_(other.action_), hopping_(other.hopping_, columns), terms_(other.terms_) {
  require_columns();
}

template <class T>
std::unique_ptr<DiracOperator<T>> DomainWall<T>::with_columns(int columns) const {
  return std::make_unique<DomainWall>(*this, columns);
}

template <class T>
void DomainWall<T>::require_columns() const {
  if (columns() % ls() != 0)
    throw core::InvalidArgument(fmt::format(
        "a domain-wall operator with Ls = {} was asked for {} columns; give a multiple of Ls", ls(), columns()));
}

template <class T>
void DomainWall<T>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) const {
  hopping_.apply(out.parity(target_parity), in.parity(1 - target_parity), target_parity, dagger,
                 {.hop_scale = static_cast<T>(terms.hop_scale),
                  .hop_term = terms.hop_term,
                  .add = terms.add != nullptr ? terms.add->parity(target_parity) : nullptr,
                  .add_scale = static_cast<T>(terms.add_scale),
                  .add_term = terms.add_term});
}

template <class T>
void DomainWall<T>::multiply_all(Field& out, const Field& in, const Term& term) const {
  for (int parity = 0; parity < 2; ++parity)
    if (lattice::Subset::full == in.subset() || static_cast<int>(in.subset()) == parity)
      multiply(out.parity(parity), in.parity(parity), term, *layout(), columns());
}

template <class T>
void DomainWall<T>::apply_full(Field& out, const Field& in, bool dagger) const {
  if (out.subset() != lattice::Subset::full || in.subset() != lattice::Subset::full || out.data() == in.data() ||
      out.columns() != columns() || in.columns() != columns())
    throw core::InvalidArgument(fmt::format(
        "the domain-wall operator needs two different full fields of {} columns, Ls for each right-hand side",
        columns()));
  const Field* source = &in;
  if (!terms_->trivial && !dagger) {
    if (!work_) work_ = spinor_field<T>(layout(), lattice::Subset::full, columns());
    multiply_all(*work_, in, terms_->product[0]);
    source = &*work_;
  }
  for (int parity = 0; parity < 2; ++parity) {
    Terms terms;
    terms.hop_scale = -0.5;
    if (!terms_->trivial && dagger) terms.hop_term = &terms_->product[1];
    terms.add = &in;
    terms.add_term = &terms_->full_site[dagger ? 1 : 0];
    hop(out, *source, parity, dagger, terms);
  }
}

template <class T>
void DomainWall<T>::to_solution(Field& x, const Field& y) const {
  multiply_all(x, y, terms_->solution);
}
template <class T>
void DomainWall<T>::from_solution(Field& y, const Field& x) const {
  multiply_all(y, x, terms_->product[0]);
}

template class DomainWall<float>;
template class DomainWall<double>;

}  // namespace halocline::qcd
