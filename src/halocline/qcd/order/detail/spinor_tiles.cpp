// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/spinor_tiles.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/order/detail/lane_runs.hpp"
#include "halocline/qcd/order/detail/rotation.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/detail/thread_scratch.hpp"
#include "halocline/qcd/order/detail/tile_row.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {
namespace {

/// Tiles of a row, both parities.
std::int64_t row_length(const TileLayout& layout) { return layout.outer()[0] / layout.parts()[0]; }

/// The outer coordinates of this tile of even parity, or of the odd one before it along x.
Coordinates<4> first_tile(const TileLayout& layout, std::int64_t tile) {
  auto first = layout.outer_coordinates(0, tile);
  first[0] -= first[0] % 2;
  return first;
}

/// Rows that lie in memory tile by tile in turn: those of the parts of a split layout.
using Strands = std::vector<TileRow>;

/// Calls work(strands, strands that come next, buffer of eight tiles) for all rows; threads share them.
template <class T, class Work>
void for_each_row(const TileLayout& layout, const SiteIndex& sites, const Work& work) {
  const std::int64_t parts = lattice::product<4>(layout.parts());
  const std::int64_t row_tiles = parts * row_length(layout) / 2;  // of each parity
  const std::int64_t rows = layout.tiles() / row_tiles;
  const auto move = [&](Strands& strands, std::int64_t row) {
    for (std::int64_t part = 0; part < parts; ++part)
      strands[static_cast<std::size_t>(part)].move_to(first_tile(layout, row * row_tiles + part));
  };
  struct OfThread {
    Strands strands, next;
    core::AlignedArray<T> buffer;
    std::int64_t ahead;  // the row of `next`
  };
  const Strands blank(static_cast<std::size_t>(parts), TileRow(layout, sites));
  ThreadScratch<OfThread> threads([&] {
    return OfThread{blank, blank, core::AlignedArray<T>(std::int64_t{side} * spinor_reals * layout.lanes()), -1};
  });
  threads.for_each(rows, [&](std::int64_t row, OfThread& of_thread) {
    auto& [strands, next, buffer, ahead] = of_thread;
    if (ahead == row)
      std::swap(strands, next);
    else
      move(strands, row);
    ahead = row + 1 < rows ? row + 1 : 0;
    move(next, ahead);
    work(strands, next, buffer.data());
  });
}

/// [number][lane] of one tile: out from in, renumbered and rotated.
template <class T, int lanes>
void rotate_tile(T* out, const T* in, const Rotation& rotation, bool streaming) {
  // A tile 12 KiB ahead. Numbers are read out of order, which the hardware does not foresee.
  if (!streaming)
    for (int line = 0; line < spinor_reals * lanes * int{sizeof(T)} / 64; ++line)
      prefetch(in + far_ahead<T> + line * (64 / int{sizeof(T)}));
  constexpr int width = lanes * int{sizeof(T)} >= 64 ? 64 / int{sizeof(T)} : lanes;
  using Part = core::Pack<T, width>;
  for (int number = 0; number < spinor_reals; ++number) {
    const Term& term = rotation.terms[static_cast<std::size_t>(number)];
    for (int lane = 0; lane < lanes; lane += width) {
      auto value = Part::load(in + term.of[0] * lanes + lane);
      if (!rotation.plain) {
        value *= Part(static_cast<T>(term.factor[0]));
        if (rotation.sums) value += Part(static_cast<T>(term.factor[1])) * Part::load(in + term.of[1] * lanes + lane);
      }
      if (streaming)
        core::stream(out + number * lanes + lane, value);
      else
        value.store(out + number * lanes + lane);
    }
  }
}

/// Eight lanes of a tile from sites whose numbers lie side by side, into [number][lane]; and a question for the sites
/// of another tile, line by line between the loads: many at once would be dropped.
template <class T, int lanes, class Real>
void gather_octet(T* tile, const Real* spinor, const TileRow& row, std::int64_t x, int lane, const TileRow& ahead,
                  std::int64_t x_ahead) {
  std::array<const Real*, side> site, later;
  for (int j = 0; j < side; ++j) {
    site[static_cast<std::size_t>(j)] = spinor + spinor_reals * row.index(lane + j, x);
    later[static_cast<std::size_t>(j)] = spinor + spinor_reals * ahead.index(lane + j, x_ahead);
  }
  for (int begin = 0; begin < spinor_reals; begin += side) {
    Block<T> block;
    for (std::size_t j = 0; j < side; ++j) {
      prefetch(later[j] + begin);
      block[j] = load_row<T>(site[j] + begin);
    }
    transpose(block);
    for (int k = 0; k < side; ++k) block[static_cast<std::size_t>(k)].store(tile + (begin + k) * lanes + lane);
  }
}

/// Eight lanes of [number][lane] into the numbers of sites: of lane j at sites[j]. @param later  asked for, if not null
template <class T, int lanes, class Real>
void scatter_octet(const std::array<Real*, side>& sites, const T* tile, int lane, bool streaming,
                   const std::array<Real*, side>* later = nullptr) {
  for (int begin = 0; begin < spinor_reals; begin += side) {
    Block<T> block;
    if (later != nullptr)
      for (const Real* place : *later) prefetch(place + begin);
    for (int k = 0; k < side; ++k) block[static_cast<std::size_t>(k)] = Row<T>::load(tile + (begin + k) * lanes + lane);
    transpose(block);
    for (std::size_t j = 0; j < side; ++j) put_row(sites[j] + begin, converted<Real>(block[j]), streaming);
  }
}

/// Eight lanes of `count` tiles from x on whose sites of one lane follow each other in the array: whole lines of it,
/// through a small buffer.
template <class T, int lanes, class Real>
void scatter_runs(Real* spinor, const T* tiles, const TileRow& row, std::int64_t x, int count, int lane) {
  alignas(64) std::array<Real, side * side * spinor_reals> runs;
  for (int i = 0; i < count; ++i) {
    std::array<Real*, side> sites;
    for (int j = 0; j < side; ++j) sites[static_cast<std::size_t>(j)] = runs.data() + (j * count + i) * spinor_reals;
    scatter_octet<T, lanes>(sites, tiles + i * spinor_reals * lanes, lane, false);
  }
  for (int j = 0; j < side; ++j)
    copy_streaming(spinor + spinor_reals * row.index(lane + j, x), runs.data() + j * count * spinor_reals,
                   count * spinor_reals);
}

/// One tile of an order whose sites lie side by side, where no eight tiles have them so: number by number.
template <class T, int lanes, class Real>
void gather_numbers(T* tile, const Real* spinor, const TileRow& row, std::int64_t x, std::int64_t side_by_side) {
  for (int lane = 0; lane < lanes; ++lane) {
    const Real* from = spinor + place_of(row.index(lane, x), spinor_reals, side_by_side);
    for (int number = 0; number < spinor_reals; ++number)
      tile[number * lanes + lane] = static_cast<T>(from[number * side_by_side]);
  }
}

template <class T, int lanes, class Real>
void scatter_numbers(Real* spinor, const T* tile, const TileRow& row, std::int64_t x, std::int64_t side_by_side) {
  for (int lane = 0; lane < lanes; ++lane) {
    Real* to = spinor + place_of(row.index(lane, x), spinor_reals, side_by_side);
    for (int number = 0; number < spinor_reals; ++number)
      to[number * side_by_side] = static_cast<Real>(tile[number * lanes + lane]);
  }
}

/// Tiles that are worked on together.
struct Grouping {
  int count = 1;
  std::int64_t step = 1;  ///< along x
  bool runs = false;      ///< their sites of one lane follow each other in the array

