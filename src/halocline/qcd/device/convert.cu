// SPDX-License-Identifier: Apache-2.0
/// @file
/// Converts spinor fields from one storage to another.

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/field_checks.hpp"
#include "halocline/qcd/device/spinor_array.cuh"

namespace halocline::qcd::device {
namespace {

/// x is the site, y the column. Bytes: one record read, one written.
template <class To, class From>
struct Convert {
  SpinorWriter<To> out;
  SpinorReader<From> in;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    const Spinor<RealOf<From>> from = in.load(site, p.y);
    Spinor<RealOf<To>> to;
    HALOCLINE_UNROLL
    for (int i = 0; i < spinor_reals; ++i) detail::real_of(to, i) = static_cast<RealOf<To>>(detail::real_of(from, i));
    out.store(site, p.y, to);
  }
};

}  // namespace

template <class To, class From>
void convert(DeviceSpinor<To>& out, const DeviceSpinor<From>& in) {
  Context& context = *out.context();
  detail::require_alike(context.box, out.columns(), out.subset(), in.context()->box, in.columns(), in.subset());
  detail::require_one_context(out.context() == in.context());
  detail::require_one_kind(out.components(), in.components());
  if constexpr (std::is_same_v<To, From>) {
    if (&out != &in) context.stream.copy_on_device(out.memory().data(), in.memory().data(), in.memory().bytes());
  } else {
    for (int parity = 0; parity < 2; ++parity)
      if (out.subset() == lattice::Subset::full || static_cast<int>(out.subset()) == parity)
        gpu::launch(context.stream, "convert_spinor", {out.sites(), out.columns(), 1}, {128, 1, 1},
                    Convert<To, From>{out.writer(parity), in.reader(parity)});
  }
}

#define HALOCLINE_INSTANTIATE(To)                                                                                      \
  template void convert(DeviceSpinor<To>&, const DeviceSpinor<double>&);                                               \
  template void convert(DeviceSpinor<To>&, const DeviceSpinor<float>&);                                                \
  template void convert(DeviceSpinor<To>&, const DeviceSpinor<Fixed16>&);                                              \
  template void convert(DeviceSpinor<To>&, const DeviceSpinor<Fixed8>&);
HALOCLINE_INSTANTIATE(double)
HALOCLINE_INSTANTIATE(float)
HALOCLINE_INSTANTIATE(Fixed16)
HALOCLINE_INSTANTIATE(Fixed8)
#undef HALOCLINE_INSTANTIATE

}  // namespace halocline::qcd::device
