// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/domain_wall/domain_wall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd {
DomainWallSetup::DomainWallSetup(const GaugeField& gauge, const DomainWallAction& action, int lanes,
                                 std::string transport)
    : HoppingSetup(gauge, (action.validate(), action.wilson()), {}, lanes, std::move(transport), action.ls),
      action_(action) {
  const WallMatrices<double> check(action_);  // throws where a matrix cannot be inverted
}

std::unique_ptr<DiracOperator<float>> DomainWallSetup::in_float(int columns, int stored_reals) const {
  return std::make_unique<DomainWall<float>>(*this, columns, stored_reals);
}
std::unique_ptr<DiracOperator<double>> DomainWallSetup::in_double(int columns, int stored_reals) const {
  return std::make_unique<DomainWall<double>>(*this, columns, stored_reals);
}

template <class T>
DomainWall<T>::FifthTerms::FifthTerms(const DomainWallAction& action) : WallMatrices<T>(action) {
  for (std::size_t dagger = 0; dagger < 2; ++dagger) {
    full_site[dagger].fifth = &this->full[dagger];
    product[dagger].fifth = &this->b[dagger];
  }
  solution.fifth = &this->inverse_b;
  source_hop.fifth = &this->c;
  source_site.fifth = &this->one_minus_cd;
}

template <class T>
DomainWall<T>::DomainWall(const DomainWallSetup& setup, int columns, int stored_reals)
    : wilson::HoppingOperator<T>(setup, columns, stored_reals),
      action_(setup.action()),
      terms_(std::make_shared<const FifthTerms>(setup.action())) {
  require_columns();
  set_fifth_terms();
}

template <class T>
DomainWall<T>::DomainWall(const DomainWall& other, const DomainWallAction& action)
    : wilson::HoppingOperator<T>(other, other.columns()),
      action_(action),
      terms_(std::make_shared<const FifthTerms>(action)) {
  set_fifth_terms();
}

template <class T>
std::unique_ptr<DomainWall<T>> DomainWall<T>::pauli_villars() const {
  DomainWallAction action = action_;
  action.mass = 1;
  return std::unique_ptr<DomainWall>(new DomainWall(*this, action));
}

template <class T>
void DomainWall<T>::set_fifth_terms() {
  for (int parity = 0; parity < 2; ++parity)
    for (const bool dagger : {false, true})
      this->set_terms(parity, dagger, {.fifth = &terms_->a[dagger ? 1 : 0]},
                      {.fifth = &terms_->inverse_a[dagger ? 1 : 0]});
}

template <class T>
DomainWall<T>::DomainWall(const DomainWall& other, int columns)
    : wilson::HoppingOperator<T>(other, columns), action_(other.action_), terms_(other.terms_) {
  require_columns();
}

template <class T>
std::unique_ptr<DiracOperator<T>> DomainWall<T>::with_columns(int columns) const {
  return std::make_unique<DomainWall>(*this, columns);
}

template <class T>
void DomainWall<T>::require_columns() const {
  if (this->columns() % points() != 0)
    throw core::InvalidArgument(
        fmt::format("a domain-wall operator with Ls = {} was asked for {} columns; give a multiple of Ls", points(),
                    this->columns()));
}

template <class T>
void DomainWall<T>::multiply_all(Field& out, const Field& in, const Term& term) const {
  for (int parity = 0; parity < 2; ++parity)
    if (lattice::Subset::full == in.subset() || static_cast<int>(in.subset()) == parity)
      multiply(out.parity(parity), in.parity(parity), term, *this->layout(), this->columns());
}

template <class T>
void DomainWall<T>::apply_full(Field& out, const Field& in, bool dagger) const {
  if (out.subset() != lattice::Subset::full || in.subset() != lattice::Subset::full || out.data() == in.data() ||
      !(out.layout() == *this->layout() && in.layout() == *this->layout()) || out.columns() != this->columns() ||
      in.columns() != this->columns())
    throw core::InvalidArgument(fmt::format(
        "the domain-wall operator needs two different full fields of its layout and of {} columns, Ls for each "
        "right-hand side",
        this->columns()));
  const Field* source = &in;
  if (!terms_->trivial && !dagger) {
    if (!work_) work_ = spinor_field<T>(this->layout(), lattice::Subset::full, this->columns());
    multiply_all(*work_, in, terms_->product[0]);
    source = &*work_;
  }
  for (int parity = 0; parity < 2; ++parity) {
    Terms terms;
    terms.hop_scale = -0.5;
    if (!terms_->trivial && dagger) terms.hop_term = &terms_->product[1];
    terms.add = &in;
    terms.add_term = &terms_->full_site[dagger ? 1 : 0];
    this->hop(out, *source, parity, dagger, terms);
  }
}