  /// The tile number i of a group.
  std::int64_t x(std::int64_t begin, int i) const { return begin + i * step; }
};

/// Tiles that follow each other. @param wanted  how many; one tile if there are no such groups
template <class T>
Grouping grouping(const SpinorField<T>& psi, const SiteOrder& order, int wanted) {
  const bool by_parity = order.sites == Sites::even_odd, whole = psi.subset() == lattice::Subset::full;
  if (order.sites == Sites::cache_blocks || (!whole && !by_parity)) return {};
  // Whole groups must be in each half of a row, unless lanes or parts along x share the halves, and in each parity.
  const std::int64_t length = row_length(psi.layout());
  const bool halved = by_parity || (order.sites == Sites::halves_of_x && length == psi.layout().geometry().local()[0]);
  if ((halved ? length / 2 : length) % wanted == 0) return {wanted, by_parity ? 2 : 1, true};
  return {};
}

/// The most tiles that follow each other, for an order whose sites lie side by side.
template <class T>
Grouping runs_of(const SpinorField<T>& psi, const SiteOrder& order, int side_by_side) {
  if (side_by_side % side == 0)
    for (const int wanted : {8, 4, 2})
      if (const Grouping group = grouping(psi, order, wanted); group.count == wanted) return group;
  return {};
}

/// How the lanes of a group follow each other.
template <class T>
Following following_lanes(const SpinorField<T>& psi, const SiteIndex& sites, const Grouping& group, int side_by_side) {
  if (side_by_side == 1 || group.count == 1) return {};
  TileRow row(psi.layout(), sites);
  row.move_to(first_tile(psi.layout(), 0));
  return following_lanes(row, psi.layout().lanes(), side / group.count, side_by_side);
}

/// Tiles that are worked on together. The lanes of a tile are often a power of two apart, and their lines then share
/// few places of a cache: eight lanes of a few tiles use up their lines before other lanes take these places.
/// @param whole_lines  tiles whose sites follow each other are to fill lines
template <class Real, class T>
Grouping batch_of(const SpinorField<T>& psi, const SiteOrder& order, bool whole_lines) {
  constexpr std::array counts{4, 7, 6, 5, 3, 2};
  for (const int wanted : counts) {
    if (whole_lines && wanted * spinor_reals * sizeof(Real) % 64 != 0) continue;
    if (const Grouping group = grouping(psi, order, wanted); group.count == wanted) return group;
  }
  if (psi.subset() == lattice::Subset::full)
    for (const int wanted : counts)
      if (row_length(psi.layout()) % wanted == 0) return {wanted, 1, false};
  return {};
}

/// A group of tiles: the first of them is at x of a row.
struct GroupPlace {
  const TileRow& row;
  std::int64_t x;
};

/// Calls work(group, the one after it, buffer of eight tiles) for every group of the field; threads share the rows. The
/// groups of all parts come in turn. Lanes are often a power of two apart, and few lines of them fit into a cache at
/// the same time: so what is asked for is the next group, not the one that continues the row of a part.
template <class T, class Work>
void for_each_group(const SpinorField<T>& psi, const SiteIndex& sites, const Grouping& group, const Work& work) {
  const std::int64_t length = row_length(psi.layout());
  for_each_row<T>(psi.layout(), sites, [&](const Strands& strands, const Strands& next_row, T* buffer) {
    const auto of_all_parts = [&](std::int64_t x, const GroupPlace& after) {
      for (std::size_t i = 0; i + 1 < strands.size(); ++i)
        work(GroupPlace{strands[i], x}, GroupPlace{strands[i + 1], x}, buffer);
      work(GroupPlace{strands.back(), x}, after, buffer);
    };
    std::int64_t last = -1;
    for (std::int64_t begin = 0; begin < length; begin += group.count * group.step)
      for (std::int64_t x = begin; x < begin + group.step; ++x) {
        if (psi.subset() != lattice::Subset::full && static_cast<int>(psi.subset()) != strands[0].parity(x)) continue;
        if (last >= 0) of_all_parts(last, {strands[0], x});
        last = x;
      }
    if (last >= 0) of_all_parts(last, {next_row[0], 0});
  });
}

template <class T, int lanes, class Real>
void load_with(SpinorField<T>& psi, int column, const Real* spinor, const SpinorOrder& order) {
  const Rotation rotated = rotation(*order.basis, true, Inside::colour_spin, order.inside);
  const int side_by_side = order::lanes(order.sites, sizeof(Real));
  const Grouping group =
      side_by_side == 1 ? batch_of<Real>(psi, order.sites, false) : runs_of(psi, order.sites, side_by_side);
  const SiteIndex sites(order.sites, psi.layout().geometry());
  const Following lanes_follow = following_lanes(psi, sites, group, side_by_side);
  for_each_group(psi, sites, group, [&](const GroupPlace& at, const GroupPlace& next, T* buffer) {
    if (side_by_side == 1) {
      for (int lane = 0; lane < lanes; lane += side)
        for (int i = 0; i < group.count; ++i)
          gather_octet<T, lanes>(buffer + i * spinor_reals * lanes, spinor, at.row, group.x(at.x, i), lane, next.row,
                                 group.x(next.x, i));
    } else if (group.count > 1) {
      with_runs<lanes>(side / group.count, lanes_follow, [&](auto numbers, auto follow) {
        gather_lanes<T, lanes, numbers, follow()>(buffer, spinor, at.row, at.x, side_by_side, next.row, next.x);
      });
    } else {
      gather_numbers<T, lanes>(buffer, spinor, at.row, at.x, side_by_side);
    }
    for (int i = 0; i < group.count; ++i) {
      const std::int64_t x = group.x(at.x, i);
      T* out = psi.parity(at.row.parity(x)) + at.row.tile(x) * psi.tile_stride() + column * psi.column_stride();
      rotate_tile<T, lanes>(out, buffer + i * spinor_reals * lanes, rotated, true);
    }
  });
}

template <class T, int lanes, class Real>
void store_with(Real* spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order) {
  const Rotation rotated = rotation(*order.basis, false, order.inside, Inside::colour_spin);
  const int side_by_side = order::lanes(order.sites, sizeof(Real));
  // A site of doubles has three whole lines. Others are stored in runs, where the order has runs.
  const bool aligned = (reinterpret_cast<std::uintptr_t>(spinor) & 63U) == 0,
             whole_lines = sizeof(Real) == 8 && aligned;
  const Grouping group =
      side_by_side == 1 ? batch_of<Real>(psi, order.sites, true) : runs_of(psi, order.sites, side_by_side);
  const SiteIndex sites(order.sites, psi.layout().geometry());
  const Following lanes_follow = following_lanes(psi, sites, group, side_by_side);
  for_each_group(psi, sites, group, [&](const GroupPlace& at, const GroupPlace& next, T* buffer) {
    for (int i = 0; i < group.count; ++i) {
      const std::int64_t x = group.x(at.x, i);
      const T* in = psi.parity(at.row.parity(x)) + at.row.tile(x) * psi.tile_stride() + column * psi.column_stride();
      rotate_tile<T, lanes>(buffer + i * spinor_reals * lanes, in, rotated, false);
    }
    if (side_by_side > 1) {
      if (group.count > 1)
        with_runs<lanes>(side / group.count, lanes_follow, [&](auto numbers, auto follow) {
          scatter_lanes<T, lanes, numbers, follow()>(spinor, buffer, at.row, at.x, side_by_side, next.row, next.x);
        });
      else
        scatter_numbers<T, lanes>(spinor, buffer, at.row, at.x, side_by_side);
      return;
    }
    for (int lane = 0; lane < lanes; lane += side) {
      if (group.runs && !whole_lines) {
        scatter_runs<T, lanes>(spinor, buffer, at.row, at.x, group.count, lane);
        continue;
      }
      for (int i = 0; i < group.count; ++i) {
        std::array<Real*, side> places, later;
        for (int j = 0; j < side; ++j) {
          places[static_cast<std::size_t>(j)] = spinor + spinor_reals * at.row.index(lane + j, group.x(at.x, i));
          later[static_cast<std::size_t>(j)] = spinor + spinor_reals * next.row.index(lane + j, group.x(next.x, i));
        }
        scatter_octet<T, lanes>(places, buffer + i * spinor_reals * lanes, lane, whole_lines,
                                whole_lines ? nullptr : &later);
      }
    }
  });
}

}  // namespace

