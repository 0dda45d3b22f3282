// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/dirac/operator.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "halocline/core/error.hpp"

namespace halocline::qcd {

template <class T>
void DiracOperator<T>::apply(Field& out, const Field& in, bool dagger) const {
  if (out.subset() != lattice::Subset::full || in.subset() != lattice::Subset::full || out.data() == in.data())
    throw core::InvalidArgument(
        "the operator D needs two different full fields, and was given one parity or one field");
  if (!(out.layout() == *layout() && in.layout() == *layout()))
    throw core::InvalidArgument(
        "an operator D was given fields of another layout; make them in its layout(), which differs between float and "
        "double");
  if (out.columns() != columns() || in.columns() != columns())
    throw core::InvalidArgument(
        fmt::format("an operator D made for {} columns was given fields of {} and {}; make one for them, "
                    "d.with_columns(columns)",
                    columns(), in.columns(), out.columns()));
  for (int parity = 0; parity < 2; ++parity) {
    Terms terms;
    terms.hop_scale = -0.5;
    terms.add = &in;
    terms.add_term = site(parity, dagger);
    terms.add_scale = terms.add_term != nullptr ? 1.0 : diagonal();
    hop(out, in, parity, dagger, terms);
  }
}

template <class T>
void DiracOperator<T>::load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) const {
  std::ranges::fill(b.span(), T(0));
  for (std::size_t i = 0; i < sources.size(); ++i) from_canonical<T>(b, static_cast<int>(i), sources[i]);
}

template <class T>
void DiracOperator<T>::unload_quark(std::span<std::complex<double>> quark, const Field& x, int number) const {
  to_canonical<T>(quark, x, number);
}

template <class T>
void DiracOperator<T>::unload_midpoint(std::span<std::complex<double>>, const Field&, int) const {
  throw core::InvalidArgument("a midpoint was asked of quarks without a fifth dimension; it belongs to domain walls");
}

template <class T>
void DiracOperator<T>::multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger) const {
  T* to = out.parity(parity);
  const T* from = in.parity(parity);
  if (const Term* term = inverse_site(parity, dagger)) return multiply(to, from, *term, *layout(), columns());
  const T factor = static_cast<T>(1 / diagonal());
  const std::int64_t count = layout()->tiles() * columns() * 2 * components() * layout()->lanes();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) to[i] = factor * from[i];
}

template class DiracOperator<float>;
template class DiracOperator<double>;
static_assert(EvenOddOperator<DiracOperator<float>> && EvenOddOperator<DiracOperator<double>>);

}  // namespace halocline::qcd
