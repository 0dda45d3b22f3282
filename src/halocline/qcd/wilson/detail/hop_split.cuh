// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Exterior sites in two parts: their neighbours in the box before the messages arrive, the others after.
///
/// A hop with a halo usually computes an exterior site whole, after all messages. Here the kernel of the interior
/// sites also adds up what the exterior sites get from neighbours in the box, while messages travel. It stores these
/// sums unrounded. A second kernel waits, loads them, adds what came in messages, and finishes the site.
///
/// Of a 16^4 box with four split axes, 41 % of the sites are exterior, and they have 1.2 neighbours in messages on
/// average. So 15 % of their work is left after the messages. The price is a store and a load of 24 reals a site and
/// column (96 bytes each in float and fixed point). The order of the sums is another than that of whole sites, so
/// results agree to rounding. The tuner therefore never chooses this way: HaloChoice::split_sites asks for it.

#include "halocline/gpu/face_signals.cuh"
#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

/// Sums of unfinished sites, numbered as in the list of exterior sites, in the arithmetic of the kernel.
template <class S>
using PartialSums = SpinorWriter<RealOf<S>>;

/// All sites of the target parity: interior sites completely, then the first part of the exterior sites.
template <class S, int reals>
struct HopBefore {
  using Real = RealOf<S>;
  static constexpr int max_threads = 256;

  HopInput<S, reals, false> input;
  HopOutput<S> output;
  PartialSums<S> partial;
  const std::int32_t* interior;
  const std::int32_t* exterior;
  int interior_sites;

  HALOCLINE_INLINE void operator()(const gpu::Point& p) const {
    const int number = static_cast<int>(p.x), column = p.y;
    const bool inner = number < interior_sites;
    const int outer = number - interior_sites;
    const int site = inner ? interior[number] : exterior[outer];
    Spinor<Real> sum[1] = {};
    hop<detail::Read::constant, Neighbours::in_box>(sum, input, input.lattice.place(input.target_parity, site), column);
    if (inner)
      output.out.store(site, column, output.template result<true>(sum[0], site, column), output.streams);
    else
      partial.store(outer, column, sum[0]);
  }
};

/// The second part of the exterior sites.
template <class S, int reals>
struct HopAfter {
  using Real = RealOf<S>;
  static constexpr int max_threads = 256;

  HopInput<S, reals, true> input;
  HopOutput<S> output;
  PartialSums<S> partial;
  const std::int32_t* exterior;
  gpu::FaceSignals signals;
  bool waits;  ///< whether the messages may still be on their way; uses `signals`

  HALOCLINE_HOST_DEVICE bool begin_block(const gpu::BlockPoint&) const {
    if (waits) gpu::await_all(signals);  // a message that does not come is read as NaN
    return true;
  }
  HALOCLINE_INLINE void operator()(const gpu::Point& p) const {
    const int number = static_cast<int>(p.x), column = p.y;
    const int site = exterior[number];
    Spinor<Real> sum[1] = {partial.load(number, column)};
    hop<detail::Read::constant, Neighbours::in_messages>(sum, input, input.lattice.place(input.target_parity, site),
                                                         column);
    output.out.store(site, column, output.template result<true>(sum[0], site, column), output.streams);
  }
};

}  // namespace halocline::qcd::device
