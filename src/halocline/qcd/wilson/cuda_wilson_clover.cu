// SPDX-License-Identifier: Apache-2.0
//
// Host code only. For the GPU architectures nvcc compiles an empty file, which costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/wilson/cuda_wilson_clover.cuh"

namespace halocline::qcd::device {

template <class S>
WilsonData<S> wilson_data(const ContextPtr& context, const HostLinks& links, const HostClover& clover,
                          const Action& action, int link_reals) {
  WilsonData<S> data{.links = std::make_shared<const DeviceLinks<S>>(context, links, link_reals),
                     .diagonal = hopping_part(action).diagonal(),
                     .mu = twisted_mass(action)};
  if (!clover.blocks.empty()) {
    data.blocks = std::make_shared<const DeviceClover<S>>(context, clover.blocks, 56);
    data.inverse = std::make_shared<const DeviceClover<S>>(context, clover.inverse, 72);
  }
  return data;
}

template <class S>
std::int64_t wilson_bytes(const Box& box, bool clover, int link_reals) {
  std::int64_t bytes = DeviceLinks<S>::bytes(box, link_reals);
  if (clover) bytes += DeviceClover<S>::bytes(box, 56) + DeviceClover<S>::bytes(box, 72);
  return bytes;
}

template <class S>
DeviceWilson<S>::DeviceWilson(const WilsonData<S>& data, int columns)
    : DeviceDirac<S>(data.links->context(), lattice::Subset::full, columns),
      data_(data),
      hopping_(data.links, columns) {
  site_.first = data.blocks.get();
  inverse_site_.first = data.inverse.get();
}

template <class S>
HopTerms<S> hop_terms(const DeviceTerms<S>& terms) {
  HopTerms<S> out;
  out.hop_scale = terms.hop_scale;
  out.hop_blocks = terms.hop_term != nullptr ? terms.hop_term->first : nullptr;
  out.add = terms.add;
  out.add_scale = terms.add_scale;
  out.add_blocks = terms.add_term != nullptr ? terms.add_term->first : nullptr;
  out.sums = terms.sums;
  out.first_sum = terms.first_sum;
  out.with = terms.with;
  out.step = terms.step;
  return out;
}

template <class S>
void DeviceWilson<S>::hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) {
  hopping_.apply(out, in, target_parity, dagger, hop_terms(terms));
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template HopTerms<S> hop_terms(const DeviceTerms<S>&);                                                               \
  template class DeviceWilson<S>;                                                                                      \
  template WilsonData<S> wilson_data(const ContextPtr&, const HostLinks&, const HostClover&, const Action&, int);      \
  template std::int64_t wilson_bytes<S>(const Box&, bool, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device

#endif
