// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Tiles from and to arrays whose sites lie side by side.
///
/// Each lane of `8 / numbers` tiles has a run of sites in the array, for every number of a site. Runs of several
/// numbers fill a row of eight. Where lanes lie along x, the run of one lane is followed by that of another one: a row
/// of eight is then read or written at once, and runs change places in registers.

#include <array>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/order/detail/tile_row.hpp"
#include "halocline/qcd/order/detail/transpose.hpp"

namespace halocline::qcd::order::detail {

/// How the runs of lanes follow each other in the array. Lanes count along x with their bits reversed.
struct Following {
  int lane = 0;       ///< lane j + lane has the run after that of lane j, for all j without this bit; 0: no lane has.
                      ///< The runs after these two are those of lanes lane / 2 apart, and so on, until a row is full
  bool rows = false;  ///< the row of eight after it begins with the run of another lane, too

  constexpr int half_of(int count) const { return lane >> std::countr_zero(static_cast<unsigned>(count)); }
  /// The lane, from lane 0, of run i of a row of `numbers` runs.
  constexpr int follower(int i) const { return ((i & 1) != 0 ? lane : 0) + ((i & 2) != 0 ? lane / 2 : 0); }
  /// Bits of the lanes whose runs are in the rows of other lanes; and of the lane whose row comes after.
  constexpr int followers(int numbers) const { return follower(numbers - 1); }
  constexpr int row_after(int numbers) const { return rows ? half_of(numbers) : 0; }
};

/// Of the lanes of a row, which stands for all. @param numbers  runs in a row of eight
inline Following following_lanes(const TileRow& row, int lanes, int numbers, std::int64_t side_by_side) {
  const auto place = [&](int lane) { return place_of(row.index(lane, 0), spinor_reals, side_by_side); };
  const auto follow = [&](int distance, std::int64_t sites, int below) {
    for (int j = 0; j < lanes; ++j)
      if ((j & (distance | below)) == 0 && place(j + distance) != place(j) + sites) return false;
    return true;
  };
  for (int lane = 1; lane < lanes; lane *= 2) {
    const Following all{lane, true};
    bool runs = true;
    int below = 0;
    for (int known = 1; known < numbers; known *= 2) {
      const int next = all.half_of(known);
      runs = runs && next > 0 && follow(next, std::int64_t{known} * side / numbers, below);
      below |= next;
    }
    if (!runs) continue;
    const int next = all.half_of(numbers);
    const bool rows = next > 0 && follow(next, side, below);
    if (numbers > 1 || rows) return {lane, rows};
  }
  return {};
}

/// Runs of `numbers` numbers of one lane, which do not follow those of another one, as one row.
template <class T, int numbers, class Real>
HALOCLINE_INLINE Row<T> load_runs(const Real* from, std::int64_t side_by_side) {
  using Run = core::Pack<Real, side / numbers>;
  if constexpr (numbers == 2) {
    const auto a = Run::load(from), b = Run::load(from + side_by_side);
    return converted<T>(Row<Real>(__builtin_shufflevector(a.v, b.v, 0, 1, 2, 3, 4, 5, 6, 7)));
  } else {
    const auto a = Run::load(from), b = Run::load(from + side_by_side), c = Run::load(from + 2 * side_by_side),
               d = Run::load(from + 3 * side_by_side);
    const auto low = __builtin_shufflevector(a.v, b.v, 0, 1, 2, 3),
               high = __builtin_shufflevector(c.v, d.v, 0, 1, 2, 3);
    return converted<T>(Row<Real>(__builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7)));
  }
}
template <int numbers, class Real, class T>
HALOCLINE_INLINE void store_runs(Real* to, std::int64_t side_by_side, const Row<T>& row) {
  using Run = core::Pack<Real, side / numbers>;
  const auto all = converted<Real>(row);
  if constexpr (numbers == 2) {
    Run(__builtin_shufflevector(all.v, all.v, 0, 1, 2, 3)).store(to);
    Run(__builtin_shufflevector(all.v, all.v, 4, 5, 6, 7)).store(to + side_by_side);
  } else {
    Run(__builtin_shufflevector(all.v, all.v, 0, 1)).store(to);
    Run(__builtin_shufflevector(all.v, all.v, 2, 3)).store(to + side_by_side);
    Run(__builtin_shufflevector(all.v, all.v, 4, 5)).store(to + 2 * side_by_side);
    Run(__builtin_shufflevector(all.v, all.v, 6, 7)).store(to + 3 * side_by_side);
  }
}

