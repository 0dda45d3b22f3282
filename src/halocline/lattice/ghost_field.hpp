// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A field on the local box surrounded by ghost sites, in rows along x.
///
/// This plain layout is for algorithms that read neighbours in many combinations (staples, leaves, loops) and whose
/// cost is arithmetic rather than communication. Memory is `[t][z][y][component][x]`. Every axis has `depth` ghost
/// sites on both sides, whether it is split between processes or not. So every neighbour of a local site, along any
/// path of at most `depth` steps along each axis, is at a fixed distance in memory, and no code tests for edges.
///
/// A SIMD pack holds consecutive x of one row; an unaligned load gives its neighbours in x. Site x = 0 of a row is
/// aligned to 64 bytes. The lower ghosts of a row share the padding at the end of the row before.
///
/// Ghosts are filled one axis after another. Each slab includes the ghosts of the axes already done, so that the
/// corners are correct after four steps and no diagonal message is needed.

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/lattice/geometry.hpp"

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace halocline::lattice {

/// @tparam T  type of one component
template <class T>
class GhostField {
public:
  static constexpr int most_ghosts = 4;

  /// @param components  numbers at each site
  /// @param depth       ghost sites on each side of each axis, 1 ... 4, and at most the smallest local extent
  /// @throws InvalidArgument  another depth, or fewer than 1 component; the same on every rank
  /// Zero at first. Collective: no.  Cost: memory of all sites with ghosts, x padded to multiples of 64 bytes.
  GhostField(std::shared_ptr<const Geometry4> geometry, int components, int depth)
      : geometry_(std::move(geometry)), components_(components), depth_(depth) {
    const auto& local = geometry_->local();
    if (components < 1)
      throw core::InvalidArgument("a field of " + std::to_string(components) +
                                  " numbers a site was asked for; at least 1 is needed");
    for (int axis = 0; axis < 4; ++axis)
      if (depth < 1 || depth > most_ghosts || depth > local[axis])
        throw core::InvalidArgument("ghost depth " + std::to_string(depth) + " does not fit axis " +
                                    std::to_string(axis) + " with local extent " + std::to_string(local[axis]) +
                                    "; it must lie between 1 and min(4, every local extent): use fewer processes "
                                    "along this axis or a larger lattice");
    row_ = (local[0] + 2 * depth + line - 1) / line * line;
    stride_[0] = 1;
    stride_[1] = row_ * components;
    stride_[2] = stride_[1] * (local[1] + 2 * depth);
    stride_[3] = stride_[2] * (local[2] + 2 * depth);
    origin_ = line + depth * (stride_[1] + stride_[2] + stride_[3]);
    data_ = core::AlignedArray<T>(line + stride_[3] * (local[3] + 2 * depth) + 2 * line);
  }

  const Geometry4& geometry() const noexcept { return *geometry_; }
  const std::shared_ptr<const Geometry4>& geometry_ptr() const noexcept { return geometry_; }
  int depth() const noexcept { return depth_; }
  int components() const noexcept { return components_; }

  /// Distance in memory between the same component of two neighbouring sites on an axis.
  std::int64_t stride(int axis) const noexcept { return stride_[axis]; }
  /// Distance from one component of a site to the next.
  std::int64_t component_stride() const noexcept { return row_; }
  /// Offset of component 0 of a site from data(); local coordinates in [-depth, local + depth).
  std::int64_t offset(const Coordinates<4>& x) const noexcept {
    return origin_ + x[0] + x[1] * stride_[1] + x[2] * stride_[2] + x[3] * stride_[3];
  }

  /// A pack may begin at any site: memory up to 128 bytes past the last ghost may be read (not written).
  T* data() noexcept { return data_.data(); }
  const T* data() const noexcept { return data_.data(); }

  T& at(const Coordinates<4>& x, int component) noexcept { return data_[offset(x) + component * row_]; }
  const T& at(const Coordinates<4>& x, int component) const noexcept { return data_[offset(x) + component * row_]; }

  /// Fills all ghosts, including corners, with the values of the processes that own the sites. Ghosts beyond an open
  /// end of the process grid stay unchanged.
  /// Collective: yes.  Cost: two messages of `depth` layers for each split axis.
  void exchange_ghosts() { exchange_ghosts(0, components_); }
  /// The same for components first ... first + count - 1 only.
  void exchange_ghosts(int first, int count) {
    for (int axis = 0; axis < 4; ++axis) {
      if (geometry_->is_split(axis))
        exchange_split(axis, first, count);
      else if (geometry_->grid().periodic(axis))
        wrap(axis, first, count);
    }
  }

private:
  static constexpr std::int64_t line = core::AlignedArray<T>::alignment / static_cast<std::int64_t>(sizeof(T));

  struct Box {
    Coordinates<4> low, high;
  };

  /// `depth` layers along an axis, beginning at `low`, including the ghosts of the axes already exchanged.
  Box slab(int axis, std::int64_t low) const {
    Box box{};
    for (int other = 0; other < 4; ++other) {
      const std::int64_t margin = other < axis ? depth_ : 0;
      box.low[other] = -margin;
      box.high[other] = geometry_->local()[other] + margin;
    }
    box.low[axis] = low;
    box.high[axis] = low + depth_;
    return box;
  }

  /// Calls action(pointer to the first x, length) for every row and component of a box.
  template <class Action>
  void for_each_run(const Box& box, int first, int count, Action&& action) {
    const std::int64_t length = box.high[0] - box.low[0];
    for (std::int64_t t = box.low[3]; t < box.high[3]; ++t)
      for (std::int64_t z = box.low[2]; z < box.high[2]; ++z)
        for (std::int64_t y = box.low[1]; y < box.high[1]; ++y) {
          T* run = data() + offset({box.low[0], y, z, t}) + first * row_;
          for (int c = 0; c < count; ++c, run += row_) action(run, length);
        }
  }

  /// Fills the ghosts of an axis that one process holds whole from its own sites. Along x a run has only `depth`
  /// numbers and there are most runs, hence the plain loop and the threads.
  void wrap(int axis, int first, int count) {
    const std::int64_t extent = geometry_->local()[axis];
    const std::int64_t jump = extent * stride_[axis];
    const Box low = slab(axis, -depth_), high = slab(axis, extent);
    Coordinates<4> runs{};
    for (int other = 1; other < 4; ++other) runs[other] = low.high[other] - low.low[other];
    const std::int64_t length = low.high[0] - low.low[0];
    const std::int64_t number = runs[1] * runs[2] * runs[3];
#pragma omp parallel for schedule(static)
    for (std::int64_t index = 0; index < number; ++index) {
      const Coordinates<4> at = {0, index % runs[1], index / runs[1] % runs[2], index / (runs[1] * runs[2])};
      Coordinates<4> x{}, y{};
      for (int other = 0; other < 4; ++other) {
        x[other] = low.low[other] + at[other];
        y[other] = high.low[other] + at[other];
      }
      T* to_low = data() + offset(x) + first * row_;
      T* to_high = data() + offset(y) + first * row_;
      for (int c = 0; c < count; ++c, to_low += row_, to_high += row_)
        for (std::int64_t i = 0; i < length; ++i) {
          to_low[i] = to_low[i + jump];
          to_high[i] = to_high[i - jump];
        }
    }
  }

  void exchange_split(int axis, int first, int count) {
    const std::int64_t extent = geometry_->local()[axis];
    move(axis, -1, slab(axis, 0), slab(axis, extent), first, count);
    move(axis, +1, slab(axis, extent - depth_), slab(axis, -depth_), first, count);
  }

  /// Sends one message towards `direction` and receives one from the other side. Processes with an even coordinate send
  /// first, processes with an odd coordinate receive first, so that blocking sends cannot deadlock. This holds also in
  /// a ring of odd length, where two even processes are neighbours: the chain of waiting processes ends at the next odd
  /// one.
  void move(int axis, int direction, const Box& from, const Box& to, int first, int count) {
    const comm::ProcessGrid& grid = geometry_->grid();
    const int target = grid.neighbour({axis, direction});
    const int source = grid.neighbour({axis, -direction});
    const int tag = comm::Face{axis, direction}.index();
    std::vector<T> outgoing, incoming;
    if (target >= 0)
      for_each_run(from, first, count,
                   [&](T* run, std::int64_t length) { outgoing.insert(outgoing.end(), run, run + length); });
    if (source >= 0) {
      std::size_t numbers = 0;
      for_each_run(to, first, count, [&](T*, std::int64_t length) { numbers += static_cast<std::size_t>(length); });
      incoming.resize(numbers);
    }
    const bool sends_first = grid.coords()[static_cast<std::size_t>(axis)] % 2 == 0;
    for (const bool sending : {sends_first, !sends_first}) {
      if (sending && target >= 0)
        geometry_->communicator().send(std::as_bytes(std::span(outgoing)), target, tag);
      else if (!sending && source >= 0)
        geometry_->communicator().receive(std::as_writable_bytes(std::span(incoming)), source, tag);
    }
    const T* next = incoming.data();
    if (source >= 0)
      for_each_run(to, first, count, [&](T* run, std::int64_t length) {
        std::memcpy(run, next, static_cast<std::size_t>(length) * sizeof(T));
        next += length;
      });
  }

  std::shared_ptr<const Geometry4> geometry_;
  int components_;
  int depth_;
  std::int64_t row_ = 0;  ///< distance between two components of a row
  Coordinates<4> stride_{};
  std::int64_t origin_ = 0;  ///< offset of the first local site
  core::AlignedArray<T> data_;
};

}  // namespace halocline::lattice
