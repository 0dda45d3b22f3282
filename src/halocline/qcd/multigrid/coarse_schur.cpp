// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/coarse_schur.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <utility>

#include "halocline/comm/exchange/halo_exchange.hpp"
#include "halocline/comm/exchange/solver_exchange.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/multigrid/detail/block_kernels.hpp"

namespace halocline::qcd::multigrid {

namespace {

/// A complex matrix of `rows` rows, [row][re, im][column], inverted in place by Gauss and Jordan with partial pivoting.
class Inversion {
public:
  explicit Inversion(int rows)
      : rows_(rows), e_(static_cast<std::size_t>(2 * rows * rows)), moved_(static_cast<std::size_t>(rows)) {}

  double* row(int i) { return e_.data() + 2 * rows_ * i; }

  /// Returns the smallest pivot relative to the largest; 0 for a NaN.
  double run() {
    double least = std::numeric_limits<double>::infinity(), most = 0;
    for (int k = 0; k < rows_; ++k) {
      int best = k;
      for (int i = k + 1; i < rows_; ++i)
        if (size2(i, k) > size2(best, k)) best = i;
      const double pivot2 = size2(best, k);
      if (!(pivot2 > 0) || !std::isfinite(pivot2)) return 0;
      least = std::min(least, pivot2);
      most = std::max(most, pivot2);
      moved_[static_cast<std::size_t>(k)] = best;
      if (best != k) std::swap_ranges(row(k), row(k) + 2 * rows_, row(best));
      const std::complex<double> inverse = std::conj(entry(k, k)) / pivot2;
      put(k, k, 1);
      scale(row(k), inverse);
      for (int i = 0; i < rows_; ++i) {
        if (i == k) continue;
        const std::complex<double> factor = -entry(i, k);
        put(i, k, 0);
        add(row(i), row(k), factor);
      }
    }
    for (int k = rows_ - 1; k >= 0; --k) {
      const int other = moved_[static_cast<std::size_t>(k)];
      if (other == k) continue;
      for (int i = 0; i < rows_; ++i) {
        std::swap(row(i)[k], row(i)[other]);
        std::swap(row(i)[rows_ + k], row(i)[rows_ + other]);
      }
    }
    return std::sqrt(least / most);
  }

private:
  std::complex<double> entry(int i, int j) { return {row(i)[j], row(i)[rows_ + j]}; }
  double size2(int i, int j) { return std::norm(entry(i, j)); }
  void put(int i, int j, double value) {
    row(i)[j] = value;
    row(i)[rows_ + j] = 0;
  }
  void scale(double* to, std::complex<double> factor) const {
    const double re = factor.real(), im = factor.imag();
#pragma omp simd
    for (int j = 0; j < rows_; ++j) {
      const double a = to[j], b = to[rows_ + j];
      to[j] = re * a - im * b;
      to[rows_ + j] = re * b + im * a;
    }
  }
  void add(double* to, const double* from, std::complex<double> factor) const {
    const double re = factor.real(), im = factor.imag();
#pragma omp simd
    for (int j = 0; j < rows_; ++j) {
      to[j] += re * from[j] - im * from[rows_ + j];
      to[rows_ + j] += re * from[rows_ + j] + im * from[j];
    }
  }

