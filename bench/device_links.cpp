// SPDX-License-Identifier: Apache-2.0
#include "bench/device_links.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>

namespace halocline::bench {
namespace {

using Complex = std::complex<double>;
using Matrix = std::array<std::array<Complex, 3>, 3>;

/// A prime number, so that neighbours in any direction get different matrices.
constexpr std::size_t table_size = 1009;

class Numbers {
public:
  /// Between -1 and 1, never zero.
  double next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int64_t>(state_) >> 11 | 1) * 0x1p-52;
  }
  Complex complex() {
    const double re = next();
    return {re, next()};
  }

private:
  std::uint64_t state_ = 1;
};

Complex product(const std::array<Complex, 3>& a, const std::array<Complex, 3>& b) {
  return std::conj(a[0]) * b[0] + std::conj(a[1]) * b[1] + std::conj(a[2]) * b[2];
}
void normalize(std::array<Complex, 3>& a) {
  const double length = std::sqrt(product(a, a).real());
  for (Complex& entry : a) entry /= length;
}

/// A random SU(3) matrix: rows 0 and 1 orthonormal, row 2 the conjugate of their cross product.
Matrix random_matrix(Numbers& numbers) {
  Matrix u{};
  for (int row = 0; row < 2; ++row)
    for (Complex& entry : u[static_cast<std::size_t>(row)]) entry = numbers.complex();
  normalize(u[0]);
  for (int pass = 0; pass < 2; ++pass) {  // the second pass removes rounding errors of nearly parallel rows
    const Complex along = product(u[0], u[1]);
    for (std::size_t column = 0; column < 3; ++column) u[1][column] -= along * u[0][column];
    normalize(u[1]);
  }
  for (std::size_t column = 0; column < 3; ++column) {
    const std::size_t next = (column + 1) % 3, last = (column + 2) % 3;
    u[2][column] = std::conj(u[0][next] * u[1][last] - u[0][last] * u[1][next]);
  }
  return u;
}

/// So many matrices of 18 reals each, in turn from a table.
std::vector<double> dealt(std::size_t matrices) {
  std::vector<double> table;
  Numbers numbers;
  for (std::size_t i = 0; i < table_size; ++i)
    for (const auto& row : random_matrix(numbers))
      for (const Complex& entry : row) table.insert(table.end(), {entry.real(), entry.imag()});
  std::vector<double> out(18 * matrices);
  for (std::size_t i = 0; i < matrices; ++i)
    std::copy_n(table.begin() + static_cast<std::ptrdiff_t>(18 * (i % table_size)), 18,
                out.begin() + static_cast<std::ptrdiff_t>(18 * i));
  return out;
}

}  // namespace

qcd::device::HostLinks dealt_links(const qcd::device::Box& box) {
  qcd::device::HostLinks links;
  links.box = box;
  links.edge.fill(1.0);
  links.matrices = dealt(std::size_t{16} * static_cast<std::size_t>(box.sites));
  return links;
}

qcd::device::HostStaggeredLinks dealt_staggered_links(const qcd::device::Box& box, int steps) {
  return {.box = box, .steps = steps, .matrices = dealt(std::size_t{2} * steps * static_cast<std::size_t>(box.sites))};
}

std::vector<double> dealt_clover_blocks(const qcd::device::Box& box) {
  std::vector<double> blocks(std::size_t{144} * static_cast<std::size_t>(box.sites));
  Numbers numbers;
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = (i % 36 < 6 ? 1.0 : 0.0) + 0.1 * numbers.next();
  return blocks;
}

}  // namespace halocline::bench