/// Lanes that are worked on at once: all of those whose runs share a row.
constexpr int lanes_at_once(Following following) { return following.lane == side ? 2 * side : side; }

template <int count, class Real>
std::array<Real*, count> lane_places(Real* array, const TileRow& row, std::int64_t x, int lane,
                                     std::int64_t side_by_side) {
  std::array<Real*, count> places;
  for (int j = 0; j < count; ++j)
    places[static_cast<std::size_t>(j)] = array + place_of(row.index(lane + j, x), spinor_reals, side_by_side);
  return places;
}

/// `8 / numbers` tiles whose sites of one lane lie side by side, from x on, into [tile][number][lane].
template <class T, int lanes, int numbers, Following following, class Real>
void gather_lanes(T* tiles, const Real* spinor, const TileRow& row, std::int64_t x, std::int64_t side_by_side,
                  const TileRow& ahead, std::int64_t x_ahead) {
  constexpr int count = side / numbers, at_once = lanes_at_once(following);
  constexpr std::size_t followers = following.followers(numbers),
                        in_line = followers | (sizeof(Real) == 4 ? following.row_after(numbers) : 0);
  for (int lane = 0; lane < lanes; lane += at_once) {
    const auto from = lane_places<at_once>(spinor, row, x, lane, side_by_side),
               later = lane_places<at_once>(spinor, ahead, x_ahead, lane, side_by_side);
    for (int number = 0; number < spinor_reals; number += numbers) {
      const std::int64_t offset = number * side_by_side;
      std::array<Block<T>, at_once / side> blocks;
      for (int i = 0; i < numbers; ++i)
        for (std::size_t j = 0; j < at_once; ++j)
          if ((j & in_line) == 0) prefetch(later[j] + offset + i * side_by_side);
#pragma GCC unroll 16
      for (std::size_t j = 0; j < at_once; ++j)
        if constexpr (numbers == 1) {
          blocks[j / side][j % side] = load_row<T>(from[j] + offset);
        } else if constexpr (followers == 0) {
          blocks[j / side][j % side] = load_runs<T, numbers>(from[j] + offset, side_by_side);
        } else if ((j & followers) == 0) {
          std::array<Row<T>, numbers> rows;
#pragma GCC unroll 4
          for (int i = 0; i < numbers; ++i)
            rows[static_cast<std::size_t>(i)] = load_row<T>(from[j] + offset + i * side_by_side);
          transpose(rows);
#pragma GCC unroll 4
          for (int i = 0; i < numbers; ++i) {
            const std::size_t other = j + static_cast<std::size_t>(following.follower(i));
            blocks[other / side][other % side] = rows[static_cast<std::size_t>(i)];
          }
        }
#pragma GCC unroll 2
      for (int octet = 0; octet < at_once / side; ++octet) {
        Block<T>& block = blocks[static_cast<std::size_t>(octet)];
        transpose(block);
        for (int k = 0; k < side; ++k)
          block[static_cast<std::size_t>(k)].store(tiles + (k % count * spinor_reals + number + k / count) * lanes +
                                                   lane + octet * side);
      }
    }
  }
}

