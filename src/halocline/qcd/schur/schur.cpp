// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schur/schur.hpp"

#include <algorithm>

#include "halocline/core/error.hpp"

namespace halocline::qcd {
namespace {

template <class Field>
void require(const Field& field, lattice::Subset subset, int columns, const char* what) {
  if (field.subset() != subset)
    throw core::InvalidArgument(std::string("the ") + what +
                                " of an even-odd operator has the wrong subset of sites; give a field of its subset()");
  if (field.columns() != columns)
    throw core::InvalidArgument(std::string("the ") + what + " of an even-odd operator for " + std::to_string(columns) +
                                " columns has " + std::to_string(field.columns()) + "; give a field of its columns()");
}

/// hop terms that multiply by `scale` A^-1 where there are blocks, and by scale / diagonal where there are none.
template <class T>
wilson::HopTerms<T> with_inverse(const WilsonClover<T>& d, int parity, double scale) {
  wilson::HopTerms<T> terms;
  terms.hop_blocks = d.inverse_blocks(parity);
  terms.hop_scale = static_cast<T>(terms.hop_blocks ? scale : scale / d.diagonal());
  return terms;
}

}  // namespace

template <class T>
Schur<T>::Schur(const WilsonClover<T>& d, SchurForm form, int parity)
    : d_(&d),
      form_(form),
      parity_(parity),
      other_(spinor_field<T>(d.layout(), lattice::other(static_cast<lattice::Subset>(parity)), d.columns())),
      same_(spinor_field<T>(d.layout(), static_cast<lattice::Subset>(parity), d.columns())) {}

template <class T>
void Schur<T>::apply(Field& out, const Field& in) {
  require(out, subset(), columns(), "result");
  require(in, subset(), columns(), "operand");
  const auto& hopping = d_->hopping();
  hopping.apply(other_.data(), in.data(), 1 - parity_, false, with_inverse(*d_, 1 - parity_, 1.0));
  // H_eo A_oo^-1 H_oe = 1/4 hop A^-1 hop
  wilson::HopTerms<T> terms;
  if (form_ == SchurForm::symmetric) {
    terms = with_inverse(*d_, parity_, -0.25);
  } else {
    terms.hop_scale = T(-0.25);
    terms.add_blocks = d_->blocks(parity_);
    terms.add_scale = terms.add_blocks ? T(1) : static_cast<T>(d_->diagonal());
  }
  terms.add = in.data();
  hopping.apply(out.data(), other_.data(), parity_, false, terms);
}

template <class T>
void Schur<T>::apply_dagger(Field& out, const Field& in) {
  require(out, subset(), columns(), "result");
  require(in, subset(), columns(), "operand");
  const auto& hopping = d_->hopping();
  const T* first = in.data();
  wilson::HopTerms<T> terms;
  terms.hop_scale = T(-0.25);
  terms.add = in.data();
  if (form_ == SchurForm::symmetric) {
    d_->multiply_inverse_diagonal(same_.data(), in.data(), parity_);
    first = same_.data();
  } else {
    terms.add_blocks = d_->blocks(parity_);
    terms.add_scale = terms.add_blocks ? T(1) : static_cast<T>(d_->diagonal());
  }
  hopping.apply(other_.data(), first, 1 - parity_, true, with_inverse(*d_, 1 - parity_, 1.0));
  hopping.apply(out.data(), other_.data(), parity_, true, terms);
}

template <class T>
void Schur<T>::prepare(Field& rhs, const Field& source) {
  require(rhs, subset(), columns(), "right-hand side");
  require(source, lattice::Subset::full, columns(), "source");
  d_->multiply_inverse_diagonal(other_.data(), source.parity(1 - parity_), 1 - parity_);
  wilson::HopTerms<T> terms;
  terms.hop_scale = T(0.5);
  terms.add = source.parity(parity_);
  d_->hopping().apply(rhs.data(), other_.data(), parity_, false, terms);
  if (form_ == SchurForm::symmetric) d_->multiply_inverse_diagonal(rhs.data(), rhs.data(), parity_);
}

template <class T>
void Schur<T>::reconstruct(Field& solution, const Field& half, const Field& source) {
  require(half, subset(), columns(), "half solution");
  require(solution, lattice::Subset::full, columns(), "solution");
  require(source, lattice::Subset::full, columns(), "source");
  std::copy_n(half.data(), half.size(), solution.parity(parity_));
  wilson::HopTerms<T> terms;
  terms.hop_scale = T(0.5);
  terms.add = source.parity(1 - parity_);
  d_->hopping().apply(other_.data(), half.data(), 1 - parity_, false, terms);
  d_->multiply_inverse_diagonal(solution.parity(1 - parity_), other_.data(), 1 - parity_);
}

template class Schur<float>;
template class Schur<double>;

}  // namespace halocline::qcd
