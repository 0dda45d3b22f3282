// SPDX-License-Identifier: Apache-2.0
//
// How far ahead a process requests links and clover blocks: tried out when the preconditioner is made.
//
// What helps depends on the CPU, on its caches, on the size of the domains, and on who shares the cache. On a Zen 4 the
// in-domain operator on 32x12x8x12 sites, with 21 MB of coefficients, rose from 25-39 to 38-55 Gflop/s one tile ahead;
// on 32x6x8x12 sites, with half of them, which still fitted the last-level cache, it lost 3 %, and on smaller boxes 8
// %. So the table of machines (core/machine.hpp) is only where a process begins. If its data outgrow the second-level
// cache, it times the Jacobi steps of its first domain a few times with each distance, and leaves the table's for one
// that is clearly faster. Only requests change, never a number: processes may choose differently.

#include <algorithm>
#include <array>
#include <limits>

#include "halocline/qcd/schwarz/detail/sweeps.hpp"

namespace halocline::qcd::schwarz {
namespace {
/// Of a trial. A domain that takes longer than a candidate's share of it keeps the distance of the table.
constexpr double most_seconds = 0.15;
}  // namespace

/// Uses r_ and z_, which are zero and stay so. Collective: no.
template <class S>
int Sweeps<S>::tried_prefetch() {
  const std::int64_t bytes =
      (coefficients_->links.size() + coefficients_->blocks.size()) * static_cast<std::int64_t>(sizeof(S));
  const int ours = bytes > machine_->prefetch_beyond ? machine_->prefetch_tiles : 0;
  if (bytes <= cache_bytes_ || parameters_.inner == "minres" || layout_->first_domain(1) == 0) return ours;
  constexpr std::array candidates{0, 1, 2, 4};
  std::array<double, candidates.size()> best;
  best.fill(std::numeric_limits<double>::infinity());
  const double first = seconds_of_walk(ours);  // also brings the pages in
  const int rounds = std::min(5, static_cast<int>(most_seconds / (static_cast<double>(candidates.size()) * first)));
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) best[i] = std::min(best[i], seconds_of_walk(candidates[i]));
  if (rounds == 0) return ours;
  const auto place = std::ranges::find(candidates, ours) - candidates.begin();
  const double of_ours = static_cast<std::size_t>(place) < best.size() ? best[static_cast<std::size_t>(place)] : first;
  const auto fastest = std::ranges::min_element(best);
  return *fastest < 0.97 * of_ours ? candidates[static_cast<std::size_t>(fastest - best.begin())] : ours;
}

template int Sweeps<float>::tried_prefetch();
template int Sweeps<core::Half>::tried_prefetch();

}  // namespace halocline::qcd::schwarz
