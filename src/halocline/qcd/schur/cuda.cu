// SPDX-License-Identifier: Apache-2.0
//
// Host code only. In nvcc's pass for a GPU architecture this file is empty and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/schur/cuda.cuh"

#include <string>

#include "halocline/core/error.hpp"

namespace halocline::qcd::device {

template <class S>
DeviceSchur<S>::DeviceSchur(DeviceDirac<S>& d, SchurForm form, int parity)
    : DeviceOperator<S>(d.context(), static_cast<lattice::Subset>(parity), d.columns(), d.components()),
      d_(&d),
      form_(form),
      parity_(parity),
      other_(d.context(), static_cast<lattice::Subset>(1 - parity), d.columns(), d.components()),
      same_(d.context(), static_cast<lattice::Subset>(parity), d.columns(), d.components()) {}

template <class S>
void DeviceSchur<S>::require(const Field& field, lattice::Subset subset, const char* what) const {
  if (field.subset() == subset && field.columns() == this->columns() && field.components() == this->components() &&
      field.context() == this->context())
    return;
  throw core::InvalidArgument(std::string("the ") + what + " of an even-odd operator on a device, for " +
                              std::to_string(this->columns()) + " columns, has " + std::to_string(field.columns()) +
                              ", or is of another subset or box; give a field of its columns() and context(), on the "
                              "sites that the call names");
}

template <class S>
void DeviceSchur<S>::enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) {
  even_odd::apply(*d_, form_, parity_, dagger, out, in, other_, same_, [&](DeviceTerms<S>& terms) {
    terms.sums = sums.buffer;
    terms.with = sums.with;
    terms.step = sums.step;
  });
}

template <class S>
void DeviceSchur<S>::prepare(Field& rhs, const Field& source) {
  require(rhs, this->subset(), "right-hand side");
  require(source, lattice::Subset::full, "source");
  even_odd::prepare(*d_, form_, parity_, rhs, source, other_);
}

template <class S>
void DeviceSchur<S>::reconstruct(Field& solution, const Field& half, const Field& source) {
  require(half, this->subset(), "half solution");
  require(solution, lattice::Subset::full, "solution");
  require(source, lattice::Subset::full, "source");
  assign_parity(solution, 1.0, half, parity_);
  even_odd::reconstruct(*d_, parity_, solution, half, source, other_);
}

template class DeviceSchur<double>;
template class DeviceSchur<float>;
template class DeviceSchur<Fixed16>;
template class DeviceSchur<Fixed8>;

}  // namespace halocline::qcd::device

#endif
