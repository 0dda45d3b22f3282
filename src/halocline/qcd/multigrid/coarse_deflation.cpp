// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/coarse_deflation.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "halocline/core/pack.hpp"
#include "halocline/core/region.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// Directions that are handled together.
constexpr int group = 8;
using Row8 = core::Pack<float, row_group>;

/// Place of direction j at a site.
std::int64_t place(std::int64_t j, std::int64_t site, std::int64_t sites, std::int64_t numbers) {
  return ((j / group * sites + site) * group + j % group) * numbers;
}

/// One vector over the sites of a process, [site][2 rows].
using Numbers = std::vector<float>;

/// <a, b> on this process.
std::complex<double> product(const Numbers& a, const Numbers& b) {
  double re = 0, im = 0;
  for (std::size_t i = 0; i < a.size(); i += 2 * row_group)
    for (std::size_t k = i; k < i + row_group; ++k) {
      const double ar = a[k], ai = a[k + row_group], br = b[k], bi = b[k + row_group];
      re += ar * br + ai * bi;
      im += ar * bi - ai * br;
    }
  return {re, im};
}

/// a += z b
void add_multiple(Numbers& a, std::complex<double> z, const Numbers& b) {
  const auto re = static_cast<float>(z.real()), im = static_cast<float>(z.imag());
  for (std::size_t i = 0; i < a.size(); i += 2 * row_group)
    for (std::size_t k = i; k < i + row_group; ++k) {
      const float br = b[k], bi = b[k + row_group];
      a[k] += re * br - im * bi;
      a[k + row_group] += re * bi + im * br;
    }
}

void scale(Numbers& a, double factor) {
  for (float& number : a) number = static_cast<float>(factor * number);
}

/// Sums complex numbers over processes.
void sum_over(const comm::Communicator& processes, std::vector<std::complex<double>>& z) {
  processes.sum(std::span<double>(reinterpret_cast<double*>(z.data()), 2 * z.size()));
}

Numbers column(const CoarseField& field, int which) {
  Numbers out;
  for (std::int64_t site = 0; site < field.sites(); ++site)
    out.insert(out.end(), field.at(site, which), field.at(site, which) + 2 * field.rows());
  return out;
}

}  // namespace

CoarseDeflation::CoarseDeflation(const lattice::Geometry4& geometry, const CoarseField& directions, const Operator& a)
    : sites_(directions.sites()), rows_(directions.rows()) {
  const core::Region region("coarse deflation set-up");
  /// Squares of norms: a direction keeps this part of its image beside the others, or is left out.
  constexpr double least = 1e-6;
  CoarseField image(sites_, rows_, directions.columns());
  a(image, directions);
  const auto& processes = geometry.communicator();
  std::vector<Numbers> u, c;
  for (int j = 0; j < directions.columns(); ++j) {
    Numbers x = column(directions, j), y = column(image, j);
    std::vector<std::complex<double>> norm2{product(y, y)};
    sum_over(processes, norm2);
    const double before = norm2[0].real();
    for (int twice = 0; twice < 2; ++twice) {
      std::vector<std::complex<double>> along(c.size());
#pragma omp parallel for schedule(static)
      for (std::size_t i = 0; i < c.size(); ++i) along[i] = product(c[i], y);
      if (!c.empty()) sum_over(processes, along);
      for (std::size_t i = 0; i < c.size(); ++i) {
        add_multiple(y, -along[i], c[i]);
        add_multiple(x, -along[i], u[i]);
      }
    }
    norm2 = {product(y, y)};
    sum_over(processes, norm2);
    // A NaN fails the comparison and is left out.
    if (!(norm2[0].real() > least * before) || !std::isfinite(norm2[0].real())) continue;
    scale(x, 1 / std::sqrt(norm2[0].real()));
    scale(y, 1 / std::sqrt(norm2[0].real()));
    u.push_back(std::move(x));
    c.push_back(std::move(y));
  }
  size_ = static_cast<int>(c.size());
  const std::int64_t numbers = 2 * std::int64_t{rows_};
  const std::int64_t rounded = (size_ + group - 1) / group * std::int64_t{group};
  u_ = core::AlignedArray<float>(rounded * sites_ * numbers);
  c_ = core::AlignedArray<float>(rounded * sites_ * numbers);
  for (int j = 0; j < size_; ++j)
    for (std::int64_t site = 0; site < sites_; ++site) {
      const std::int64_t to = place(j, site, sites_, numbers);
      std::copy_n(u[static_cast<std::size_t>(j)].data() + site * numbers, numbers, u_.data() + to);
      std::copy_n(c[static_cast<std::size_t>(j)].data() + site * numbers, numbers, c_.data() + to);
    }
}

