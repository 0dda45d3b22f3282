// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/order/detail/spinor_tiles.hpp"

#include <algorithm>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/qcd/order/detail/rotation.hpp"
#include "halocline/qcd/order/detail/site_index.hpp"
#include "halocline/qcd/order/detail/thread_scratch.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {
namespace {

using lattice::Coordinates;
using lattice::TileLayout;

constexpr int most_lanes = TileLayout::max_lanes;

/// Tiles of one part of a split layout, side by side along x: the same outer y z t.
class TileRow {
public:
  TileRow(const TileLayout& layout, const SiteIndex& sites)
      : layout_(&layout), sites_(&sites), parts_(lattice::product<4>(layout.parts())) {
    const std::int64_t length = layout.geometry().local()[0];
    for (int lane = 0; lane < layout.lanes(); ++lane) {
      const Coordinates<4> at = layout.lane_coordinates(lane);
      lane_[static_cast<std::size_t>(lane)] = at;
      // Lanes along x share the row that the first of them fills.
      begin_[static_cast<std::size_t>(lane)] =
          layout.lane_index({0, at[1], at[2], at[3]}) * length + layout.outer()[0] * at[0];
    }
    indices_.resize(static_cast<std::size_t>(layout.lanes() * length));
  }

  /// Fills in the places of all sites of the row. @param first  outer coordinates of its first tile
  void move_to(const Coordinates<4>& first) {
    first_x_ = first[0];
    parity_ = layout_->parity_of(first);
    tile_ = layout_->tile_index(first);
    const auto& extent = layout_->outer();
    const std::int64_t length = layout_->geometry().local()[0];
    for (int lane = 0; lane < layout_->lanes(); ++lane) {
      const Coordinates<4>& at = lane_[static_cast<std::size_t>(lane)];
      if (at[0] == 0)
        sites_->fill_row(indices_.data() + lane * length, first[1] + extent[1] * at[1], first[2] + extent[2] * at[2],
                         first[3] + extent[3] * at[3]);
    }
  }

  /// Where the site of a lane and a tile is in the array; x counts from the first tile.
  std::int64_t index(int lane, std::int64_t x) const {
    return indices_[static_cast<std::size_t>(begin_[static_cast<std::size_t>(lane)] + first_x_ + x)];
  }

