// SPDX-License-Identifier: Apache-2.0
//
// Minimal residual inside the domains: x = 0, p = r, then `steps` times
//   q = D_in p,  w = <q, p> / <q, q>,  x += w p,  p -= w q
// with sums over a domain, separate for each column. Each tile has its own sum, in double, and these are added in tile
// order, so the result has the same bits for any number of threads.

#include <algorithm>
#include <array>
#include <complex>
#include <type_traits>

#include "halocline/core/region.hpp"
#include "halocline/qcd/schwarz/detail/sweeps.hpp"

namespace halocline::qcd::schwarz {
namespace {

float widened(float number) { return number; }
float widened(core::Half number) { return core::widen(number); }
void put(float& to, float number) { to = number; }
void put(core::Half& to, float number) { to = core::narrow(number); }

/// Re <q, p>, Im <q, p> and <q, q> of one tile and column; V reals alternate with V imaginary parts.
template <class S>
std::array<double, 3> tile_sums(const S* q, const S* p, int lanes) {
  std::array<double, 3> sums{};
  for (int row = 0; row < 12; ++row)
    for (int lane = 0; lane < lanes; ++lane) {
      const int re = 2 * row * lanes + lane, im = re + lanes;
      const double qr = widened(q[re]), qi = widened(q[im]), pr = widened(p[re]), pi = widened(p[im]);
      sums[0] += qr * pr + qi * pi;
      sums[1] += qr * pi - qi * pr;
      sums[2] += qr * qr + qi * qi;
    }
  return sums;
}

}  // namespace

template <class S>
void Sweeps<S>::minimise(Member me, int colour, const Field& right, Field& out, Field* sum) {
  const core::Region region("minimal residual");
  const int lanes = layout_->lanes();
  const std::int32_t tiles = layout_->tiles();
  const auto [first_tile, last_tile] = share(me.thread, me.threads, tiles);
  const std::int32_t first = first_tile, last = last_tile;  // for the lambdas
  const std::int64_t column = 24 * lanes;
  const auto domains = [&](auto body) {
    for (std::int32_t i = layout_->first_domain(colour); i < layout_->first_domain(colour + 1); ++i) body(i);
  };
  domains([&](std::int32_t i) {
    const std::int64_t begin = first * right.tile_stride(), end = last * right.tile_stride();
    std::copy(right.domain(i) + begin, right.domain(i) + end, work_.domain(i) + begin);
    std::fill(out.domain(i) + begin, out.domain(i) + end, S{});
  });
  barrier_.wait(me.threads);
  for (int k = 0; k < parameters_.steps; ++k) {
    domains([&](std::int32_t i) {
      PassFields<S> fields = fields_of(i);
      fields.own = work_.domain(i);
      fields.out = more_.domain(i);
      run(me, Pass::inside, fields, tiles_[0]);
      for (std::int32_t tile = first; tile < last; ++tile)
        for (int c = 0; c < columns_; ++c) {
          const std::int64_t at = tile * right.tile_stride() + c * column;
          const auto sums = tile_sums(more_.domain(i) + at, work_.domain(i) + at, lanes);
          std::ranges::copy(sums, sums_.begin() + 3 * ((std::int64_t{i} * tiles + tile) * columns_ + c));
        }
    });
    barrier_.wait(me.threads);
    domains([&](std::int32_t i) {
      for (int c = 0; c < columns_; ++c) {
        std::array<double, 3> total{};
        for (std::int32_t tile = 0; tile < tiles; ++tile)
          for (int n = 0; n < 3; ++n)
            total[n] += sums_[static_cast<std::size_t>(3 * ((std::int64_t{i} * tiles + tile) * columns_ + c) + n)];
        if (!(total[2] > 0)) continue;  // q is zero, so p is zero already
        const auto wr = static_cast<float>(total[0] / total[2]), wi = static_cast<float>(total[1] / total[2]);
        for (std::int32_t tile = first; tile < last; ++tile) {
          const std::int64_t at = tile * right.tile_stride() + c * column;
          S *x = out.domain(i) + at, *p = work_.domain(i) + at;
          const S* q = more_.domain(i) + at;
          for (int row = 0; row < 12; ++row)
            for (int lane = 0; lane < lanes; ++lane) {
              const int re = 2 * row * lanes + lane, im = re + lanes;
              const float pr = widened(p[re]), pi = widened(p[im]), qr = widened(q[re]), qi = widened(q[im]);
              put(x[re], widened(x[re]) + wr * pr - wi * pi);
              put(x[im], widened(x[im]) + wr * pi + wi * pr);
              put(p[re], pr - wr * qr + wi * qi);
              put(p[im], pi - wr * qi - wi * qr);
            }
        }
      }
    });
    barrier_.wait(me.threads);
  }
  if (sum == nullptr) return;
  domains([&](std::int32_t i) {
    for (std::int64_t n = first * right.tile_stride(); n < last * right.tile_stride(); ++n)
      put(sum->domain(i)[n], widened(sum->domain(i)[n]) + widened(out.domain(i)[n]));
  });
}

template void Sweeps<float>::minimise(Member, int, const Field&, Field&, Field*);
template void Sweeps<core::Half>::minimise(Member, int, const Field&, Field&, Field*);

}  // namespace halocline::qcd::schwarz
