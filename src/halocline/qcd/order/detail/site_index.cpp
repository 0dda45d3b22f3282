// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/site_index.hpp"

namespace halocline::qcd::order::detail {

std::int64_t cache_block_extent(std::int64_t local) {
  for (const std::int64_t n : {4, 3, 2})
    if (local % n == 0) return n;
  return 1;
}

SiteIndex::SiteIndex(const SiteOrder& order, const lattice::Geometry4& geometry) {
  const auto& local = geometry.local();
  half_volume_ = geometry.local_volume() / 2;
  const bool parities = order.sites == Sites::even_odd || order.sites == Sites::cache_blocks;
  half_ = parities ? half_volume_ : 0;
  origin_ = order.local_parity ? 0 : geometry.parity({0, 0, 0, 0});
  for (std::size_t axis = 0; axis < 4; ++axis) {
    halved_[axis].resize(static_cast<std::size_t>(local[axis]));
    added_[axis].resize(static_cast<std::size_t>(local[axis]));
  }
  if (order.sites == Sites::cache_blocks) {
    // z is the fastest axis, then y, x; a block holds all of t.
    std::int64_t inside = 1;
    lattice::Coordinates<4> block{cache_block_extent(local[0]), cache_block_extent(local[1]),
                                  cache_block_extent(local[2]), local[3]};
    std::int64_t blocks = lattice::product<4>(block) / 2;
    for (const std::size_t axis : {2U, 1U, 0U, 3U}) {
      for (std::int64_t x = 0; x < local[axis]; ++x) {
        halved_[axis][static_cast<std::size_t>(x)] = x % block[axis] * inside;
        added_[axis][static_cast<std::size_t>(x)] = x / block[axis] * blocks;
      }
      inside *= block[axis];
      blocks *= local[axis] / block[axis];
    }
    return;
  }
  const std::int64_t row = order.sites == Sites::lexicographic ? local[0] : local[0] / 2;
  for (std::int64_t x = 0; x < local[0]; ++x)
    added_[0][static_cast<std::size_t>(x)] = order.sites == Sites::lexicographic ? x
                                             : order.sites == Sites::even_odd    ? x / 2
                                                                                 : x / row * half_volume_ + x % row;
  std::int64_t stride = row;
  for (std::size_t axis = 1; axis < 4; stride *= local[axis], ++axis)
    for (std::int64_t x = 0; x < local[axis]; ++x) added_[axis][static_cast<std::size_t>(x)] = x * stride;
}

}  // namespace halocline::qcd::order::detail