  int rows_;
  std::vector<double> e_;
  std::vector<int> moved_;
};

}  // namespace

template <class S>
InverseBlocks<S>::InverseBlocks(const CoarseBlocks<S>& blocks)
    : numbers_(2 * std::int64_t{blocks.rows()} * blocks.rows()), data_(blocks.geometry()->local_volume() * numbers_) {
  const core::Region region("inverse of self blocks");
  const int rows = blocks.rows();
  const std::int64_t sites = blocks.geometry()->local_volume();
  double worst = std::numeric_limits<double>::infinity();
#pragma omp parallel for schedule(static) reduction(min : worst)
  for (std::int64_t site = 0; site < sites; ++site) {
    Inversion self(rows);
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < rows; ++column) {
        const std::complex<double> entry(blocks.get(site, 0, row, column));
        self.row(row)[column] = entry.real();
        self.row(row)[rows + column] = entry.imag();
      }
    worst = std::min(worst, self.run());
    S* to = data_.data() + site * numbers_;
    for (int row = 0; row < rows; ++row)
      for (int column = 0; column < rows; ++column) {
        S* at = to + CoarseBlocks<S>::place(row, column, rows);
        at[0] = core::narrow_to<S>(static_cast<float>(self.row(row)[column]));
        at[16] = core::narrow_to<S>(static_cast<float>(self.row(row)[rows + column]));
      }
  }
  std::array<double, 1> everywhere{worst};
  blocks.geometry()->communicator().min(everywhere);
  if (!(everywhere[0] > 1e-7))
    throw core::Error(fmt::format(
        "a self block of the coarse operator is singular to {:.1e}; take other aggregates, or another solver",
        everywhere[0]));
}

/// out = add + S^-1 (b + factor H in) on one parity; add, b and in may be absent.
template <class S>
struct CoarseSchur<S>::Step {
  int parity;
  CoarseField* out = nullptr;  ///< of the parity, or of all sites where `out_whole`
  bool out_whole = false;
  const CoarseField* add = nullptr;  ///< of the parity
  const CoarseField* b = nullptr;    ///< of all sites
  const CoarseField* in = nullptr;   ///< of the other parity
  float factor = 1;
};

template <class S>
bool CoarseSchur<S>::possible(const lattice::Geometry4& coarse) {
  return lattice::has_parities(coarse.global(), coarse.local());
}

template <class S>
CoarseSchur<S>::CoarseSchur(std::shared_ptr<const CoarseBlocks<S>> blocks,
                            std::shared_ptr<const InverseBlocks<S>> inverse, int columns, const std::string& transport)
    : blocks_(std::move(blocks)), inverse_(std::move(inverse)), columns_(columns), neighbours_(blocks_->geometry()) {
  const auto& geometry = *blocks_->geometry();
  if (!possible(geometry))
    throw core::InvalidArgument(fmt::format("a coarse lattice of {}x{}x{}x{} sites has no even-odd preconditioning; "
                                            "its extents must be even",
                                            geometry.global()[0], geometry.global()[1], geometry.global()[2],
                                            geometry.global()[3]));
  for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
    const int parity = geometry.parity(lattice::coordinates_of<4>(site, geometry.local()));
    parity_.push_back(parity);
    rank_.push_back(static_cast<std::int64_t>(sites_[static_cast<std::size_t>(parity)].size()));
    sites_[static_cast<std::size_t>(parity)].push_back(site);
  }
  const auto half = static_cast<std::int64_t>(sites_[0].size());
  odd_ = CoarseField(half, blocks_->rows(), columns);
  ahead_ = core::AlignedArray<float>(half * 4 * columns * 2 * blocks_->rows());
  std::array<std::size_t, 4> face_bytes{};
  for (int mu = 0; mu < 4; ++mu)
    face_bytes[mu] =
        neighbours_.face(mu).size() * static_cast<std::size_t>(columns * 2 * blocks_->rows()) * sizeof(float);
  if (std::ranges::any_of(face_bytes, [](std::size_t bytes) { return bytes > 0; }))
    halo_ = std::make_unique<comm::HaloExchange>(comm::solver_exchange(geometry.grid(), face_bytes, transport));
}
template <class S>
CoarseSchur<S>::~CoarseSchur() = default;
template <class S>
CoarseSchur<S>::CoarseSchur(CoarseSchur&&) noexcept = default;

template <class S>
CoarseSpace CoarseSchur<S>::space() const {
  return CoarseSpace(blocks_->geometry(), blocks_->rows(), columns_, static_cast<std::int64_t>(sites_[0].size()));
}

