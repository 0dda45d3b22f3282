// SPDX-License-Identifier: Apache-2.0
//
// How the passes go through a domain that outgrows the second-level cache, and how far ahead they request what they
// read: tried out when the preconditioner is made.
//
// What helps depends on the CPU, on its caches, on the size of the domains, and on who shares the outer cache. Pieces
// whose window fits the second-level cache read links and blocks nearly once for all passes, but make runs of tiles
// short; whether that is faster depends on the caches outside. The table of machines (core/machine.hpp) and the size of
// the second-level cache say where a process begins. It then times the passes over its domains a few times in each way,
// and takes another one that is clearly faster. One domain alone would stay in the outer cache, where a solve does not
// find it. Only orders and requests change, never a number: processes may choose differently.

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/schwarz/detail/sweeps.hpp"

namespace halocline::qcd::schwarz {
namespace {
/// Of a trial. Where the domains take longer than a candidate's share of it, the table is followed.
constexpr double most_seconds = 0.2;
constexpr int most_rounds = 7;
/// So many outer caches of links and blocks are passed over in a trial, at most.
constexpr int most_outer_caches = 4;
/// What a candidate must take, of the time of the table's, to be preferred.
constexpr double clearly_faster = 0.97;
constexpr std::array distances{0, 1, 2, 4};
}  // namespace

template <class S>
std::shared_ptr<const WalkOrder> Sweeps<S>::walk_order(bool slices, Pieces pieces) const {
  return std::make_shared<const WalkOrder>(*layout_, passes() + 1, slices, pieces, even_odd_);
}

/// By the size of the second-level cache.
template <class S>
Pieces Sweeps<S>::fitting_pieces() const {
  const std::int64_t tile_bytes = (4 * coefficients_->link_reals + 72 + 3 * 24 * columns_) * layout_->lanes() *
                                  static_cast<std::int64_t>(sizeof(S));
  const int team = domains_to_threads(omp_get_max_threads()) ? 1 : omp_get_max_threads();
  return WalkOrder::fitting(*layout_, passes() + 1, WalkOrder::tiles_in(team * cache_bytes_, tile_bytes));
}

/// Chooses prefetch_ and sliced_. Uses r_ and z_, which are zero and stay so. Collective: no.
template <class S>
void Sweeps<S>::choose_walk() {
  const std::int64_t bytes =
      (coefficients_->links.size() + coefficients_->blocks.size()) * static_cast<std::int64_t>(sizeof(S));
  const bool free_prefetch = parameters_.prefetch < 0, free_pieces = parameters_.pieces[0] == 0;
  const bool sliced = layout_->tile()[3] == 1;
  prefetch_ = free_prefetch ? (bytes > machine_->prefetch_beyond ? machine_->prefetch_tiles : 0) : parameters_.prefetch;
  const Pieces fitting = free_pieces ? fitting_pieces() : parameters_.pieces;
  for (int i = 0; i < 2; ++i) {
    const std::int64_t most = layout_->tile()[1 + i] == 1 ? layout_->outer()[1 + i] : 1;
    if (fitting[static_cast<std::size_t>(i)] > most)
      throw core::InvalidArgument(fmt::format(
          "domains in {} pieces along {} were asked for, but a domain has {} there; give 1 to {}, or 0 0 to have them "
          "tried out",
          fitting[static_cast<std::size_t>(i)], lattice::axis_name[1 + i],
          most == 1 ? "one tile or lanes" : fmt::format("{} tiles", most), most));
  }
  sliced_ = walk_order(sliced, fitting);
  const bool tried = bytes > cache_bytes_ && parameters_.inner != "minres" && layout_->first_domain(1) > 0;
  if (!tried || (!free_prefetch && !free_pieces)) return;

  struct Candidate {
    std::shared_ptr<const WalkOrder> order;
    int prefetch;
    std::vector<double> seconds{};
  };
  std::vector<std::shared_ptr<const WalkOrder>> orders{sliced_};
  if (free_pieces && sliced && fitting != Pieces{1, 1}) orders.push_back(walk_order(true, {1, 1}));
  std::vector<Candidate> candidates{{sliced_, prefetch_}};  // the first one is the table's
  for (const auto& order : orders)
    for (const int distance : distances)
      if ((free_prefetch || distance == prefetch_) && !(order == sliced_ && distance == prefetch_))
        candidates.push_back({order, distance});
  const auto use = [&](const Candidate& one) {
    sliced_ = one.order;
    prefetch_ = one.prefetch;
  };
  const std::int64_t domain_bytes = bytes / layout_->domains();
  const auto domains = static_cast<std::int32_t>(std::min<std::int64_t>(
      layout_->domains(), 1 + most_outer_caches * core::last_level_cache_bytes() / domain_bytes));
  const double first = seconds_of_walk(domains);  // also brings the pages in
  const int rounds =
      std::min(most_rounds, static_cast<int>(most_seconds / (static_cast<double>(candidates.size()) * first)));
  if (rounds == 0) return;
  for (int round = 0; round < rounds; ++round)
    for (auto& one : candidates) {
      use(one);
      one.seconds.push_back(seconds_of_walk(domains));
    }
  const auto median = [](Candidate& one) {
    std::ranges::sort(one.seconds);
    return one.seconds[one.seconds.size() / 2];
  };
  const double of_table = median(candidates.front());
  auto& fastest = *std::ranges::min_element(candidates, {}, median);
  use(median(fastest) < clearly_faster * of_table ? fastest : candidates.front());
}

template std::shared_ptr<const WalkOrder> Sweeps<float>::walk_order(bool, Pieces) const;
template std::shared_ptr<const WalkOrder> Sweeps<core::Half>::walk_order(bool, Pieces) const;
template Pieces Sweeps<float>::fitting_pieces() const;
template Pieces Sweeps<core::Half>::fitting_pieces() const;
template void Sweeps<float>::choose_walk();
template void Sweeps<core::Half>::choose_walk();

}  // namespace halocline::qcd::schwarz