/// The inverse of gather_lanes.
template <class T, int lanes, int numbers, Following following, class Real>
void scatter_lanes(Real* spinor, const T* tiles, const TileRow& row, std::int64_t x, std::int64_t side_by_side,
                   const TileRow& ahead, std::int64_t x_ahead) {
  constexpr bool doubles = sizeof(Real) == 8;
  constexpr int count = side / numbers, at_once = lanes_at_once(following);
  constexpr std::size_t followers = following.followers(numbers), after = doubles ? 0 : following.row_after(numbers),
                        in_line = followers | after;
  constexpr bool rows_whole = numbers == 1 || followers != 0;
  for (int lane = 0; lane < lanes; lane += at_once) {
    const auto to = lane_places<at_once>(spinor, row, x, lane, side_by_side),
               later = lane_places<at_once>(spinor, ahead, x_ahead, lane, side_by_side);
    bool whole_lines = rows_whole && (doubles || after != 0) && side_by_side * std::int64_t{sizeof(Real)} % 64 == 0;
    for (std::size_t j = 0; j < at_once; ++j)
      if ((j & in_line) == 0) whole_lines = whole_lines && begins_line(to[j]);
    for (int number = 0; number < spinor_reals; number += numbers) {
      const std::int64_t offset = number * side_by_side;
      if (!whole_lines)
        for (int i = 0; i < numbers; ++i)
          for (std::size_t j = 0; j < at_once; ++j)
            if ((j & in_line) == 0) prefetch(later[j] + offset + i * side_by_side);
      std::array<Block<T>, at_once / side> blocks;
#pragma GCC unroll 2
      for (int octet = 0; octet < at_once / side; ++octet) {
        Block<T>& block = blocks[static_cast<std::size_t>(octet)];
        for (int k = 0; k < side; ++k)
          block[static_cast<std::size_t>(k)] =
              Row<T>::load(tiles + (k % count * spinor_reals + number + k / count) * lanes + lane + octet * side);
        transpose(block);
      }
      const auto rows_of = [&](std::size_t j) __attribute__((always_inline)) {
        std::array<Row<Real>, numbers> rows;
#pragma GCC unroll 4
        for (int i = 0; i < numbers; ++i) {
          const std::size_t other = j + static_cast<std::size_t>(following.follower(i));
          rows[static_cast<std::size_t>(i)] = converted<Real>(blocks[other / side][other % side]);
        }
        transpose(rows);
        return rows;
      };
#pragma GCC unroll 16
      for (std::size_t j = 0; j < at_once; ++j) {
        Real* place = to[j] + offset;
        if constexpr (!rows_whole) {
          store_runs<numbers>(place, side_by_side, blocks[j / side][j % side]);
        } else if ((j & in_line) == 0) {
          const auto rows = rows_of(j);
          if constexpr (after == 0) {
            for (std::size_t i = 0; i < numbers; ++i)
              put_row(place + static_cast<std::int64_t>(i) * side_by_side, rows[i], whole_lines);
          } else {
            const auto rest = rows_of(j + after);
            for (std::size_t i = 0; i < numbers; ++i)
              put_rows(place + static_cast<std::int64_t>(i) * side_by_side, rows[i], rest[i], whole_lines);
          }
        }
      }
    }
  }
}

/// Calls work(numbers, following) with constants.
template <int lanes, class Work>
void with_runs(int numbers, const Following& following, const Work& work) {
  const auto with = [&]<int of, int lane>() {
    constexpr Following runs{lane, false}, rows{lane, true};
    if constexpr (lane >= of) {
      if (following.rows) return work(std::integral_constant<int, of>{}, std::integral_constant<Following, rows>{});
    }
    return work(std::integral_constant<int, of>{}, std::integral_constant<Following, runs>{});
  };
  const auto with_lane = [&]<int of>() {
    if (following.lane == 1) return with.template operator()<of, 1>();
    if (following.lane == 2) return with.template operator()<of, 2>();
    if (following.lane == 4) return with.template operator()<of, 4>();
    if constexpr (lanes > side)
      if (following.lane == 8) return with.template operator()<of, 8>();
    return with.template operator()<of, 0>();
  };
  if (numbers == 1)
    with_lane.template operator()<1>();
  else if (numbers == 2)
    with_lane.template operator()<2>();
  else
    with_lane.template operator()<4>();
}

}  // namespace halocline::qcd::order::detail
