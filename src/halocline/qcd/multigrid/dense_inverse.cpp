// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/dense_inverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/core/region.hpp"
#include "halocline/qcd/multigrid/detail/block_kernels.hpp"
#include "halocline/solve/inverse_rows.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// The matrix of an operator, [row][column], with the unknowns of all processes in the order of their ranks.
std::vector<std::complex<double>> matrix_of(const comm::Communicator& processes, std::int64_t sites, int rows,
                                            int columns, const DenseInverse::Operator& a) {
  const std::int64_t mine = sites * rows, all = mine * processes.size();
  std::vector<std::complex<float>> slab(static_cast<std::size_t>(mine * all));
  CoarseField unit(sites, rows, columns), image(sites, rows, columns);
  for (std::int64_t first = 0; first < all; first += columns) {
    const auto count = static_cast<int>(std::min<std::int64_t>(columns, all - first));
    /// Calls body(site, place of the row) if unknown `first + c` is of this process.
    const auto here = [&](int c, const auto& body) {
      const std::int64_t own = first + c - mine * processes.rank();
      if (own >= 0 && own < mine) body(own / rows, CoarseField::place(static_cast<int>(own % rows)));
    };
    for (int c = 0; c < count; ++c) here(c, [&](std::int64_t site, int place) { unit.at(site, c)[place] = 1; });
    a(image, unit);
    for (int c = 0; c < count; ++c) {
      for (std::int64_t i = 0; i < mine; ++i) {
        const float* at = image.at(i / rows, c) + CoarseField::place(static_cast<int>(i % rows));
        slab[static_cast<std::size_t>(i * all + first + c)] = {at[0], at[row_group]};
      }
      here(c, [&](std::int64_t site, int place) { unit.at(site, c)[place] = 0; });
    }
  }
  const auto bytes = processes.allgather(std::as_bytes(std::span(slab)));
  const std::span gathered(reinterpret_cast<const std::complex<float>*>(bytes.data()),
                           static_cast<std::size_t>(all * all));
  return {gathered.begin(), gathered.end()};
}

}  // namespace

DenseInverse::DenseInverse(std::shared_ptr<const lattice::Geometry4> geometry, std::int64_t sites, int rows,
                           int columns, const Operator& a)
    : geometry_(std::move(geometry)), sites_(sites), rows_(rows), data_(2 * sites * rows * unknowns()) {
  const core::Region region("dense inverse");
  const auto& processes = geometry_->communicator();
  const std::int64_t mine = sites_ * rows_, all = unknowns();
  const auto inverse =
      solve::inverse_rows(all, matrix_of(processes, sites_, rows_, columns, a), mine * processes.rank(), mine);
  std::array<double, 1> everywhere{inverse.pivot};
  processes.min(everywhere);
  if (!(everywhere[0] > 1e-10))
    throw core::Error(fmt::format(
        "the operator of the coarsest lattice is singular to {:.1e}; take other aggregates, or another solver",
        everywhere[0]));
  for (std::int64_t row = 0; row < mine; ++row)
    for (std::int64_t column = 0; column < all; ++column) {
      const auto& z = inverse.rows[static_cast<std::size_t>(row * all + column)];
      float* to = data_.data() + (row / 16 * all + column) * 32 + row % 16;
      to[0] = static_cast<float>(z.real());
      to[16] = static_cast<float>(z.imag());
    }
}

void DenseInverse::apply(CoarseField& out, const CoarseField& in) const {
  const core::Region region("dense inverse");
  if (in.sites() != sites_ || in.rows() != rows_ || out.size() != in.size() || out.columns() != in.columns())
    throw core::InvalidArgument(
        fmt::format("a dense inverse of {} sites with {} rows was given fields of {} sites with {} rows", sites_, rows_,
                    in.sites(), in.rows()));
  const int columns = in.columns(), stride = 2 * rows_;
  const std::int64_t all_sites = sites_ * geometry_->communicator().size(), all = unknowns();
  std::vector<std::byte> gathered;
  const float* b = in.data();
  if (geometry_->communicator().size() > 1) {
    gathered = geometry_->communicator().allgather(std::as_bytes(in.span()));
    b = reinterpret_cast<const float*>(gathered.data());
  }
  const std::int64_t groups = sites_ * rows_ / 16;
#pragma omp parallel for schedule(static)
  for (std::int64_t group = 0; group < groups; ++group)
    for_columns(columns, [&](int first, auto width) {
      Rows re[width], im[width];
      for (int c = 0; c < width; ++c) re[c] = im[c] = Rows(0.f);
      const float* entry = data_.data() + group * all * 32;
      for (std::int64_t site = 0; site < all_sites; ++site) {
        const float* v = b + (site * columns + first) * stride;
        for (int row = 0; row < rows_; ++row, entry += 32) {
          const Rows a_re = Rows::load(entry), a_im = Rows::load(entry + 16);
          const float* at = v + CoarseField::place(row);
          for (int c = 0; c < width; ++c) {
            const Rows v_re(at[c * stride]), v_im(at[c * stride + row_group]);
            re[c] += a_re * v_re;
            im[c] += a_re * v_im;
            re[c] -= a_im * v_im;
            im[c] += a_im * v_re;
          }
        }
      }
      const std::int64_t site = group * 16 / rows_;
      const int row = static_cast<int>(group * 16 % rows_);
      for (int c = 0; c < width; ++c)
        for (int i = 0; i < 16; ++i) {
          float* to = out.at(site, first + c) + CoarseField::place(row + i);
          to[0] = re[c][i];
          to[row_group] = im[c][i];
        }
    });
}

}  // namespace halocline::qcd::multigrid