template <class T>
void DomainWall<T>::apply_full(std::span<std::complex<double>> out, std::span<const std::complex<double>> in,
                               bool dagger) const {
  const int ls = points();
  const auto each = static_cast<std::size_t>(spinor_components * this->layout()->geometry().local_volume());
  const std::size_t expected = each * static_cast<std::size_t>(ls);
  if (in.size() != expected || out.size() != expected || this->columns() != ls)
    throw core::InvalidArgument(fmt::format(
        "a domain-wall operator of {} columns was given arrays of {} and {} complex numbers; give an operator of Ls = "
        "{} columns and arrays [s][t][z][y][x][spin 4][colour 3], {} numbers",
        this->columns(), in.size(), out.size(), ls, expected));
  Field from = this->field(lattice::Subset::full), to = this->field(lattice::Subset::full);
  for (int s = 0; s < ls; ++s) from_canonical<T>(from, s, in.subspan(static_cast<std::size_t>(s) * each, each));
  apply_full(to, from, dagger);
  for (int s = 0; s < ls; ++s) to_canonical<T>(out.subspan(static_cast<std::size_t>(s) * each, each), to, s);
}

template <class T>
void DomainWall<T>::load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) const {
  std::ranges::fill(b.span(), T(0));
  const int ls = points();
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::vector<std::complex<double>> half(sources[i].begin(), sources[i].end());
    const auto keep = [&](bool upper) {
      for (std::size_t k = 0; k < half.size(); ++k) half[k] = (k % 12 < 6) == upper ? sources[i][k] : 0.0;
      return std::span<const std::complex<double>>(half);
    };
    from_canonical<T>(b, static_cast<int>(i) * ls, keep(true));
    from_canonical<T>(b, static_cast<int>(i) * ls + ls - 1, keep(false));
  }
  if (terms_->source_on_walls) return;
  // (1 - c d) b + 1/2 c hop b
  Field surface = b;
  for (int parity = 0; parity < 2; ++parity) {
    Terms terms;
    terms.hop_scale = 0.5;
    terms.hop_term = &terms_->source_hop;
    terms.add = &surface;
    terms.add_term = &terms_->source_site;
    this->hop(b, surface, parity, false, terms);
  }
}

template <class T>
void DomainWall<T>::unload(std::span<std::complex<double>> quark, const Field& y, int number, int minus,
                           int plus) const {
  const int ls = points();
  const std::int64_t of_one = std::int64_t{ls} * spinor_reals * this->layout()->lanes();
  const std::int64_t of_all = std::int64_t{this->columns()} * spinor_reals * this->layout()->lanes();
  Field one = spinor_field<T>(this->layout(), lattice::Subset::full, ls);
  for (std::int64_t tile = 0; tile < 2 * this->layout()->tiles(); ++tile)
    std::copy_n(y.data() + tile * of_all + number * of_one, of_one, one.data() + tile * of_one);
  if (!terms_->trivial)
    for (int parity = 0; parity < 2; ++parity)
      multiply(one.parity(parity), one.parity(parity), terms_->solution, *this->layout(), ls);
  to_canonical<T>(quark, one, plus);
  std::vector<std::complex<double>> lower(quark.size());
  to_canonical<T>(lower, one, minus);
  for (std::size_t k = 0; k < quark.size(); ++k)
    if (k % 12 >= 6) quark[k] = lower[k];
}

template <class T>
void DomainWall<T>::unload_quark(std::span<std::complex<double>> quark, const Field& y, int number) const {
  unload(quark, y, number, 0, points() - 1);
}
template <class T>
void DomainWall<T>::unload_midpoint(std::span<std::complex<double>> quark, const Field& y, int number) const {
  unload(quark, y, number, points() / 2, points() / 2 - 1);
}

template <class T>
void DomainWall<T>::to_solution(Field& x, const Field& y) const {
  multiply_all(x, y, terms_->solution);
}
template <class T>
void DomainWall<T>::from_solution(Field& y, const Field& x, bool dagger) const {
  multiply_all(y, x, terms_->product[dagger ? 1 : 0]);
}

template class DomainWall<float>;
template class DomainWall<double>;

}  // namespace halocline::qcd