/// Sends `in`, a field of one parity: itself backwards, and its adjoint products forwards. Slots of the other parity
/// stay as they are.
template <class S>
void CoarseSchur<S>::send(const CoarseField& in, int parity) {
  const int rows = blocks_->rows(), stride = 2 * rows;
  const std::int64_t site_numbers = std::int64_t{columns_} * stride;
  for (int mu = 0; mu < 4; ++mu) {
    const auto& lower = neighbours_.face(mu + 4);
    const auto& upper = neighbours_.face(mu);
    if (upper.empty()) continue;
    float* down = reinterpret_cast<float*>(halo_->send_buffer({mu, -1}).data());
    float* up = reinterpret_cast<float*>(halo_->send_buffer({mu, 1}).data());
    for (std::size_t i = 0; i < upper.size(); ++i) {
      const auto below = static_cast<std::size_t>(lower[i]), above = static_cast<std::size_t>(upper[i]);
      if (parity_[below] == parity)
        std::copy_n(in.at(rank_[below], 0), site_numbers, down + static_cast<std::int64_t>(i) * site_numbers);
      if (parity_[above] == parity)
        std::copy_n(ahead_.data() + (4 * rank_[above] + mu) * site_numbers, site_numbers,
                    up + static_cast<std::int64_t>(i) * site_numbers);
    }
  }
  halo_->post();
}

template <class S>
void CoarseSchur<S>::run(const Step& step) {
  const core::Region region("coarse operator");
  const int rows = blocks_->rows(), stride = 2 * rows;
  const std::int64_t site_numbers = std::int64_t{columns_} * stride;
  const auto half = static_cast<std::int64_t>(sites_[0].size());
  std::array<const float*, 4> from_above{}, from_below{};
  if (step.in != nullptr) {
    const auto& sources = sites_[static_cast<std::size_t>(1 - step.parity)];
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < half; ++i)
      for_columns(columns_, [&](int first, auto width) {
        SiteWork work;
        for (int c = 0; c < width; ++c) pack_rows(work.u + c * stride, step.in->at(i, first + c), rows, -1.f);
        for (int mu = 0; mu < 4; ++mu)
          multiply_block<S, width, false, true>(
              blocks_->matrix(sources[static_cast<std::size_t>(i)], 1 + mu), rows, nullptr, {}, work.u,
              columns_at<width>(ahead_.data() + (4 * i + mu) * site_numbers + first * stride, stride));
      });
    if (halo_) {
      send(*step.in, 1 - step.parity);
      halo_->wait_all();
      for (int mu = 0; mu < 4; ++mu) {
        if (neighbours_.face(mu).empty()) continue;
        from_above[mu] = reinterpret_cast<const float*>(halo_->recv_buffer({mu, 1}).data());
        from_below[mu] = reinterpret_cast<const float*>(halo_->recv_buffer({mu, -1}).data());
      }
    }
  }

  const auto& targets = sites_[static_cast<std::size_t>(step.parity)];
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < half; ++i) {
    const std::int64_t site = targets[static_cast<std::size_t>(i)];
    const auto here = [&](const CoarseField& field, bool whole, int column) {
      return field.at(whole ? site : i, column);
    };
    for_columns(columns_, [&](int first, auto width) {
      SiteWork work;
      std::fill_n(work.sums, width * stride, 0.f);
      float* hop = work.u;  // in the order of a field
      std::fill_n(hop, width * stride, 0.f);
      if (step.in != nullptr) {
        for (int mu = 0; mu < 4; ++mu) {
          const std::int64_t next = neighbours_.of(site, mu), before = neighbours_.of(site, 4 + mu);
          const float* v = next >= 0 ? step.in->at(rank_[static_cast<std::size_t>(next)], 0)
                                     : from_above[mu] + (-1 - next) * site_numbers;
          multiply_block<S, width, true, false>(blocks_->matrix(site, 1 + mu), rows, work.sums,
                                                columns_at<width>(v + first * stride, stride), nullptr, {});
          const float* arrived = before >= 0
                                     ? ahead_.data() + (4 * rank_[static_cast<std::size_t>(before)] + mu) * site_numbers
                                     : from_below[mu] + (-1 - before) * site_numbers;
          for (int c = 0; c < width; ++c)
            for (int n = 0; n < stride; ++n) {
              const float number = arrived[(first + c) * stride + n];
              hop[c * stride + n] += n < rows ? number : -number;
            }
        }
        float forward[2 * most_rows];
        for (int c = 0; c < width; ++c) {
          unpack_rows(forward, work.sums + c * stride, rows);
          for (int n = 0; n < stride; ++n) hop[c * stride + n] = step.factor * (hop[c * stride + n] + forward[n]);
        }
      }
      if (step.b != nullptr)
        for (int c = 0; c < width; ++c)
          for (int n = 0; n < stride; ++n) hop[c * stride + n] += step.b->at(site, first + c)[n];
      for (int c = 0; c < width; ++c) {
        if (step.add != nullptr)
          pack_rows(work.sums + c * stride, here(*step.add, false, first + c), rows, 1.f);
        else
          std::fill_n(work.sums + c * stride, stride, 0.f);
      }
      multiply_block<S, width, true, false>(inverse_->block(site), rows, work.sums,
                                            columns_at<width>(static_cast<const float*>(hop), stride), nullptr, {});
      for (int c = 0; c < width; ++c)
        unpack_rows(step.out->at(step.out_whole ? site : i, first + c), work.sums + c * stride, rows);
    });
  }
}

