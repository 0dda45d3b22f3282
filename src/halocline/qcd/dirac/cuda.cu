// SPDX-License-Identifier: Apache-2.0
//
// Host code only. For the GPU architectures nvcc compiles an empty file, which costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/dirac/cuda.cuh"

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
void DeviceDirac<S>::multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger) const {
  const Term* term = inverse_site(parity, dagger);
  if (term == nullptr) return assign_parity(out, 1 / diagonal(), in, parity);
  if (!term->twisted()) return multiply(out, in, *term->first, parity);
  multiply_sites<S>(out, in, term, 1.0, nullptr, nullptr, 0.0, parity);
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
