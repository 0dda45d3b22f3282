// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schur/schur.hpp"

#include <algorithm>

#include "halocline/core/error.hpp"

namespace halocline::qcd {
namespace {

template <class T>
void require(const SpinorField<T>& field, const Schur<T>& schur, lattice::Subset subset, const char* what) {
  const int columns = schur.columns();
  if (!(field.layout() == *schur.layout()))
    throw core::InvalidArgument(std::string("the ") + what +
                                " of an even-odd operator has another layout; give a field of its layout(), which "
                                "differs between float and double");
  if (field.subset() != subset)
    throw core::InvalidArgument(std::string("the ") + what +
                                " of an even-odd operator has the wrong subset of sites; give a field of its subset()");
  if (field.columns() != columns)
    throw core::InvalidArgument(std::string("the ") + what + " of an even-odd operator for " + std::to_string(columns) +
                                " columns has " + std::to_string(field.columns()) + "; give a field of its columns()");
}

}  // namespace

template <class T>
Schur<T>::Schur(const DiracOperator<T>& d, SchurForm form, int parity)
    : d_(&d),
      form_(form),
      parity_(parity),
      other_(d.field(lattice::other(static_cast<lattice::Subset>(parity)))),
      same_(d.field(static_cast<lattice::Subset>(parity))) {}

template <class T>
void Schur<T>::apply(Field& out, const Field& in, bool dagger) const {
  require(out, *this, subset(), "result");
  require(in, *this, subset(), "operand");
  even_odd::apply(*d_, form_, parity_, dagger, out, in, other_, same_, [](auto&) {});
}

template <class T>
void Schur<T>::prepare(Field& rhs, const Field& source) {
  require(rhs, *this, subset(), "right-hand side");
  require(source, *this, lattice::Subset::full, "source");
  even_odd::prepare(*d_, form_, parity_, rhs, source, other_);
}

template <class T>
void Schur<T>::reconstruct(Field& solution, const Field& half, const Field& source) {
  require(half, *this, subset(), "half solution");
  require(solution, *this, lattice::Subset::full, "solution");
  require(source, *this, lattice::Subset::full, "source");
  std::copy_n(half.data(), half.size(), solution.parity(parity_));
  even_odd::reconstruct(*d_, parity_, solution, half, source, other_);
}

template class Schur<float>;
template class Schur<double>;

}  // namespace halocline::qcd
