// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// An N-dimensional lattice cut into equal boxes, one for each process.
///
/// Axis 0 (x) varies fastest in every linear index. The canonical order of local sites, used by all interfaces (files,
/// NumPy), is `[..][z][y][x]`.

#include <array>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "halocline/comm/group/process_grid.hpp"

namespace halocline::lattice {

template <int N>
using Coordinates = std::array<std::int64_t, N>;

inline constexpr std::array<char, 4> axis_name{'x', 'y', 'z', 't'};

/// The number of lanes along an axis must satisfy this.
constexpr bool is_power_of_two(std::int64_t n) { return n > 0 && (n & (n - 1)) == 0; }

template <int N>
constexpr std::int64_t product(const Coordinates<N>& extents) {
  std::int64_t p = 1;
  for (auto e : extents) p *= e;
  return p;
}

/// Linear index of coordinates in a box, x fastest.
template <int N>
constexpr std::int64_t linear_index(const Coordinates<N>& x, const Coordinates<N>& extents) {
  std::int64_t index = 0;
  for (int axis = N - 1; axis >= 0; --axis) index = index * extents[axis] + x[axis];
  return index;
}

/// The inverse of linear_index.
template <int N>
constexpr Coordinates<N> coordinates_of(std::int64_t index, const Coordinates<N>& extents) {
  Coordinates<N> x{};
  for (int axis = 0; axis < N; ++axis) {
    x[axis] = index % extents[axis];
    index /= extents[axis];
  }
  return x;
}

/// The part of the global lattice that this process holds. A small value; copies share no mutable state.
template <int N>
class Geometry {
public:
  /// @param global  extents of the whole lattice [sites]
  /// @param grid    N-dimensional process grid; each global extent must be a multiple of the grid's
  /// @param required_multiple  of every local extent; empty: 2 along x and 1 elsewhere
  /// @throws InvalidArgument  the same on every rank; names the axis and the possible grids
  /// Collective: does not communicate, but every process of the grid must construct the same geometry.
  Geometry(const Coordinates<N>& global, comm::ProcessGrid grid, std::span<const std::int64_t> required_multiple = {})
      : global_(global), grid_(std::move(grid)) {
    comm::check_grid(global_, grid_.dims(), grid_.size(), required_multiple);
    for (int axis = 0; axis < N; ++axis) {
      local_[axis] = global_[axis] / grid_.dims()[axis];
      offset_[axis] = local_[axis] * grid_.coords()[axis];
    }
  }

  const Coordinates<N>& global() const noexcept { return global_; }  ///< extents of the whole lattice
  const Coordinates<N>& local() const noexcept { return local_; }    ///< extents of this process's box
  const Coordinates<N>& offset() const noexcept { return offset_; }  ///< global coordinates of its first site
  std::int64_t global_volume() const noexcept { return product<N>(global_); }
  std::int64_t local_volume() const noexcept { return product<N>(local_); }
  const comm::ProcessGrid& grid() const noexcept { return grid_; }
  const comm::Communicator& communicator() const noexcept { return grid_.communicator(); }

  /// Whether the axis is split between processes, so that its halo is sent.
  bool is_split(int axis) const noexcept { return local_[axis] != global_[axis]; }

  /// Index of a local site in the whole lattice; independent of the process grid.
  std::int64_t global_index(Coordinates<N> x) const noexcept {
    for (int axis = 0; axis < N; ++axis) x[axis] += offset_[axis];
    return linear_index<N>(x, global_);
  }

  /// 0 for the parity of the global origin, 1 for the other.
  int parity(const Coordinates<N>& x) const noexcept {
    std::int64_t sum = 0;
    for (int axis = 0; axis < N; ++axis) sum += x[axis] + offset_[axis];
    return static_cast<int>(sum & 1);
  }

private:
  Coordinates<N> global_;
  comm::ProcessGrid grid_;
  Coordinates<N> local_{};
  Coordinates<N> offset_{};
};

using Geometry4 = Geometry<4>;

}  // namespace halocline::lattice
