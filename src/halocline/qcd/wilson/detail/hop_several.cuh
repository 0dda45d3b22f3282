// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hop with several sites a thread, one after another.
///
/// Thread t of n takes sites t, t + n, t + 2n, ..., so that in each round consecutive threads have consecutive sites
/// and a warp touches whole lines. While a site is computed the links of the thread's next may be asked for. The number
/// of sites is no constant of the kernel and the loop is not unrolled: a site is computed by the same source whatever
/// the number, and results do not depend on it.
///
/// This is a kernel beside that of one site a thread, which the loop would cost registers (80 become 110 in fixed16
/// with links of 12 reals), and one that the tuner may choose where it is compiled.

#include <cstdint>
#include <type_traits>

#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

/// Which thread has which sites.
struct SiteLoop {
  int threads = 1;  ///< from one site of a thread to its next
  int last = 0;     ///< from this number on a site is a thread's last: sites - threads
  bool prefetch = false;

  /// @param count  of sites, at least 1; @param sites_per_thread  at least 1
  static SiteLoop of(int count, int sites_per_thread, bool prefetch) {
    const int threads = static_cast<int>((std::int64_t{count} + sites_per_thread - 1) / sites_per_thread);
    return {threads, count - threads, prefetch};
  }

  /// work(number) for the sites of a thread, and ahead(number) before it for the one that comes next, if there is one
  /// and prefetch is set.
  template <class Work, class Ahead>
  HALOCLINE_INLINE void run(int thread, const Work& work, const Ahead& ahead) const {
#if defined(__CUDACC__)
#pragma unroll 1
#endif
    for (int number = thread;; number += threads) {
      if (prefetch && number < last) ahead(number + threads);
      work(number);
      if (number >= last) return;
    }
  }
};

/// Asks for the eight links of a site that is computed later.
template <class S, int reals>
HALOCLINE_INLINE void prefetch_links(const LinkReader<S, reals>& links, int site) {
  HALOCLINE_UNROLLED(1)
  for (int d = 0; d < 8; ++d)
    detail::prefetch_record<typename Storage<S>::Word, reals>(links.data + std::int64_t{links.stride} * (reals * d),
                                                              links.stride, site);
}

/// Compiled for this storage and number of reals a link, without clover blocks and without a halo.
template <class S, int reals>
inline constexpr bool loops_over_sites =
    (std::is_same_v<S, double> && reals == 18) || (std::is_same_v<S, float> && reals == 12) ||
    (std::is_same_v<S, Fixed16> && reals != 18);

/// The functor of gpu::launch, for as many threads as the loop says and a column each.
template <class S, int reals>
struct HopSeveral {
  using Site = HopSite<S, reals, false, false, 1>;
  static constexpr int max_threads = Site::max_threads;

  Site site;
  SiteLoop loop;

  HALOCLINE_INLINE int numbered(int number) const { return site.sites != nullptr ? site.sites[number] : number; }
  HALOCLINE_INLINE void operator()(const gpu::Point& p) const {
    loop.run(
        static_cast<int>(p.x), [&](int number) { site.at(numbered(number), p.y); },
        [&](int number) { prefetch_links(site.input.links, numbered(number)); });
  }
};

}  // namespace halocline::qcd::device