CoarseDeflation::Coefficients CoarseDeflation::products(const CoarseField& right) const {
  const core::Region region("coarse deflation");
  const int columns = right.columns(), groups = (size_ + group - 1) / group;
  Coefficients out(static_cast<std::size_t>(groups * group * columns));
#pragma omp parallel for collapse(2) schedule(static)
  for (int first = 0; first < groups; ++first)
    for (int column = 0; column < columns; ++column) {
      Row8 re[group], im[group];
      for (int j = 0; j < group; ++j) re[j] = im[j] = Row8(0.f);
      for (std::int64_t site = 0; site < sites_; ++site) {
        const float* b = right.at(site, column);
        const float* a = c_.data() + place(first * std::int64_t{group}, site, sites_, 2 * rows_);
        for (int row = 0; row < 2 * rows_; row += 2 * row_group) {
          const Row8 br = Row8::load(b + row), bi = Row8::load(b + row + row_group);
#pragma GCC unroll 8
          for (int j = 0; j < group; ++j) {
            const float* at = a + j * 2 * rows_ + row;
            const Row8 ar = Row8::load(at), ai = Row8::load(at + row_group);
            re[j] += ar * br + ai * bi;
            im[j] += ar * bi - ai * br;
          }
        }
      }
      for (int j = 0; j < group; ++j) {
        double sum_re = 0, sum_im = 0;
        for (int lane = 0; lane < row_group; ++lane) sum_re += re[j].v[lane], sum_im += im[j].v[lane];
        out[static_cast<std::size_t>((first * group + j) * columns + column)] = {sum_re, sum_im};
      }
    }
  return out;
}

void CoarseDeflation::add(CoarseField& x, const core::AlignedArray<float>& vectors,
                          std::span<const std::complex<double>> coefficients, double factor) const {
  const int columns = x.columns(), groups = (size_ + group - 1) / group;
#pragma omp parallel for schedule(static)
  for (std::int64_t site = 0; site < sites_; ++site)
    for (int first = 0; first < groups; ++first) {
      const float* a = vectors.data() + place(first * std::int64_t{group}, site, sites_, 2 * rows_);
      for (int column = 0; column < columns; ++column) {
        Row8 re[group], im[group];
        for (int j = 0; j < group; ++j) {
          const auto z = factor * coefficients[static_cast<std::size_t>((first * group + j) * columns + column)];
          re[j] = Row8(static_cast<float>(z.real()));
          im[j] = Row8(static_cast<float>(z.imag()));
        }
        float* to = x.at(site, column);
        for (int row = 0; row < 2 * rows_; row += 2 * row_group) {
          Row8 sr = Row8::load(to + row), si = Row8::load(to + row + row_group);
#pragma GCC unroll 8
          for (int j = 0; j < group; ++j) {
            const float* at = a + j * 2 * rows_ + row;
            const Row8 ar = Row8::load(at), ai = Row8::load(at + row_group);
            sr += re[j] * ar - im[j] * ai;
            si += re[j] * ai + im[j] * ar;
          }
          sr.store(to + row);
          si.store(to + row + row_group);
        }
      }
    }
}

void CoarseDeflation::remove(CoarseField& r, std::span<const std::complex<double>> coefficients) const {
  const core::Region region("coarse deflation");
  add(r, c_, coefficients, -1);
}

void CoarseDeflation::add(CoarseField& x, std::span<const std::complex<double>> coefficients) const {
  const core::Region region("coarse deflation");
  add(x, u_, coefficients, 1);
}

}  // namespace halocline::qcd::multigrid
