// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// Fat and long links by their definition: every path is enumerated and multiplied link by link. One process, canonical
// links [t][z][y][x][mu][3][3]. Nothing is shared with the library.

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "qcd/reference_operator.hpp"

namespace halocline::test {

/// Coefficients of all paths with 1, 3, 5 and 7 links, and of the paths that go two steps to the side.
struct SlowCoefficients {
  double one, three, five, seven, lepage;
};

class SlowLinks {
public:
  SlowLinks(const Site& extents, const std::vector<Complex>& links) : extents_(extents) {
    links_.resize(links.size() / 9);
    for (std::size_t k = 0; k < links_.size(); ++k)
      for (std::size_t i = 0; i < 9; ++i) links_[k][i / 3][i % 3] = links[9 * k + i];
  }

  std::int64_t volume() const { return extents_[0] * extents_[1] * extents_[2] * extents_[3]; }
  Site site(std::int64_t index) const {
    Site x{};
    for (int mu = 0; mu < 4; ++mu) {
      x[mu] = index % extents_[mu];
      index /= extents_[mu];
    }
    return x;
  }
  Matrix3& link(const Site& x, int mu) {
    return links_[static_cast<std::size_t>(
        4 * (((x[3] * extents_[2] + x[2]) * extents_[1] + x[1]) * extents_[0] + x[0]) + mu)];
  }

  /// The product of links along steps; step +(mu+1) or -(mu+1).
  Matrix3 path(Site x, const std::vector<int>& steps) {
    Matrix3 product{};
    for (int i = 0; i < 3; ++i) product[i][i] = 1;
    for (const int step : steps) {
      const int mu = std::abs(step) - 1;
      if (step > 0) product = times(product, link(x, mu));
      x[mu] = (x[mu] + (step > 0 ? 1 : -1) + extents_[mu]) % extents_[mu];
      if (step < 0) product = times(product, dagger(link(x, mu)));
    }
    return product;
  }

  /// The sum of all paths from x to x + mu.
  Matrix3 fat(const Site& x, int mu, const SlowCoefficients& c) {
    Matrix3 sum{};
    const auto add = [&](double weight, const std::vector<int>& steps) {
      const Matrix3 p = path(x, steps);
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j) sum[i][j] += weight * p[i][j];
    };
    const int m = mu + 1;
    add(c.one, {m});
    std::vector<int> sides;
    for (int axis = 1; axis <= 4; ++axis)
      if (axis != m) sides.insert(sides.end(), {axis, -axis});
    for (const int a : sides) {
      add(c.three, {a, m, -a});
      add(c.lepage, {a, a, m, -a, -a});
      for (const int b : sides) {
        if (std::abs(b) == std::abs(a)) continue;
        add(c.five, {a, b, m, -b, -a});
        for (const int d : sides)
          if (std::abs(d) != std::abs(a) && std::abs(d) != std::abs(b)) add(c.seven, {a, b, d, m, -d, -b, -a});
      }
    }
    return sum;
  }

  /// All links, canonical.
  std::vector<Complex> fat(const SlowCoefficients& c) {
    std::vector<Complex> out;
    for (std::int64_t k = 0; k < volume(); ++k)
      for (int mu = 0; mu < 4; ++mu) append(out, fat(site(k), mu, c));
    return out;
  }
  std::vector<Complex> naik(double coefficient) {
    std::vector<Complex> out;
    for (std::int64_t k = 0; k < volume(); ++k)
      for (int mu = 0; mu < 4; ++mu) {
        Matrix3 p = path(site(k), {mu + 1, mu + 1, mu + 1});
        for (auto& row : p)
          for (auto& z : row) z *= coefficient;
        append(out, p);
      }
    return out;
  }

  /// Every link replaced by the unitary factor of its polar decomposition, by Newton's iteration
  /// x <- (x + x^-dagger) / 2.
  void make_unitary() {
    for (Matrix3& x : links_)
      for (int step = 0; step < 40; ++step) {
        const Matrix3 inverse = dagger(inverse_of(x));
        for (int i = 0; i < 3; ++i)
          for (int j = 0; j < 3; ++j) x[i][j] = 0.5 * (x[i][j] + inverse[i][j]);
      }
  }

  std::vector<Complex> canonical() const {
    std::vector<Complex> out;
    for (const Matrix3& m : links_) append(out, m);
    return out;
  }

private:
  static void append(std::vector<Complex>& out, const Matrix3& m) {
    for (const auto& row : m) out.insert(out.end(), row.begin(), row.end());
  }
  static Matrix3 inverse_of(const Matrix3& m) {
    Matrix3 cofactor{};
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
        cofactor[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
      }
    const Complex determinant = m[0][0] * cofactor[0][0] + m[0][1] * cofactor[1][0] + m[0][2] * cofactor[2][0];
    for (auto& row : cofactor)
      for (auto& z : row) z /= determinant;
    return cofactor;
  }

  Site extents_;
  std::vector<Matrix3> links_;
};

}  // namespace halocline::test
