// SPDX-License-Identifier: Apache-2.0
//
// Host code alone: what nvcc compiles for each architecture is empty, and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/schur/cuda.cuh"

#include <string>

#include "halocline/core/error.hpp"

namespace halocline::qcd::device {

template <class S>
DeviceSchur<S>::DeviceSchur(DeviceWilson<S>& d, bool symmetric, int parity)
    : DeviceOperator<S>(d.context(), static_cast<lattice::Subset>(parity), d.columns()),
      d_(&d),
      symmetric_(symmetric),
      parity_(parity),
      other_(d.context(), static_cast<lattice::Subset>(1 - parity), d.columns()),
      same_(d.context(), static_cast<lattice::Subset>(parity), d.columns()) {}

template <class S>
void DeviceSchur<S>::require(const Field& field, lattice::Subset subset, const char* what) const {
  if (field.subset() == subset && field.columns() == this->columns() && field.context() == this->context()) return;
  throw core::InvalidArgument(std::string("the ") + what + " of an even-odd operator on a device, for " +
                              std::to_string(this->columns()) + " columns, has " + std::to_string(field.columns()) +
                              ", or is of another subset or box; give a field of its columns() and context(), on the "
                              "sites that the call names");
}

/// Terms that multiply by `scale` A^-1 where there are blocks, and by scale / diagonal where there are none.
template <class S>
HopTerms<S> DeviceSchur<S>::with_inverse(double scale) const {
  HopTerms<S> terms;
  terms.hop_blocks = d_->inverse_blocks();
  terms.hop_scale = terms.hop_blocks != nullptr ? scale : scale / d_->diagonal();
  return terms;
}

template <class S>
void DeviceSchur<S>::enqueue(Field& out, const Field& in, bool dagger, gpu::SumBuffer* sums, const Field* with) {
  const Field* first = &in;
  // H_eo A_oo^-1 H_oe = 1/4 hop A^-1 hop
  HopTerms<S> terms;
  terms.hop_scale = -0.25;
  if (!symmetric_) {
    terms.add_blocks = d_->blocks();
    terms.add_scale = terms.add_blocks != nullptr ? 1.0 : d_->diagonal();
  } else if (dagger) {
    d_->multiply_inverse_diagonal(same_, in, parity_);
    first = &same_;
  } else {
    terms = with_inverse(-0.25);
  }
  terms.add = &in;
  terms.sums = sums;
  terms.with = with;
  d_->hopping().apply(other_, *first, 1 - parity_, dagger, with_inverse(1.0));
  d_->hopping().apply(out, other_, parity_, dagger, terms);
}

template <class S>
void DeviceSchur<S>::prepare(Field& rhs, const Field& source) {
  require(rhs, this->subset(), "right-hand side");
  require(source, lattice::Subset::full, "source");
  d_->multiply_inverse_diagonal(other_, source, 1 - parity_);
  HopTerms<S> terms;
  terms.hop_scale = 0.5;
  terms.add = &source;
  d_->hopping().apply(rhs, other_, parity_, false, terms);
  if (symmetric_) d_->multiply_inverse_diagonal(rhs, rhs, parity_);
}

template <class S>
void DeviceSchur<S>::reconstruct(Field& solution, const Field& half, const Field& source) {
  require(half, this->subset(), "half solution");
  require(solution, lattice::Subset::full, "solution");
  require(source, lattice::Subset::full, "source");
  assign_parity(solution, 1.0, half, parity_);
  HopTerms<S> terms;
  terms.hop_scale = 0.5;
  terms.add = &source;
  d_->hopping().apply(other_, half, 1 - parity_, false, terms);
  d_->multiply_inverse_diagonal(solution, other_, 1 - parity_);
}

template class DeviceSchur<double>;
template class DeviceSchur<float>;
template class DeviceSchur<Fixed16>;
template class DeviceSchur<Fixed8>;

}  // namespace halocline::qcd::device

#endif
