// SPDX-License-Identifier: Apache-2.0
//
// The per-site kernels with the number type and an accessor of a GPU thread: compiled where nvcc is found, so that they
// never take in what a device cannot run. The device back end is not built on this file.

#include "halocline/qcd/clover/detail/kernels.hpp"
#include "halocline/qcd/wilson/detail/kernels.hpp"

namespace {

using halocline::core::Complex;
using namespace halocline::qcd;

template <class Real>
struct DeviceAccessor {
  const Real* links;
  const Real* spinors;
  const int* neighbours;

  template <int d, int sign>
  __device__ wilson::HalfSpinor<Real> half() const {
    const Real* psi = spinors + 24 * neighbours[d];
    return wilson::project<d % 4, sign, Real>([&](int colour, int spin) {
      return Complex<Real>{psi[2 * (4 * colour + spin)], psi[2 * (4 * colour + spin) + 1]};
    });
  }
  template <int d>
  __device__ Complex<Real> link(int row, int column) const {
    const Real* u = links + 18 * d + 2 * (3 * row + column);
    return {u[0], u[1]};
  }
};

template <class Real, bool dagger>
__global__ void hop_and_multiply(Real* out, const Real* in, const Real* links, const Real* blocks,
                                 const int* neighbours) {
  const int site = blockIdx.x * blockDim.x + threadIdx.x;
  const DeviceAccessor<Real> accessor{links + 144 * site, in, neighbours + 8 * site};
  wilson::Spinor<Real> sum;
  wilson::hop<dagger>(sum, accessor);
  const Real* block = blocks + 72 * site;
  sum = clover::multiply_block<Real>([&](int i) { return block[i]; }, sum);
  for (int colour = 0; colour < 3; ++colour)
    for (int spin = 0; spin < 4; ++spin) {
      out[24 * site + 2 * (4 * colour + spin)] = sum.at[colour][spin].re;
      out[24 * site + 2 * (4 * colour + spin) + 1] = sum.at[colour][spin].im;
    }
}

template __global__ void hop_and_multiply<float, false>(float*, const float*, const float*, const float*, const int*);
template __global__ void hop_and_multiply<float, true>(float*, const float*, const float*, const float*, const int*);
template __global__ void hop_and_multiply<double, false>(double*, const double*, const double*, const double*,
                                                         const int*);

}  // namespace
