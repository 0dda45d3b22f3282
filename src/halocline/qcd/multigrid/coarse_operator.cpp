// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/coarse_operator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/multigrid/detail/block_kernels.hpp"

namespace halocline::qcd::multigrid {
template <class S>
CoarseBlocks<S>::CoarseBlocks(std::shared_ptr<const lattice::Geometry4> geometry, int rows)
    : geometry_(std::move(geometry)), rows_(rows) {
  if (rows < 16 || rows % 16 != 0 || rows > most_rows)
    throw core::InvalidArgument(
        fmt::format("{} test vectors were asked for; give a multiple of 8, from 8 to {}", rows / 2, most_rows / 2));
  data_ = core::AlignedArray<S>(geometry_->local_volume() * matrices * 2 * rows * rows);
}

template <class S>
void CoarseBlocks<S>::set(std::int64_t site, int which, int row, int column, std::complex<float> value) noexcept {
  S* to = data_.data() + offset(site, which) + place(row, column, rows_);
  to[0] = core::narrow_to<S>(value.real());
  to[16] = core::narrow_to<S>(value.imag());
}
template <class S>
std::complex<float> CoarseBlocks<S>::get(std::int64_t site, int which, int row, int column) const noexcept {
  const S* from = matrix(site, which) + place(row, column, rows_);
  return {core::widen(from[0]), core::widen(from[16])};
}

template <class S>
void CoarseBlocks<S>::twist(double mu) noexcept {
  mu_ = mu;
  for (std::int64_t site = 0; site < geometry_->local_volume(); ++site)
    for (int row = 0; row < rows_; ++row) {
      const auto value = static_cast<float>(row < rows_ / 2 ? mu : -mu);
      set(site, 0, row, row, {get(site, 0, row, row).real(), value});
    }
}

template <class S>
CoarseOperator<S>::CoarseOperator(std::shared_ptr<const CoarseBlocks<S>> blocks, int columns,
                                  const std::string& transport)
    : blocks_(std::move(blocks)),
      columns_(columns),
      neighbours_(std::make_shared<const lattice::SiteNeighbours>(blocks_->geometry())),
      ahead_(blocks_->geometry()->local_volume() * 4 * columns * 2 * blocks_->rows()) {
  const auto& geometry = *blocks_->geometry();
  std::array<std::size_t, 4> face_bytes{};
  for (int mu = 0; mu < 4; ++mu)
    face_bytes[mu] =
        neighbours_->face(mu).size() * static_cast<std::size_t>(columns * 2 * blocks_->rows()) * sizeof(float);
  if (std::ranges::any_of(face_bytes, [](std::size_t bytes) { return bytes > 0; }))
    halo_ = std::make_unique<comm::HaloExchange>(comm::solver_exchange(geometry.grid(), face_bytes, transport));
}
template <class S>
CoarseOperator<S>::~CoarseOperator() = default;
template <class S>
CoarseOperator<S>::CoarseOperator(CoarseOperator&&) noexcept = default;

/// Sends v of the lower faces backwards, for the neighbour's forward product, and the adjoint products of the upper
/// faces forwards.
template <class S>
void CoarseOperator<S>::send(const CoarseField& in) {
  const int rows = blocks_->rows(), stride = 2 * rows;
  const std::int64_t site_numbers = std::int64_t{columns_} * stride;
  for (int mu = 0; mu < 4; ++mu) {
    const auto& lower = neighbours_->face(mu + 4);
    const auto& upper = neighbours_->face(mu);
    if (upper.empty()) continue;
    float* down = reinterpret_cast<float*>(halo_->send_buffer({mu, -1}).data());
    float* up = reinterpret_cast<float*>(halo_->send_buffer({mu, 1}).data());
    const auto count = static_cast<std::int64_t>(upper.size());
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      std::copy_n(in.at(lower[static_cast<std::size_t>(i)], 0), site_numbers, down + i * site_numbers);
      const std::int64_t site = upper[static_cast<std::size_t>(i)];
      for_columns(columns_, [&](int first, auto width) {
        SiteWork work;
        for (int c = 0; c < width; ++c) pack_rows(work.u + c * stride, in.at(site, first + c), rows, -1.f);
        multiply_block<S, width, false, true>(blocks_->matrix(site, 1 + mu), rows, nullptr, {}, work.u,
                                              columns_at<width>(up + i * site_numbers + first * stride, stride));
      });
    }
  }
  halo_->post();
}

