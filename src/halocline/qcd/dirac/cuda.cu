// SPDX-License-Identifier: Apache-2.0
//
// Host code only. For the GPU architectures nvcc compiles an empty file, which costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/dirac/cuda.cuh"

#include <type_traits>

#include "halocline/core/error.hpp"

namespace halocline::qcd::device {

template <class S>
void DeviceDirac<S>::enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) {
  for (int parity = 0; parity < 2; ++parity) {
    Terms terms;
    terms.hop_scale = -0.5;
    terms.add = &in;
    terms.add_term = site(parity, dagger);
    terms.add_scale = terms.add_term != nullptr ? 1.0 : diagonal();
    terms.sums = sums.buffer;
    terms.first_sum = 3 * parity;
    terms.with = sums.with;
    hop(out, in, parity, dagger, terms);
  }
}

template <class S>
void DeviceDirac<S>::multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger) {
  const Term* term = inverse_site(parity, dagger);
  if (term == nullptr) return assign_parity(out, 1 / diagonal(), in, parity);
  if (!term->twisted()) return multiply(out, in, *term->first, parity);
  multiply_sites<S>(out, in, term, 1.0, nullptr, nullptr, 0.0, parity);
}

template <class S>
void DeviceDirac<S>::load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) {
  this->context()->stream.set_zero(b.memory().data(), b.memory().bytes());
  for (std::size_t c = 0; c < sources.size(); ++c) from_canonical(b, static_cast<int>(c), sources[c]);
}

template <class S>
void DeviceDirac<S>::unload_quark(std::span<std::complex<double>> quark, const Field& x, int number) {
  to_canonical(quark, x, number);
}

template <class S>
void DeviceDirac<S>::unload_midpoint(std::span<std::complex<double>>, const Field&, int) {
  throw core::InvalidArgument("the middle of a fifth dimension was asked of an operator of four; ask a domain wall");
}

template <class S>
void DeviceDirac<S>::write_quark(std::complex<double>* out, const Field& x, int number, int exponent) {
  if constexpr (std::is_same_v<S, double>)
    write_canonical(out, x, number, exponent);
  else
    throw core::InvalidArgument("a quark was to be written from a device field that is not of double precision");
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template class DeviceDirac<S>;                                                                                       \
  static_assert(EvenOddOperator<DeviceDirac<S>>);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device

#endif