template <class T>
bool suits_packs(const SpinorField<T>& psi) {
  return psi.reals_per_site() == spinor_reals && psi.layout().lanes() % side == 0;
}

template <class T, class Real>
void load_tiles(SpinorField<T>& psi, int column, const Real* spinor, const SpinorOrder& order) {
  if (psi.layout().lanes() == 16)
    load_with<T, 16>(psi, column, spinor, order);
  else
    load_with<T, 8>(psi, column, spinor, order);
}

template <class T, class Real>
void store_tiles(Real* spinor, const SpinorField<T>& psi, int column, const SpinorOrder& order) {
  if (psi.layout().lanes() == 16)
    store_with<T, 16>(spinor, psi, column, order);
  else
    store_with<T, 8>(spinor, psi, column, order);
}

template bool suits_packs(const SpinorField<float>&);
template bool suits_packs(const SpinorField<double>&);
template void load_tiles(SpinorField<float>&, int, const float*, const SpinorOrder&);
template void load_tiles(SpinorField<float>&, int, const double*, const SpinorOrder&);
template void load_tiles(SpinorField<double>&, int, const float*, const SpinorOrder&);
template void load_tiles(SpinorField<double>&, int, const double*, const SpinorOrder&);
template void store_tiles(float*, const SpinorField<float>&, int, const SpinorOrder&);
template void store_tiles(double*, const SpinorField<float>&, int, const SpinorOrder&);
template void store_tiles(float*, const SpinorField<double>&, int, const SpinorOrder&);
template void store_tiles(double*, const SpinorField<double>&, int, const SpinorOrder&);

}  // namespace halocline::qcd::order::detail
