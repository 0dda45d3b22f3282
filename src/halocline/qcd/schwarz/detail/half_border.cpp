// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/schwarz/detail/half_border.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "halocline/core/half_pack.hpp"

namespace halocline::qcd::schwarz {
namespace {

using core::Half;

/// A tile of the outer layout is a register of floats: fields of 16 bits are refused otherwise.
constexpr int width = core::native_lanes<float>;
constexpr int numbers = 24;
using Real = core::Number<float, width>;

template <class To, class From>
void convert(To* to, const From* from, std::int64_t count, float factor) {
  const Real by(factor);
  for (std::int64_t n = 0; n < count; n += width)
    core::Stored<To, Real>::store(to + n, by * core::Stored<From, Real>::load(from + n));
}

/// Calls visit(row, column) for the columns of all tiles, threaded.
template <class T, class Visit>
void for_each_row(const lattice::DomainField<T>& field, Visit visit) {
  const std::int64_t rows = field.size() / field.column_stride();
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row) visit(row, static_cast<std::size_t>(row % field.columns()));
}

}  // namespace

HalfBorder::HalfBorder(std::shared_ptr<const lattice::DomainLayout> outer, const ArithmeticChoice& inner)
    : outer_(std::move(outer)), top_(inner.arithmetic == Arithmetic::half ? 0 : 4) {
  if (inner.layout == outer_) return;
  for (std::int32_t tile = 0; tile < inner.layout->tiles(); ++tile) {
    Pair& pair = pairs_.emplace_back(Pair{-1, -1});
    for (int lane = 0; lane < inner.layout->lanes(); ++lane) {
      const auto site = outer_->locate(inner.layout->coordinates({0, tile, lane}));
      if (lane == 0) pair.first = site.tile;
      const bool second = site.tile != pair.first;
      if (second) pair.second = site.tile;
      const int place = site.lane + (second ? width : 0);
      together_[lane] = static_cast<std::int16_t>(place);
      apart_[place] = static_cast<std::int16_t>(lane);
    }
  }
}

std::vector<float> HalfBorder::scales(const Outer& in) const {
  const auto columns = static_cast<std::size_t>(in.columns());
  std::vector<double> largest(columns, 0.0);
  const std::int64_t stride = in.column_stride();
  const std::int64_t tiles = in.size() / in.tile_stride();
#pragma omp parallel
  {
    std::vector<float> mine(columns, 0.0f);
#pragma omp for schedule(static)
    for (std::int64_t tile = 0; tile < tiles; ++tile)
      for (std::size_t c = 0; c < columns; ++c) {
        const float* from = in.data() + (tile * in.columns() + static_cast<std::int64_t>(c)) * stride;
        float most = mine[c];
        for (std::int64_t n = 0; n < stride; ++n) most = std::max(most, std::abs(from[n]));
        mine[c] = most;
      }
#pragma omp critical
    for (std::size_t c = 0; c < columns; ++c) largest[c] = std::max(largest[c], double{mine[c]});
  }
  outer_->geometry().communicator().max(largest);
  std::vector<float> out;
  for (const double value : largest) {
    int exponent = 0;
    const bool usable = value > 0 && std::isfinite(value);
    if (usable) std::frexp(value, &exponent);
    // A scale and its inverse are normal numbers.
    out.push_back(usable ? std::ldexp(1.0f, std::clamp(top_ - exponent, -126, 126)) : 1.0f);
  }
  return out;
}

void HalfBorder::demote(Inner& to, const Outer& from, const std::vector<float>& scale) const {
  if (pairs_.empty())
    return for_each_row(from, [&](std::int64_t row, std::size_t column) {
      const std::int64_t stride = from.column_stride();
      convert(to.data() + row * stride, from.data() + row * stride, stride, scale[column]);
    });
  const auto tiles = static_cast<std::int64_t>(pairs_.size());
  for_each_row(to, [&](std::int64_t row, std::size_t column) {
    const std::int64_t tile = row / to.columns();
    const Pair& pair = pairs_[static_cast<std::size_t>(tile % tiles)];
    const float* source =
        from.domain(static_cast<std::int32_t>(tile / tiles)) + static_cast<std::int64_t>(column) * from.column_stride();
    const float* first = source + pair.first * from.tile_stride();
    const float* second = source + pair.second * from.tile_stride();
    const Real by(scale[column]);
    // Through memory, for all numbers of a tile at once: by the time they are read back, they have left the store
    // buffers.
    alignas(64) Half both[numbers * inner_lanes];
    for (int n = 0; n < numbers; ++n) {
      core::Stored<Half, Real>::store(both + n * inner_lanes, by * core::Lanes<Real>::load(first + n * width));
      core::Stored<Half, Real>::store(both + n * inner_lanes + width, by * core::Lanes<Real>::load(second + n * width));
    }
    Half* target = to.data() + row * to.column_stride();
    for (int n = 0; n < numbers; ++n)
      core::permute_halves<inner_lanes>(target + n * inner_lanes, both + n * inner_lanes, together_);
  });
}

void HalfBorder::promote(Outer& to, const Inner& from, const std::vector<float>& scale) const {
  if (pairs_.empty())
    return for_each_row(to, [&](std::int64_t row, std::size_t column) {
      const std::int64_t stride = to.column_stride();
      convert(to.data() + row * stride, from.data() + row * stride, stride, 1.0f / scale[column]);
    });
  const auto tiles = static_cast<std::int64_t>(pairs_.size());
  for_each_row(from, [&](std::int64_t row, std::size_t column) {
    const std::int64_t tile = row / from.columns();
    const Pair& pair = pairs_[static_cast<std::size_t>(tile % tiles)];
    alignas(64) Half both[numbers * inner_lanes];
    const Half* source = from.data() + row * from.column_stride();
    for (int n = 0; n < numbers; ++n)
      core::permute_halves<inner_lanes>(both + n * inner_lanes, source + n * inner_lanes, apart_);
    float* target =
        to.domain(static_cast<std::int32_t>(tile / tiles)) + static_cast<std::int64_t>(column) * to.column_stride();
    float* first = target + pair.first * to.tile_stride();
    float* second = target + pair.second * to.tile_stride();
    const Real by(1.0f / scale[column]);
    for (int n = 0; n < numbers; ++n) {
      core::Lanes<Real>::store(first + n * width, by * core::Stored<Half, Real>::load(both + n * inner_lanes));
      core::Lanes<Real>::store(second + n * width, by * core::Stored<Half, Real>::load(both + n * inner_lanes + width));
    }
  });
}

}  // namespace halocline::qcd::schwarz