template <class S>
void CoarseOperator<S>::run(CoarseField& out, const CoarseField& in) {
  const core::Region region("coarse operator");
  const int rows = blocks_->rows(), stride = 2 * rows;
  const std::int64_t sites = blocks_->geometry()->local_volume(), site_numbers = std::int64_t{columns_} * stride;
  if (in.sites() != sites || in.rows() != rows || in.columns() != columns_ || out.size() != in.size())
    throw core::InvalidArgument(fmt::format(
        "a coarse operator of {} sites, {} rows and {} columns was given fields of {} sites, {} rows and {} columns",
        sites, rows, columns_, in.sites(), in.rows(), in.columns()));
  if (out.data() == in.data())
    throw core::InvalidArgument("a coarse operator needs two different fields, and was given one");
  if (halo_) send(in);

#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site)
    for_columns(columns_, [&](int first, auto width) {
      SiteWork work;
      std::fill_n(work.sums, width * stride, 0.f);
      for (int c = 0; c < width; ++c) pack_rows(work.u + c * stride, in.at(site, first + c), rows, -1.f);
      multiply_block<S, width, true, false>(blocks_->matrix(site, 0), rows, work.sums,
                                            columns_at<width>(in.at(site, first), stride), nullptr, {});
      for (int mu = 0; mu < 4; ++mu) {
        const std::int64_t next = neighbours_->of(site, mu);
        if (next < 0) continue;
        multiply_block<S, width, true, true>(
            blocks_->matrix(site, 1 + mu), rows, work.sums, columns_at<width>(in.at(next, first), stride), work.u,
            columns_at<width>(ahead_.data() + (4 * site + mu) * site_numbers + first * stride, stride));
      }
      for (int c = 0; c < width; ++c) unpack_rows(out.at(site, first + c), work.sums + c * stride, rows);
    });

  if (halo_) halo_->wait_all();
  std::array<const float*, 4> from_above{}, from_below{};
  for (int mu = 0; halo_ && mu < 4; ++mu) {
    if (neighbours_->face(mu).empty()) continue;
    from_above[mu] = reinterpret_cast<const float*>(halo_->recv_buffer({mu, 1}).data());
    from_below[mu] = reinterpret_cast<const float*>(halo_->recv_buffer({mu, -1}).data());
  }
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites; ++site) {
    float* to = out.at(site, 0);
    for (int mu = 0; mu < 4; ++mu) {
      const std::int64_t before = neighbours_->of(site, 4 + mu), next = neighbours_->of(site, mu);
      const float* arrived = before >= 0 ? ahead_.data() + (4 * before + mu) * site_numbers
                                         : from_below[mu] + (-1 - before) * site_numbers;
      for (int c = 0; c < columns_; ++c)
        for (int n = 0; n < stride; ++n)
          to[c * stride + n] += n < rows ? arrived[c * stride + n] : -arrived[c * stride + n];
      if (next >= 0) continue;
      for_columns(columns_, [&](int first, auto width) {
        SiteWork work;
        for (int c = 0; c < width; ++c) pack_rows(work.sums + c * stride, out.at(site, first + c), rows, 1.f);
        multiply_block<S, width, true, false>(
            blocks_->matrix(site, 1 + mu), rows, work.sums,
            columns_at<width>(from_above[mu] + (-1 - next) * site_numbers + first * stride, stride), nullptr, {});
        for (int c = 0; c < width; ++c) unpack_rows(out.at(site, first + c), work.sums + c * stride, rows);
      });
    }
  }
}

template <class S>
void CoarseOperator<S>::apply(CoarseField& out, const CoarseField& in) {
  run(out, in);
}

namespace {
void multiply_gamma5(CoarseField& v) {
  const int rows = v.rows();
  for (std::int64_t site = 0; site < v.sites(); ++site)
    for (int c = 0; c < v.columns(); ++c) {
      float* at = v.at(site, c);
      for (int n = rows; n < 2 * rows; ++n) at[n] = -at[n];
    }
}
}  // namespace

template <class S>
void CoarseOperator<S>::apply_dagger(CoarseField& out, const CoarseField& in) {
  CoarseField turned = in;
  multiply_gamma5(turned);
  run(out, turned);
  multiply_gamma5(out);
  if (blocks_->mu() == 0) return;
  // turned = Gamma5 in; out -= 2 i mu Gamma5 in
  const float twice = 2 * blocks_->get(0, 0, 0, 0).imag();  // as the blocks hold mu
  for (std::int64_t site = 0; site < out.sites(); ++site)
    for (int c = 0; c < columns_; ++c)
      for (int row = 0; row < blocks_->rows(); ++row) {
        const int re = CoarseField::place(row), im = re + row_group;
        out.at(site, c)[re] += twice * turned.at(site, c)[im];
        out.at(site, c)[im] -= twice * turned.at(site, c)[re];
      }
}

template class CoarseBlocks<float>;
template class CoarseBlocks<core::Half>;
template class CoarseOperator<float>;
template class CoarseOperator<core::Half>;

}  // namespace halocline::qcd::multigrid
