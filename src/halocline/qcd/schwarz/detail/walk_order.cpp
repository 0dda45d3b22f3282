// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/detail/walk_order.hpp"

#include <algorithm>

namespace halocline::qcd::schwarz {
namespace {

struct Range {
  std::int64_t begin, end;
  std::int64_t count() const { return end - begin; }
};

/// What pass k takes of an axis with `count` tiles in piece `i`. A cut is between the middle passes where equal pieces
/// would meet.
Range part(std::int64_t count, int pieces, int i, int passes, int k) {
  const auto cut = [&](int at) -> std::int64_t {
    if (at == 0) return 0;
    if (at == pieces) return count;
    return std::clamp<std::int64_t>((2 * at * count + pieces * (passes - 1)) / (2 * pieces) - k, 0, count);
  };
  return {cut(i), cut(i + 1)};
}

}  // namespace

WalkOrder::WalkOrder(const lattice::DomainLayout& layout, int passes, bool slices, Pieces pieces, bool by_parity)
    : pieces_(slices ? pieces : Pieces{1, 1}), tiles_(static_cast<std::size_t>(2 * passes)) {
  const auto& outer = layout.outer();
  const auto row = static_cast<std::int32_t>(outer[0]),
             slice = static_cast<std::int32_t>(outer[0] * outer[1] * outer[2]);
  const auto list = [&](int pass, std::int32_t tile) {
    const int parity = by_parity ? layout.parity(tile) : 0;
    if (by_parity && pass > 0 && parity != pass % 2) return;
    tiles_[static_cast<std::size_t>(2 * pass + parity)].push_back(tile);
  };
  const auto stage = [&](int pass, Range y, Range z, std::int32_t from_t, std::int32_t to_t) {
    Stage made{pass, {}, {}};
    for (int parity = 0; parity < 2; ++parity)
      made.begin[static_cast<std::size_t>(parity)] = static_cast<std::int32_t>(tiles(pass, parity).size());
    for (std::int32_t t = from_t; t < to_t; ++t)
      for (auto at_z = z.begin; at_z < z.end; ++at_z)
        for (auto at_y = y.begin; at_y < y.end; ++at_y) {
          const auto first = static_cast<std::int32_t>(t * slice + (at_z * outer[1] + at_y) * row);
          for (std::int32_t tile = first; tile < first + row; ++tile) list(pass, tile);
        }
    for (int parity = 0; parity < 2; ++parity)
      made.end[static_cast<std::size_t>(parity)] = static_cast<std::int32_t>(tiles(pass, parity).size());
    if (made.begin != made.end) stages_.push_back(made);
  };
  const auto extent = static_cast<std::int32_t>(outer[3]);
  if (!slices) {
    for (int k = 0; k < passes; ++k) stage(k, {0, outer[1]}, {0, outer[2]}, 0, extent);
    return;
  }
  for (int z = 0; z < pieces_[1]; ++z)
    for (int y = 0; y < pieces_[0]; ++y)
      for (std::int32_t front = 0; front < extent + passes - 1; ++front)
        for (int k = 0; k < passes; ++k) {
          const std::int32_t t = front - k;
          if (t < 0 || t >= extent) continue;
          stage(k, part(outer[1], pieces_[0], y, passes, k), part(outer[2], pieces_[1], z, passes, k), t, t + 1);
        }
}

std::int64_t WalkOrder::window(const lattice::DomainLayout& layout, int passes, Pieces pieces) noexcept {
  const auto& outer = layout.outer();
  std::int64_t largest = 0;
  for (int z = 0; z < pieces[1]; ++z)
    for (int y = 0; y < pieces[0]; ++y) {
      std::int64_t tiles = 0;
      for (int k = 0; k < passes; ++k)
        tiles += outer[0] * part(outer[1], pieces[0], y, passes, k).count() *
                 part(outer[2], pieces[1], z, passes, k).count();
      largest = std::max(largest, tiles);
    }
  return largest;
}

double WalkOrder::visits(const lattice::DomainLayout& layout, int passes, Pieces pieces) noexcept {
  const auto& outer = layout.outer();
  const auto piece_of = [&](std::int64_t at, std::int64_t count, int cut_into, int k) {
    int i = 0;
    while (at >= part(count, cut_into, i, passes, k).end) ++i;
    return i;
  };
  std::int64_t sum = 0;
  for (std::int64_t z = 0; z < outer[2]; ++z)
    for (std::int64_t y = 0; y < outer[1]; ++y) {
      Pieces last{-1, -1};
      for (int k = 0; k < passes; ++k) {
        const Pieces piece{piece_of(y, outer[1], pieces[0], k), piece_of(z, outer[2], pieces[1], k)};
        sum += piece != last ? 1 : 0;
        last = piece;
      }
    }
  return static_cast<double>(sum) / static_cast<double>(outer[1] * outer[2]);
}

Pieces WalkOrder::fitting(const lattice::DomainLayout& layout, int passes, std::int64_t most_tiles) noexcept {
  const auto most = [&](int axis) { return layout.tile()[axis] == 1 ? static_cast<int>(layout.outer()[axis]) : 1; };
  Pieces best{1, 1};
  double fewest = passes;
  for (int y = 1; y <= most(1); ++y)
    for (int z = 1; z <= most(2); ++z) {
      const double found = visits(layout, passes, {y, z});
      if (found >= fewest || window(layout, passes, {y, z}) > most_tiles) continue;
      best = {y, z};
      fewest = found;
    }
  return best;
}

}  // namespace halocline::qcd::schwarz