  int parity(std::int64_t x) const { return static_cast<int>((parity_ + x) & 1); }
  /// The tiles of the other parts lie between.
  std::int64_t tile(std::int64_t x) const { return tile_ + x / 2 * parts_; }

private:
  const TileLayout* layout_;
  const SiteIndex* sites_;
  std::array<Coordinates<4>, most_lanes> lane_{};
  std::array<std::int64_t, most_lanes> begin_{};  ///< of the lane in indices_
  std::vector<std::int64_t> indices_;             ///< [lane][x]
  std::int64_t first_x_ = 0, tile_ = 0, parts_ = 1;
  int parity_ = 0;
};

/// Tiles of a row, both parities.
std::int64_t row_length(const TileLayout& layout) { return layout.outer()[0] / layout.parts()[0]; }

/// Rows that lie in memory tile by tile in turn: those of the parts of a split layout.
using Strands = std::vector<TileRow>;

/// Calls work(strands, strands that come next, buffer of eight tiles) for all rows; threads share them.
template <class T, class Work>
void for_each_row(const TileLayout& layout, const SiteOrder& order, const Work& work) {
  const SiteIndex sites(order, layout.geometry());
  const std::int64_t parts = lattice::product<4>(layout.parts());
  const std::int64_t row_tiles = parts * row_length(layout) / 2;  // of each parity
  const std::int64_t rows = layout.tiles() / row_tiles;
  const auto move = [&](Strands& strands, std::int64_t row) {
    for (std::int64_t part = 0; part < parts; ++part) {
      auto first = layout.outer_coordinates(0, row * row_tiles + part);
      first[0] -= first[0] % 2;
      strands[static_cast<std::size_t>(part)].move_to(first);
    }
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

/// The number `number` of eight sites that lie side by side, the first of them at `index`.
std::int64_t place_of(std::int64_t index, int number, std::int64_t side_by_side) {
  return (index / side_by_side * spinor_reals + number) * side_by_side + index % side_by_side;
}

/// One tile of an order whose sites lie side by side, where no eight tiles have them so: number by number.
template <class T, int lanes, class Real>
void gather_numbers(T* tile, const Real* spinor, const TileRow& row, std::int64_t x, std::int64_t side_by_side) {
  for (int lane = 0; lane < lanes; ++lane) {
    const Real* from = spinor + place_of(row.index(lane, x), 0, side_by_side);
    for (int number = 0; number < spinor_reals; ++number)
      tile[number * lanes + lane] = static_cast<T>(from[number * side_by_side]);
  }
}

template <class T, int lanes, class Real>
void scatter_numbers(Real* spinor, const T* tile, const TileRow& row, std::int64_t x, std::int64_t side_by_side) {
  for (int lane = 0; lane < lanes; ++lane) {
    Real* to = spinor + place_of(row.index(lane, x), 0, side_by_side);
    for (int number = 0; number < spinor_reals; ++number)
      to[number * side_by_side] = static_cast<Real>(tile[number * lanes + lane]);
  }
}

/// Four numbers and four others.
template <class T, class Real>
HALOCLINE_INLINE Row<T> load_two_runs(const Real* from, const Real* other) {
  using Half = core::Pack<Real, side / 2>;
  const auto a = Half::load(from), b = Half::load(other);
  return converted<T>(Row<Real>(__builtin_shufflevector(a.v, b.v, 0, 1, 2, 3, 4, 5, 6, 7)));
}
template <class Real, class T>
HALOCLINE_INLINE void store_two_runs(Real* to, Real* other, const Row<T>& row) {
  using Half = core::Pack<Real, side / 2>;
  const auto numbers = converted<Real>(row);
  Half(__builtin_shufflevector(numbers.v, numbers.v, 0, 1, 2, 3)).store(to);
  Half(__builtin_shufflevector(numbers.v, numbers.v, 4, 5, 6, 7)).store(other);
}

/// Where eight lanes of eight tiles are in an array whose sites lie side by side: one run each; or four sites of one
/// parity, and four of the other.
template <class Real>
struct LanePlaces {
  std::array<Real*, side> first, other{};

  LanePlaces(Real* array, const TileRow& row, std::int64_t x, int lane, std::int64_t side_by_side, bool two_runs) {
    for (int j = 0; j < side; ++j) {
      first[static_cast<std::size_t>(j)] = array + place_of(row.index(lane + j, x), 0, side_by_side);
      if (two_runs) other[static_cast<std::size_t>(j)] = array + place_of(row.index(lane + j, x + 1), 0, side_by_side);
    }
  }

  /// Lane j + step, where (j & step) == 0, continues both runs of lane j. 0: none does
  std::size_t step() const { return other[0] == nullptr ? 0 : lanes_at(side / 2, 0); }
  /// Lane j + stride continues the runs of lanes j and j + step. 0: none does
  std::size_t stride(std::size_t step) const { return step == 0 ? 0 : lanes_at(side, step); }

  /// The lines of one number. @param step  as above, of these places or of others whose lanes lie alike
  void ask(std::int64_t offset, std::size_t step) const {
    for (std::size_t j = 0; j < side; ++j) {
      if ((j & step) != 0) continue;
      prefetch(first[j] + offset);
      if (other[j] != nullptr) prefetch(other[j] + offset);
    }
  }

  /// Whether the runs of all lanes without these bits begin lines.
  bool begin_lines(std::size_t bits) const {
    bool all = true;
    for (std::size_t j = 0; j < side; ++j)
      if ((j & bits) == 0) all = all && begins_line(first[j]) && begins_line(other[j]);  // a null pointer does
    return all;
  }

private:
  /// The distance of lanes whose runs are `numbers` apart, among lanes without the bit `below`.
  std::size_t lanes_at(std::int64_t numbers, std::size_t below) const {
    for (const std::size_t lanes : {1U, 2U, 4U}) {
      if (lanes == below) continue;
      bool all = true;
      for (std::size_t j = 0; j < side; ++j)
        if ((j & (lanes | below)) == 0)
          all = all && first[j + lanes] == first[j] + numbers && other[j + lanes] == other[j] + numbers;
      if (all) return lanes;
    }
    return 0;
  }
};

/// Eight tiles whose sites of one lane lie side by side, from x on; or four of them, and four others from x + 1 on.
/// Into [tile][number][lane].
template <class T, int lanes, class Real>
void gather_lanes(T* tiles, const Real* spinor, const TileRow& row, std::int64_t x, std::int64_t side_by_side,
                  bool two_runs, const TileRow& ahead, std::int64_t x_ahead) {
  for (int lane = 0; lane < lanes; lane += side) {
    const LanePlaces<const Real> from(spinor, row, x, lane, side_by_side, two_runs),
        later(spinor, ahead, x_ahead, lane, side_by_side, two_runs);
    const std::size_t step = from.step();
    for (int number = 0; number < spinor_reals; ++number) {
      const std::int64_t offset = number * side_by_side;
      Block<T> block;
      later.ask(offset, step);
      for (std::size_t j = 0; j < side; ++j)
        if (!two_runs) {
          block[j] = load_row<T>(from.first[j] + offset);
        } else if (step == 0) {
          block[j] = load_two_runs<T>(from.first[j] + offset, from.other[j] + offset);
        } else if ((j & step) == 0) {
          const auto parts = join_halves(load_row<T>(from.first[j] + offset), load_row<T>(from.other[j] + offset));
          block[j] = parts[0];
          block[j + step] = parts[1];
        }
      transpose(block);
      for (int k = 0; k < side; ++k)
        block[static_cast<std::size_t>(k)].store(tiles + (k * spinor_reals + number) * lanes + lane);
    }
  }
}

template <class T, int lanes, class Real>
void scatter_lanes(Real* spinor, const T* tiles, const TileRow& row, std::int64_t x, std::int64_t side_by_side,
                   bool two_runs, const TileRow& ahead, std::int64_t x_ahead) {
  constexpr bool doubles = sizeof(Real) == 8;
  for (int lane = 0; lane < lanes; lane += side) {
    const LanePlaces<Real> to(spinor, row, x, lane, side_by_side, two_runs),
        later(spinor, ahead, x_ahead, lane, side_by_side, two_runs);
    const std::size_t step = to.step(), stride = doubles ? 0 : to.stride(step);
    const bool joined = doubles ? step > 0 : stride > 0;
    const std::size_t continued = joined ? step | stride : 0;  // bits of lanes in other lanes' lines
    const bool whole_lines = (two_runs ? joined : doubles) && side_by_side * std::int64_t{sizeof(Real)} % 64 == 0 &&
                             to.begin_lines(continued);
    for (int number = 0; number < spinor_reals; ++number) {
      const std::int64_t offset = number * side_by_side;
      Block<T> block;
      if (!whole_lines) later.ask(offset, step);
      for (int k = 0; k < side; ++k)
        block[static_cast<std::size_t>(k)] = Row<T>::load(tiles + (k * spinor_reals + number) * lanes + lane);
      transpose(block);
      const auto runs_of = [&](std::size_t j) {
        return join_halves(converted<Real>(block[j]), converted<Real>(block[j + step]));
      };
      for (std::size_t j = 0; j < side; ++j)
        if (!two_runs) {
          put_row(to.first[j] + offset, converted<Real>(block[j]), whole_lines);
        } else if (!joined) {
          store_two_runs(to.first[j] + offset, to.other[j] + offset, block[j]);
        } else if ((j & continued) == 0) {
          const auto runs = runs_of(j);
          if constexpr (doubles) {
            put_row(to.first[j] + offset, runs[0], whole_lines);
            put_row(to.other[j] + offset, runs[1], whole_lines);
          } else {
            const auto rest = runs_of(j + stride);
            put_rows(to.first[j] + offset, runs[0], rest[0], whole_lines);
            put_rows(to.other[j] + offset, runs[1], rest[1], whole_lines);
          }
        }
    }
  }
}

/// Tiles whose sites of one lane follow each other in the array.
struct Grouping {
  int count = 1;
  std::int64_t step = 1;  ///< along x
  bool two_runs = false;  ///< half of them, with even x, follow each other, and the other half too

  /// The tile number i of a group.
  std::int64_t x(std::int64_t begin, int i) const {
    if (!two_runs) return begin + i * step;
    return i < count / 2 ? begin + 2 * i : begin + 1 + 2 * (i - count / 2);
  }
};

/// @param wanted  8 where sites lie side by side, 4 or 2 for tiles that are worked on together; 1: no groups
template <class T>
Grouping grouping(const SpinorField<T>& psi, const SiteOrder& order, int wanted) {
  const bool by_parity = order.sites == Sites::even_odd, whole = psi.subset() == lattice::Subset::full;
  if (wanted == 1 || order.sites == Sites::cache_blocks || (!whole && !by_parity)) return {};
  // Whole groups must be in each half of a row, unless lanes or parts along x share the halves, and in each parity.
  const std::int64_t length = row_length(psi.layout());
  const bool halved = by_parity || (order.sites == Sites::halves_of_x && length == psi.layout().geometry().local()[0]);
  if ((halved ? length / 2 : length) % wanted == 0) return {wanted, by_parity ? 2 : 1, false};
  if (by_parity && whole && wanted == side && length % side == 0) return {wanted, 1, true};
  return {};
}

/// Tiles that are worked on together. The lanes of a tile are often a power of two apart, and their lines then share
/// few places of a cache: eight lanes of a few tiles use up their lines before other lanes take these places.
template <class T>
Grouping batch_of(const SpinorField<T>& psi, const SiteOrder& order) {
  for (const int wanted : {4, 2})
    if (const Grouping group = grouping(psi, order, wanted); group.count == wanted) return group;
  const bool whole = psi.subset() == lattice::Subset::full;
  return whole && row_length(psi.layout()) % 4 == 0 ? Grouping{4, 1, false} : Grouping{};
}

/// Calls work(first x, first x of the group after it or -1) for every group of a row that the field holds.
template <class T, class Work>
void for_each_group(const SpinorField<T>& psi, const TileRow& row, const Grouping& group, const Work& work) {
  const std::int64_t length = row_length(psi.layout());
  std::int64_t last = -1;
  for (std::int64_t begin = 0; begin < length; begin += group.count * group.step)
    for (std::int64_t x = begin; x < begin + group.step; ++x) {
      if (psi.subset() != lattice::Subset::full && static_cast<int>(psi.subset()) != row.parity(x)) continue;
      if (last >= 0) work(last, x);
      last = x;
    }
  if (last >= 0) work(last, std::int64_t{-1});
}

template <class T, int lanes, class Real>
void load_with(SpinorField<T>& psi, int column, const Real* spinor, const SpinorOrder& order) {
  const Rotation rotated = rotation(*order.basis, true, Inside::colour_spin, order.inside);
  const int side_by_side = order::lanes(order.sites, sizeof(Real));
  const Grouping group =
      side_by_side == 1 ? batch_of(psi, order.sites) : grouping(psi, order.sites, side_by_side % side == 0 ? side : 1);
  const auto load_group = [&](const TileRow& row, const TileRow& next, T* buffer, std::int64_t begin,
                              std::int64_t following) {
    const TileRow& ahead = following >= 0 ? row : next;
    const std::int64_t x_ahead = std::max<std::int64_t>(following, 0);
    if (side_by_side == 1) {
      for (int lane = 0; lane < lanes; lane += side)
        for (int i = 0; i < group.count; ++i)
          gather_octet<T, lanes>(buffer + i * spinor_reals * lanes, spinor, row, group.x(begin, i), lane, ahead,
                                 group.x(x_ahead, i));
    } else if (group.count > 1) {
      gather_lanes<T, lanes>(buffer, spinor, row, begin, side_by_side, group.two_runs, ahead, x_ahead);
    } else {
      gather_numbers<T, lanes>(buffer, spinor, row, begin, side_by_side);
    }
    for (int i = 0; i < group.count; ++i) {
      const std::int64_t x = group.x(begin, i);
      T* out = psi.parity(row.parity(x)) + row.tile(x) * psi.tile_stride() + column * psi.column_stride();
      rotate_tile<T, lanes>(out, buffer + i * spinor_reals * lanes, rotated, true);
    }
  };
  for_each_row<T>(psi.layout(), order.sites, [&](const Strands& strands, const Strands& next, T* buffer) {
    for_each_group(psi, strands[0], group, [&](std::int64_t begin, std::int64_t following) {
      for (std::size_t i = 0; i < strands.size(); ++i) load_group(strands[i], next[i], buffer, begin, following);
    });
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
      side_by_side == 1 ? batch_of(psi, order.sites) : grouping(psi, order.sites, side_by_side % side == 0 ? side : 1);
  const bool runs = grouping(psi, order.sites, group.count).count == group.count && group.count > 1 && !whole_lines;
  const auto store_group = [&](const TileRow& row, const TileRow& next, T* buffer, std::int64_t begin,
                               std::int64_t following) {
    for (int i = 0; i < group.count; ++i) {
      const std::int64_t x = group.x(begin, i);
      const T* in = psi.parity(row.parity(x)) + row.tile(x) * psi.tile_stride() + column * psi.column_stride();
      rotate_tile<T, lanes>(buffer + i * spinor_reals * lanes, in, rotated, false);
    }
    const TileRow& ahead = following >= 0 ? row : next;
    const std::int64_t x_ahead = std::max<std::int64_t>(following, 0);
    if (side_by_side > 1) {
      if (group.count > 1)
        scatter_lanes<T, lanes>(spinor, buffer, row, begin, side_by_side, group.two_runs, ahead, x_ahead);
      else
        scatter_numbers<T, lanes>(spinor, buffer, row, begin, side_by_side);
      return;
    }
    for (int lane = 0; lane < lanes; lane += side) {
      if (runs) {
        scatter_runs<T, lanes>(spinor, buffer, row, begin, group.count, lane);
        continue;
      }
      for (int i = 0; i < group.count; ++i) {
        std::array<Real*, side> sites, later;
        for (int j = 0; j < side; ++j) {
          sites[static_cast<std::size_t>(j)] = spinor + spinor_reals * row.index(lane + j, group.x(begin, i));
          later[static_cast<std::size_t>(j)] = spinor + spinor_reals * ahead.index(lane + j, group.x(x_ahead, i));
        }
        scatter_octet<T, lanes>(sites, buffer + i * spinor_reals * lanes, lane, whole_lines,
                                whole_lines ? nullptr : &later);
      }
    }
  };
  for_each_row<T>(psi.layout(), order.sites, [&](const Strands& strands, const Strands& next, T* buffer) {
    for_each_group(psi, strands[0], group, [&](std::int64_t begin, std::int64_t following) {
      for (std::size_t i = 0; i < strands.size(); ++i) store_group(strands[i], next[i], buffer, begin, following);
    });
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