template <class S>
void CoarseSchur<S>::apply(CoarseField& out, const CoarseField& in) {
  run({.parity = 1, .out = &odd_, .in = &in});
  run({.parity = 0, .out = &out, .add = &in, .in = &odd_, .factor = -1});
}

template <class S>
void CoarseSchur<S>::prepare(CoarseField& even, const CoarseField& b) {
  run({.parity = 1, .out = &odd_, .b = &b});
  run({.parity = 0, .out = &even, .b = &b, .in = &odd_, .factor = -1});
}

template <class S>
void CoarseSchur<S>::reconstruct(CoarseField& x, const CoarseField& even, const CoarseField& b) {
  const std::int64_t numbers = std::int64_t{columns_} * 2 * blocks_->rows();
  for (std::size_t i = 0; i < sites_[0].size(); ++i)
    std::copy_n(even.at(static_cast<std::int64_t>(i), 0), numbers, x.at(sites_[0][i], 0));
  run({.parity = 1, .out = &x, .out_whole = true, .b = &b, .in = &even, .factor = -1});
}

template <class S>
void CoarseSchur<S>::spread(CoarseField& whole, const CoarseField& even) const {
  const int rows = blocks_->rows(), stride = 2 * rows;
  const auto half = static_cast<std::int64_t>(sites_[0].size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < half; ++i) {
    const std::int64_t site = sites_[0][static_cast<std::size_t>(i)];
    std::fill_n(whole.at(sites_[1][static_cast<std::size_t>(i)], 0), std::int64_t{columns_} * stride, 0.f);
    for_columns(columns_, [&](int first, auto width) {
      SiteWork work;
      std::fill_n(work.sums, width * stride, 0.f);
      multiply_block<S, width, true, false>(blocks_->matrix(site, 0), rows, work.sums,
                                            columns_at<width>(even.at(i, first), stride), nullptr, {});
      for (int c = 0; c < width; ++c) unpack_rows(whole.at(site, first + c), work.sums + c * stride, rows);
    });
  }
}

template <class S>
void CoarseSchur<S>::even_part(CoarseField& even, const CoarseField& whole) const {
  const std::int64_t numbers = std::int64_t{columns_} * 2 * blocks_->rows();
  const auto half = static_cast<std::int64_t>(sites_[0].size());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < half; ++i)
    std::copy_n(whole.at(sites_[0][static_cast<std::size_t>(i)], 0), numbers, even.at(i, 0));
}

template class InverseBlocks<float>;
template class InverseBlocks<core::Half>;
template class CoarseSchur<float>;
template class CoarseSchur<core::Half>;

}  // namespace halocline::qcd::multigrid
