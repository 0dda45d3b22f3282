// SPDX-License-Identifier: Apache-2.0
/// @file
/// The clover block times a spinor, in a kernel of its own.

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/clover_array.cuh"
#include "halocline/qcd/device/field_checks.hpp"

namespace halocline::qcd::device {
namespace {

/// Point x is the site, y the column. Cost: 504 flops, or 516 with 56 reals; 48 reals of spinors, and the block,
/// which columns share.
template <class S, int reals>
struct MultiplyClover {
  SpinorWriter<S> out;
  SpinorReader<S> in;  ///< may be the memory of `out`
  CloverReader<S, reals> blocks;

  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    const Spinor<RealOf<S>> psi = detail::load_spinor<S, false>(in.data, in.scale, in.stride, site, p.y);
    out.store(site, p.y, blocks.multiply(site, psi));
  }
};

template <class S, int reals>
void run(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceClover<S>& blocks, int parity) {
  // A block of threads holds up to four columns of a site, so that these read the clover block from memory once.
  const int columns = out.columns();
  const gpu::Block block{columns > 4 ? 32 : 64, columns > 4 ? 4 : columns, 1};
  gpu::launch(out.context()->stream, "multiply_clover", {out.sites(), columns, 1}, block,
              MultiplyClover<S, reals>{out.writer(parity), in.reader(parity), blocks.template reader<reals>(parity)});
}

}  // namespace

template <class S>
void multiply(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, const DeviceClover<S>& blocks, int parity) {
  const Box& box = out.context()->box;
  detail::require_alike(box, out.columns(), out.subset(), in.context()->box, in.columns(), in.subset(), parity);
  detail::require_box(blocks.context()->box, box, "clover blocks");
  detail::require_one_context(out.context() == in.context() && out.context() == blocks.context());
  if (blocks.reals() == 72)
    run<S, 72>(out, in, blocks, parity);
  else
    run<S, 56>(out, in, blocks, parity);
}

template void multiply(DeviceSpinor<double>&, const DeviceSpinor<double>&, const DeviceClover<double>&, int);
template void multiply(DeviceSpinor<float>&, const DeviceSpinor<float>&, const DeviceClover<float>&, int);
template void multiply(DeviceSpinor<Fixed16>&, const DeviceSpinor<Fixed16>&, const DeviceClover<Fixed16>&, int);
template void multiply(DeviceSpinor<Fixed8>&, const DeviceSpinor<Fixed8>&, const DeviceClover<Fixed8>&, int);

}  // namespace halocline::qcd::device
