// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The work of one thread of a hop on a device: the hop at a site, the added terms, and the store.
///
/// HopSite is a functor of gpu::launch. Fused launches (hop_fused.cuh) call its at() for interior and exterior sites
/// too. The clover terms are a template argument, because they cost registers. All other options of a launch are
/// tested in the thread, with the same outcome in all threads.

#include <cstdint>
#include <type_traits>

#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/clover_array.cuh"
#include "halocline/qcd/wilson/detail/device_accessor.cuh"

namespace halocline::qcd::device {

/// The storages and numbers of reals a link that solvers take. Kernels for special cases are compiled for these alone:
/// several sites a thread, links that pass by the first-level cache, one launch for halo and hop.
template <class S, int reals>
inline constexpr bool common_storage =
    (std::is_same_v<S, double> && reals == 18) || (std::is_same_v<S, float> && reals == 12) ||
    (std::is_same_v<S, Fixed16> && reals != 18);

template <class S>
constexpr bool is_common_storage(int reals) {
  return reals == 18 ? common_storage<S, 18> : reals == 12 ? common_storage<S, 12> : common_storage<S, 8>;
}

/// Loads from a field that the kernel may also write, because `add` may be `out`.
template <class S>
HALOCLINE_INLINE Spinor<RealOf<S>> load_written(const SpinorReader<S>& field, int site, int column) {
  return detail::load_spinor<S, false>(field.data, field.scale, field.stride, site, column);
}

/// out = hop_scale [B] hop + add_scale [A] add, for kernels.
template <class S>
struct HopOutput {
  using Real = RealOf<S>;
  SpinorWriter<S> out;
  SpinorReader<S> add;  ///< no data: nothing is added
  Real upper_scale;     ///< hop_scale
  Real lower_scale;     ///< the same, with the sign of the lower spins
  Real add_scale;
  bool streams;  ///< the second-level cache gives up `out` before other data
  AnyBlocks<S> hop_blocks, add_blocks;

  template <bool with_blocks>
  HALOCLINE_KERNEL_PART Spinor<Real> result(const Spinor<Real>& sum, int site, int column) const {
    Spinor<Real> psi;
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) {
      HALOCLINE_UNROLLED(4)
      for (int spin = 0; spin < 4; ++spin) {
        const Real factor = spin < 2 ? upper_scale : lower_scale;
        const auto& z = sum.at[colour][spin];
        psi.at[colour][spin] = {core::rounded_product(factor, z.re), core::rounded_product(factor, z.im)};
      }
    }
    if constexpr (with_blocks)
      if (hop_blocks.reals != 0) psi = hop_blocks.multiply(site, psi);
    if (add.data != nullptr) {
      Spinor<Real> added = load_written(add, site, column);
      if constexpr (with_blocks)
        if (add_blocks.reals != 0) added = add_blocks.multiply(site, added);
      HALOCLINE_UNROLLED(3)
      for (int colour = 0; colour < 3; ++colour) {
        HALOCLINE_UNROLLED(4)
        for (int spin = 0; spin < 4; ++spin) psi.at[colour][spin] += add_scale * added.at[colour][spin];
      }
    }
    return psi;
  }
};

/// @tparam columns  per thread; @tparam with_halo  some neighbours are in messages; @tparam read  of the links
template <class S, int reals, bool with_halo, bool with_blocks, int columns, detail::Read read = detail::Read::constant>
struct HopSite {
  using Real = RealOf<S>;
  static constexpr int max_threads = 256;

  HopInput<S, reals, with_halo> input;
  HopOutput<S> output;
  const std::int32_t* sites = nullptr;  ///< list of the sites; null: all sites in order

  /// Computes up to `columns` columns of a site, from columns * group on; fewer if the fields have no more.
  HALOCLINE_INLINE void at(int site, int group) const {
    const int first = columns * group;
    Spinor<Real> sum[columns];
    hop<read>(sum, input, input.lattice.place(input.target_parity, site), first);
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k)
      if (columns == 1 || first + k < output.out.columns)
        output.out.store(site, first + k, output.template result<with_blocks>(sum[k], site, first + k), output.streams);
  }
  HALOCLINE_INLINE void operator()(const gpu::Point& p) const {
    at(sites != nullptr ? sites[p.x] : static_cast<int>(p.x), p.y);
  }
};

/// Re <with, psi>, Im <with, psi> and |psi|^2 of one site. The 24 terms are added in the arithmetic of the kernel,
/// and only the sums of the site are converted to double, because a GPU converts in a slow unit.
/// @param with  without data, its two products are zero
template <class S>
HALOCLINE_INLINE void site_products(double (&values)[3], const SpinorReader<S>& with, int site, int column,
                                    const Spinor<RealOf<S>>& psi) {
  RealOf<S> re = 0, im = 0, norm = 0;
  HALOCLINE_UNROLLED(3)
  for (int colour = 0; colour < 3; ++colour) {
    HALOCLINE_UNROLLED(4)
    for (int spin = 0; spin < 4; ++spin) {
      const auto& z = psi.at[colour][spin];
      norm += z.re * z.re;
      norm += z.im * z.im;
    }
  }
  if (with.data != nullptr) {
    const Spinor<RealOf<S>> other = load_written(with, site, column);
    HALOCLINE_UNROLLED(3)
    for (int colour = 0; colour < 3; ++colour) {
      HALOCLINE_UNROLLED(4)
      for (int spin = 0; spin < 4; ++spin) {
        const auto& z = psi.at[colour][spin];
        const auto& w = other.at[colour][spin];
        re += w.re * z.re;
        re += w.im * z.im;
        im += w.re * z.im;
        im -= w.im * z.re;
      }
    }
  }
  values[0] = re;
  values[1] = im;
  values[2] = norm;
}

/// The hop with the sums that solvers ask for: the functor of gpu::launch_sum for `columns` columns a thread.
template <class S, int reals, int columns, detail::Read read = detail::Read::constant>
struct HopSumSite {
  using Real = RealOf<S>;
  /// With 128 threads the compiler keeps three blocks of two columns a thread on a multiprocessor: 168 registers, and
  /// at most 40 bytes of a thread in local memory.
  static constexpr int max_threads = 128;

  HopInput<S, reals, false> input;
  HopOutput<S> output;
  SpinorReader<S> with;

  HALOCLINE_INLINE void operator()(std::int64_t point, int group, double (&values)[columns][3]) const {
    const int site = static_cast<int>(point), first = columns * group;
    Spinor<Real> sum[columns];
    hop<read>(sum, input, input.lattice.place(input.target_parity, site), first);
    HALOCLINE_UNROLL_COLUMNS
    for (int k = 0; k < columns; ++k) {
      if (columns > 1 && first + k >= output.out.columns) continue;
      const Spinor<Real> psi = output.template result<true>(sum[k], site, first + k);
      site_products(values[k], with, site, first + k, psi);  // before the store, which needs registers in fixed point
      output.out.store(site, first + k, psi, output.streams);
    }
  }
};

/// The sums alone, for a result that several kernels have computed.
template <class S>
struct ResultSumSite {
  SpinorReader<S> out, with;

  HALOCLINE_INLINE void operator()(std::int64_t point, int column, double (&values)[3]) const {
    const int site = static_cast<int>(point);
    site_products(values, with, site, column, out.load(site, column));
  }
};

}  // namespace halocline::qcd::device
