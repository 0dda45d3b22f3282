// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The hop with several sites a thread, one after another.
///
/// Thread t of n takes sites t, t + n, t + 2n, ... So consecutive threads have consecutive sites in each round, and a
/// warp touches whole lines. Before a thread computes a site, it may prefetch the links of its next site. The number
/// of sites a thread is not a constant of the kernel, and the loop is not unrolled. So the same code computes a site
/// for any such number, and results do not depend on it.
///
/// The kernel with one site a thread is kept separate, because the loop costs registers: 110 instead of 80 in fixed16
/// with links of 12 reals. The tuner may choose this kernel where it is compiled.

#include <cstdint>

#include "halocline/qcd/wilson/detail/hop_site.cuh"

namespace halocline::qcd::device {

/// The sites of each thread.
struct SiteLoop {
  int threads = 1;  ///< number of threads: the step from one site of a thread to its next
  int last = 0;     ///< sites - threads: a site with this number or a higher one is its thread's last
  bool prefetch = false;

  /// @param count  of sites, at least 1; @param sites_per_thread  at least 1
  static SiteLoop of(int count, int sites_per_thread, bool prefetch) {
    const int threads = static_cast<int>((std::int64_t{count} + sites_per_thread - 1) / sites_per_thread);
    return {threads, count - threads, prefetch};
  }

  /// Calls work(number) for each site of a thread. If `prefetch` is set, calls ahead(next number) before, unless the
  /// site is the thread's last.
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

/// Prefetches the eight links of a site.
template <class S, int reals>
HALOCLINE_INLINE void prefetch_links(const LinkReader<S, reals>& links, int site) {
  HALOCLINE_UNROLLED(1)
  for (int d = 0; d < 8; ++d)
    detail::prefetch_record<typename Storage<S>::Word, reals>(links.data + std::int64_t{links.stride} * (reals * d),
                                                              links.stride, site);
}

/// A functor of gpu::launch, for loop.threads threads in x and a column each. Compiled where common_storage<S, reals>,
/// without clover blocks and halo.
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
