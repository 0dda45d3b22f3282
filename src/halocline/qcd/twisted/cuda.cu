// SPDX-License-Identifier: Apache-2.0
//
// Host code only. For the GPU architectures nvcc compiles an empty file, which costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/twisted/cuda.cuh"

namespace halocline::qcd::device {

template <class S>
DeviceTwisted<S>::DeviceTwisted(const WilsonData<S>& data, int columns)
    : DeviceDirac<S>(data.links->context(), lattice::Subset::full, columns),
      data_(data),
      hopping_(data.links, columns) {
  const double d = data.diagonal, square = d * d + data.mu * data.mu;
  for (int dagger = 0; dagger < 2; ++dagger) {
    const double mu = dagger != 0 ? -data.mu : data.mu;
    Term& site = site_[dagger];
    Term& inverse = inverse_site_[dagger];
    site.twist = mu;
    if (data.blocks) {
      site.second = data.blocks.get();
      inverse.first = data.inverse.get();
      inverse.second = data.blocks.get();
      inverse.twist = -mu;
    } else {
      site.constant = d;
      inverse.constant = d / square;
      inverse.twist = -mu / square;
    }
  }
}

template <class S>
void DeviceTwisted<S>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) {
  if (terms.hop_term == nullptr && terms.add_term == nullptr)
    return hopping_.apply(out, in, target_parity, dagger, hop_terms(terms));
  hopping_.apply(out, in, target_parity, dagger);
  multiply_sites<S>(out, out, terms.hop_term, terms.hop_scale, terms.add, terms.add_term, terms.add_scale,
                    target_parity);
}

template class DeviceTwisted<double>;
template class DeviceTwisted<float>;
template class DeviceTwisted<Fixed16>;
template class DeviceTwisted<Fixed8>;

}  // namespace halocline::qcd::device

#endif
