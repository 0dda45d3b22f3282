// SPDX-License-Identifier: Apache-2.0
/// @file
/// Site terms times spinors, in a kernel of their own.

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/dirac/cuda.cuh"

namespace halocline::qcd::device {
namespace {

template <class S>
struct TermReader {
  using Real = RealOf<S>;
  AnyBlocks<S> first, second;
  Real constant = 1, twist = 0;
  bool any = false, twisted = false;

  TermReader() = default;
  TermReader(const DeviceSiteTerm<S>* term, int parity) {
    if (term == nullptr) return;
    any = true;
    twisted = term->twisted();
    first = AnyBlocks<S>::of(term->first, parity);
    second = AnyBlocks<S>::of(term->second, parity);
    constant = static_cast<Real>(term->constant);
    twist = static_cast<Real>(term->twist);
  }

  HALOCLINE_KERNEL_PART Spinor<Real> apply(int site, const Spinor<Real>& given) const {
    if (!any) return given;
    Spinor<Real> psi = given;
    if (first.reals != 0) psi = first.multiply(site, psi);
    if (!twisted) return psi;
    Spinor<Real> out;
    if (second.reals != 0) out = second.multiply(site, psi);
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) {
      HALOCLINE_UNROLLED(4)
      for (int spin = 0; spin < 4; ++spin) {
        const auto& z = psi.at[colour][spin];
        auto& y = out.at[colour][spin];
        // gamma5 is diag(1, 1, -1, -1).
        const Real tau = spin < 2 ? twist : -twist;
        if (second.reals == 0) y = constant * z;
        y.re -= tau * z.im;
        y.im += tau * z.re;
      }
    }
    return out;
  }
};

/// Point x is the site, y the column. Cost: up to 516 flops a block; 48 reals of spinors, 72 with `add`; and the
/// blocks, which columns share.
template <class S>
struct MultiplySites {
  using Real = RealOf<S>;
  SpinorWriter<S> out;
  SpinorReader<S> in, add;  ///< may be the memory of `out`; add without data: nothing is added
  TermReader<S> term, add_term;
  Real scale, add_scale;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    Spinor<Real> psi = term.apply(site, detail::load_spinor<S, false>(in.data, in.scale, in.stride, site, p.y));
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) {
      HALOCLINE_UNROLLED(4)
      for (int spin = 0; spin < 4; ++spin) psi.at[colour][spin] = scale * psi.at[colour][spin];
    }
    if (add.data != nullptr) {
      const Spinor<Real> added =
          add_term.apply(site, detail::load_spinor<S, false>(add.data, add.scale, add.stride, site, p.y));
      HALOCLINE_UNROLLED(3)
      for (int colour = 0; colour < 3; ++colour) {
        HALOCLINE_UNROLLED(4)
        for (int spin = 0; spin < 4; ++spin) psi.at[colour][spin] += add_scale * added.at[colour][spin];
      }
    }
    out.store(site, p.y, psi);
  }
};

template <class S>
void require_alike(const DeviceSpinor<S>& out, const DeviceSpinor<S>& other, int parity) {
  detail::require_alike(out.context()->box, out.columns(), out.subset(), other.context()->box, other.columns(),
                        other.subset(), parity);
  detail::require_one_context(out.context() == other.context());
}

}  // namespace

template <class S>
void multiply_sites(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceSiteTerm<S>* term, double scale,
                    const DeviceSpinor<S>* add, const DeviceSiteTerm<S>* add_term, double add_scale, int parity) {
  using Real = RealOf<S>;
  require_alike(out, in, parity);
  if (add != nullptr) require_alike(out, *add, parity);
  // A block of threads holds up to four columns of a site, so that these read its clover blocks from memory once.
  const int columns = out.columns();
  const gpu::Block block{columns > 4 ? 32 : 64, columns > 4 ? 4 : columns, 1};
  gpu::launch(out.context()->stream, "multiply_sites", {out.sites(), columns, 1}, block,
              MultiplySites<S>{out.writer(parity), in.reader(parity),
                               add != nullptr ? add->reader(parity) : SpinorReader<S>{}, TermReader<S>(term, parity),
                               TermReader<S>(add_term, parity), static_cast<Real>(scale),
                               static_cast<Real>(add_scale)});
}

#define HALOCLINE_INSTANTIATE(S)                                                                                       \
  template void multiply_sites(DeviceSpinor<S>&, const DeviceSpinor<S>&, const DeviceSiteTerm<S>*, double,             \
                               const DeviceSpinor<S>*, const DeviceSiteTerm<S>*, double, int);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device
