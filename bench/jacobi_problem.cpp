// SPDX-License-Identifier: Apache-2.0
#include "bench/jacobi_problem.hpp"

#include <algorithm>
#include <cmath>

namespace halocline::bench {
namespace {

/// The edge in a message as doubles; messages are 64-byte aligned.
const double* edge(std::span<const std::byte> message) noexcept {
  return reinterpret_cast<const double*>(message.data());
}

std::uint64_t sum_of_words(std::span<const std::byte> bytes) noexcept {
  const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
  return std::accumulate(words, words + bytes.size() / sizeof(std::uint64_t), std::uint64_t{0});
}

}  // namespace

std::vector<std::size_t> JacobiProblem::face_bytes() const {
  const auto bytes = [&](std::int64_t sites) {
    return static_cast<std::size_t>(inflation) * static_cast<std::size_t>(sites) * sizeof(double);
  };
  return {bytes(local[1]), bytes(local[0])};
}

double jacobi_source(std::int64_t i, std::int64_t j) noexcept {
  auto n = static_cast<std::uint64_t>(i) * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(j) * 0xc2b2ae3d27d4eb4fu;
  n = (n ^ (n >> 31)) * 0xbf58476d1ce4e5b9u;
  n ^= n >> 29;
  return static_cast<double>(n >> 11) * 0x1p-52 - 1.0;
}

std::vector<double> jacobi_reference(std::array<std::int64_t, 2> global, double diagonal, std::int64_t sweeps) {
  const auto [nx, ny] = global;
  const auto at = [nx = nx](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i + nx * j); };
  std::vector<double> x(at(0, ny)), next(x.size()), b(x.size());
  for (std::int64_t j = 0; j < ny; ++j)
    for (std::int64_t i = 0; i < nx; ++i) b[at(i, j)] = jacobi_source(i, j);
  for (; sweeps > 0; --sweeps) {
    for (std::int64_t j = 0; j < ny; ++j)
      for (std::int64_t i = 0; i < nx; ++i) {
        const double sides = x[at((i + nx - 1) % nx, j)] + x[at((i + 1) % nx, j)];
        const double ends = x[at(i, (j + ny - 1) % ny)] + x[at(i, (j + 1) % ny)];
        next[at(i, j)] = (b[at(i, j)] + (sides + ends)) / diagonal;
      }
    std::swap(x, next);
  }
  return x;
}

JacobiField::JacobiField(const comm::ProcessGrid& grid, const JacobiProblem& problem)
    : local_(problem.local),
      diagonal_(problem.diagonal()),
      inverse_(1.0 / diagonal_),
      touched_(problem.touched),
      pitch_((local_[0] + 2 * line - 2) / line * line),
      x_(pitch_ * local_[1]),
      next_(pitch_ * local_[1]),
      b_(pitch_ * local_[1]) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    global_[axis] = local_[axis] * grid.dims()[axis];
    origin_[axis] = local_[axis] * grid.coords()[axis];
  }
  for (std::int64_t j = 0; j < local_[1]; ++j)
    for (std::int64_t i = 0; i < local_[0]; ++i) row(b_, j)[i] = jacobi_source(origin_[0] + i, origin_[1] + j);
}

void JacobiField::reset() noexcept { std::ranges::fill(x_.span(), 0.0); }

void JacobiField::pack(int face, std::span<std::byte> message) noexcept {
  const auto [nx, ny] = local_;
  auto* to = reinterpret_cast<double*>(message.data());
  const bool upper = face % 2 == 1;
  std::int64_t sites = ny;
  if (face < 2) {
    const double* from = row(x_, 0) + (upper ? nx - 1 : 0);
    for (std::int64_t j = 0; j < ny; ++j) to[j] = from[j * pitch_];
  } else {
    sites = nx;
    std::copy_n(row(x_, upper ? ny - 1 : 0), nx, to);
  }
  if (!touched_) return;
  auto* words = reinterpret_cast<std::uint64_t*>(message.data());
  std::fill(words + sites, words + message.size() / sizeof(std::uint64_t), ++written_);
}

// For each site 5 flops and, from the caches, 48 bytes: x of three rows and b read, x' written.
void JacobiField::inner_sites() noexcept {
  const std::int64_t last = local_[0] - 1;
  const double inverse = inverse_;
  for (std::int64_t j = 1; j < local_[1] - 1; ++j) {
    const double* __restrict below = row(x_, j - 1);
    const double* __restrict here = row(x_, j);
    const double* __restrict above = row(x_, j + 1);
    const double* __restrict b = row(b_, j);
    double* __restrict to = row(next_, j);
    for (std::int64_t i = 1; i < last; ++i)
      to[i] = (b[i] + ((here[i - 1] + here[i + 1]) + (below[i] + above[i]))) * inverse;
  }
}

void JacobiField::edge_row(std::int64_t j, const double* below, const double* above, const double* west,
                           const double* east) noexcept {
  const std::int64_t last = local_[0] - 1;
  const double* here = row(x_, j);
  const double* b = row(b_, j);
  double* __restrict to = row(next_, j);
  to[0] = (b[0] + ((west[j] + here[1]) + (below[0] + above[0]))) * inverse_;
  for (std::int64_t i = 1; i < last; ++i)
    to[i] = (b[i] + ((here[i - 1] + here[i + 1]) + (below[i] + above[i]))) * inverse_;
  to[last] = (b[last] + ((here[last - 1] + east[j]) + (below[last] + above[last]))) * inverse_;
}

void JacobiField::edge_sites(const std::array<std::span<const std::byte>, 4>& messages) noexcept {
  const std::int64_t last = local_[0] - 1, top = local_[1] - 1;
  const double *west = edge(messages[0]), *east = edge(messages[1]);
  edge_row(0, edge(messages[2]), row(x_, 1), west, east);
  edge_row(top, row(x_, top - 1), edge(messages[3]), west, east);
  for (std::int64_t j = 1; j < top; ++j) {
    const double *below = row(x_, j - 1), *here = row(x_, j), *above = row(x_, j + 1), *b = row(b_, j);
    double* to = row(next_, j);
    to[0] = (b[0] + ((west[j] + here[1]) + (below[0] + above[0]))) * inverse_;
    to[last] = (b[last] + ((here[last - 1] + east[j]) + (below[last] + above[last]))) * inverse_;
  }
  if (!touched_) return;
  for (const std::size_t face : {0u, 1u, 2u, 3u}) {
    const auto used = static_cast<std::size_t>(local_[face < 2 ? 1 : 0]) * sizeof(double);
    read_ += sum_of_words(messages[face].subspan(used));
  }
}

double JacobiField::error(std::int64_t sweeps) const {
  // After this number of sweeps nothing changes: the remainder of the start is below rounding.
  const double settled = 40.0 / std::log10(diagonal_ / 4.0);
  const auto enough = static_cast<std::int64_t>(std::min(static_cast<double>(sweeps), settled));
  const std::vector<double> reference = jacobi_reference(global_, diagonal_, enough);
  double worst = 0;
  for (std::int64_t j = 0; j < local_[1]; ++j)
    for (std::int64_t i = 0; i < local_[0]; ++i) {
      const auto at = static_cast<std::size_t>(origin_[0] + i + global_[0] * (origin_[1] + j));
      const double difference = std::abs(row(x_, j)[i] - reference[at]);
      worst = difference <= worst ? worst : difference;  // keeps a NaN
    }
  return worst;
}

}  // namespace halocline::bench
