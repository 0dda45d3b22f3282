// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/detail/orthonormalise.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "halocline/core/complex.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/pack.hpp"
#include "halocline/lattice/dispatch.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/multigrid/detail/cholesky.hpp"
#include "halocline/solve/hermitian_eigen.hpp"

namespace halocline::qcd::multigrid {
namespace {

using core::Complex;

/// Tiles whose products are summed in float.
constexpr std::int64_t chunk = 64;

/// The vectors of one chirality.
template <int V>
class Columns {
  using Real = core::Number<float, V>;
  using L = core::Lanes<Real>;
  using C = Complex<Real>;

public:
  Columns(const AggregateVectors& vectors, int chirality) : vectors_(&vectors), chirality_(chirality) {}

  int count() const { return vectors_->vectors; }

  /// The lower triangle of V^dagger V.
  Matrix gram() const {
    Matrix g(count());
    for (int row = 0; row < count(); row += 4)
      for (int column = 0; column < row + 4; column += 2)
        for (std::int64_t begin = 0; begin < vectors_->tiles; begin += chunk) {
          C sum[4][2];
          for (auto& pair : sum) pair[0] = pair[1] = C{Real(0.f), Real(0.f)};
          for (std::int64_t i = begin; i < std::min(begin + chunk, vectors_->tiles); ++i) {
            const float* at = tile(i);
            for (int k = 0; k < 6; ++k) {
              C right[2];
#pragma GCC unroll 2
              for (int j = 0; j < 2; ++j) right[j] = load(at, column + j, k);
#pragma GCC unroll 4
              for (int m = 0; m < 4; ++m) {
                const C left = load(at, row + m, k);
#pragma GCC unroll 2
                for (int j = 0; j < 2; ++j) core::conj_multiply_add(sum[m][j], left, right[j]);
              }
            }
          }
          for (int i = 0; i < 4; ++i)
            for (int j = 0; j < 2; ++j)
              g(row + i, column + j) += std::complex<double>(total(sum[i][j].re), total(sum[i][j].im));
        }
    return g;
  }

  /// V = V X for an upper triangular matrix X.
  void multiply(const Matrix& x) {
    const int n = count();
    std::vector<float> re, im;
    for (const auto& z : x.e) {
      re.push_back(static_cast<float>(z.real()));
      im.push_back(static_cast<float>(z.imag()));
    }
    for (std::int64_t i = 0; i < vectors_->tiles; ++i) {
      float* at = tile(i);
      for (int k = 0; k < 6; ++k)
        // Column j needs columns up to j, so the last ones come first.
        for (int first = n - 4; first >= 0; first -= 4) {
          C sum[4];
          for (C& s : sum) s = C{Real(0.f), Real(0.f)};
          for (int m = 0; m < first + 4; ++m) {
            const C v = load(at, m, k);
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j)
              core::multiply_add(sum[j],
                                 C{Real(re[static_cast<std::size_t>(m * n + first + j)]),
                                   Real(im[static_cast<std::size_t>(m * n + first + j)])},
                                 v);
          }
          for (int j = 0; j < 4; ++j) {
            float* to = at + (first + j) * stride + place(k);
            L::store(to, sum[j].re);
            L::store(to + V, sum[j].im);
          }
        }
    }
  }

  /// The first `kept` vectors become V X. @param x  [column * count() + row]
  void combine(const std::vector<std::complex<double>>& x, int kept) {
    const int n = count();
    std::vector<C> all(static_cast<std::size_t>(n));
    std::vector<std::complex<float>> factors(x.begin(), x.end());
    for (std::int64_t i = 0; i < vectors_->tiles; ++i) {
      float* at = tile(i);
      for (int k = 0; k < 6; ++k) {
        for (int m = 0; m < n; ++m) all[static_cast<std::size_t>(m)] = load(at, m, k);
        for (int column = 0; column < kept; ++column) {
          C sum{Real(0.f), Real(0.f)};
          const std::complex<float>* factor = factors.data() + column * n;
          for (int m = 0; m < n; ++m)
            core::multiply_add(sum, C{Real(factor[m].real()), Real(factor[m].imag())},
                               all[static_cast<std::size_t>(m)]);
          float* to = at + column * stride + place(k);
          L::store(to, sum.re);
          L::store(to + V, sum.im);
        }
      }
    }
  }

  // What the modified Gram-Schmidt method needs.
  std::complex<double> product(int left, int right) const {
    double re = 0, im = 0;
    for_numbers([&](float* at) {
      const float *a = at + left * stride, *b = at + right * stride;
      re += double{a[0]} * b[0] + double{a[V]} * b[V];
      im += double{a[0]} * b[V] - double{a[V]} * b[0];
    });
    return {re, im};
  }
  void add(int to, int from, std::complex<double> factor) {
    const auto re = static_cast<float>(factor.real()), im = static_cast<float>(factor.imag());
    for_numbers([&](float* at) {
      const float* a = at + from * stride;
      float* b = at + to * stride;
      b[0] += re * a[0] - im * a[V];
      b[V] += re * a[V] + im * a[0];
    });
  }
  void scale(int column, double factor) {
    for_numbers([&](float* at) {
      float* a = at + column * stride;
      a[0] *= static_cast<float>(factor);
      a[V] *= static_cast<float>(factor);
    });
  }

private:
  static float total(const Real& lanes) {
    if constexpr (V == 1)
      return lanes;
    else
      return core::horizontal_sum(lanes);
  }
  static constexpr std::int64_t stride = spinor_reals * V;
  float* tile(std::int64_t i) const { return vectors_->data + i * vectors_->vectors * stride; }
  /// Offset of the real parts of complex component k of the chirality.
  std::int64_t place(int k) const { return 2 * (4 * (k / 2) + 2 * chirality_ + k % 2) * V; }
  C load(const float* tile, int column, int k) const {
    const float* at = tile + column * stride + place(k);
    return {L::load(at), L::load(at + V)};
  }
  template <class Body>
  void for_numbers(const Body& body) const {
    for (std::int64_t i = 0; i < vectors_->tiles; ++i)
      for (int k = 0; k < 6; ++k)
        for (int lane = 0; lane < V; ++lane) body(tile(i) + place(k) + lane);
  }

  const AggregateVectors* vectors_;
  int chirality_;
};

template <int V>
double gram_schmidt(Columns<V>& columns) {
  double worst = 1;
  for (int n = 0; n < columns.count(); ++n) {
    const double before = std::sqrt(columns.product(n, n).real());
    for (int twice = 0; twice < 2; ++twice)
      for (int m = 0; m < n; ++m) columns.add(n, m, -columns.product(m, n));
    const double after = std::sqrt(columns.product(n, n).real());
    const double kept = after / before;
    worst = kept < worst ? kept : (kept >= worst ? worst : 0.0);
    columns.scale(n, after > 0 ? 1 / after : 0.0);
  }
  return worst;
}

template <int V>
bool reduce_lanes(const AggregateVectors& vectors, int kept) {
  for (int chirality = 0; chirality < 2; ++chirality) {
    Columns<V> columns(vectors, chirality);
    const int n = columns.count();
    const Matrix gram = columns.gram();
    // hermitian_eigen() takes the lower triangle, column by column.
    std::vector<std::complex<double>> matrix(gram.e.size()), leading;
    for (int row = 0; row < n; ++row)
      for (int column = 0; column <= row; ++column) {
        const auto& z = gram(row, column);
        if (!std::isfinite(z.real()) || !std::isfinite(z.imag())) return false;
        matrix[static_cast<std::size_t>(column * n + row)] = z;
      }
    solve::HermitianEigen eigen;
    try {
      eigen = solve::hermitian_eigen(static_cast<std::size_t>(n), matrix);
    } catch (const core::Error&) {  // nothing may leave the parallel region of the caller
      return false;
    }
    for (int i = n - 1; i >= n - kept; --i)  // the values ascend
      leading.insert(leading.end(), eigen.vectors.begin() + std::ptrdiff_t{i} * n,
                     eigen.vectors.begin() + std::ptrdiff_t{i + 1} * n);
    columns.combine(leading, kept);
  }
  return true;
}

template <int V>
double orthonormalise_lanes(const AggregateVectors& vectors) {
  // Squares of norms: two digits of dependence are four of them, and leave three in a float.
  constexpr double coarsest = 1e-4;
  double worst = 1;
  for (int chirality = 0; chirality < 2; ++chirality) {
    Columns<V> columns(vectors, chirality);
    double least = 1, again = 1;
    const Matrix first = inverse_factor(columns.gram(), least);
    if (!(least > coarsest)) {
      worst = std::min(worst, gram_schmidt(columns));
      continue;
    }
    columns.multiply(first);
    columns.multiply(inverse_factor(columns.gram(), again));
    worst = std::min(worst, std::sqrt(least));
  }
  return worst;
}

}  // namespace

bool reduce(AggregateVectors& vectors, int kept) {
  bool finite = false;
  lattice::with_lanes(vectors.lanes, [&]<int V>() { finite = reduce_lanes<V>(vectors, kept); });
  const std::int64_t before = std::int64_t{vectors.vectors} * spinor_reals * vectors.lanes;
  const std::int64_t after = std::int64_t{kept} * spinor_reals * vectors.lanes;
  for (std::int64_t tile = 1; tile < vectors.tiles; ++tile)
    std::copy_n(vectors.data + tile * before, after, vectors.data + tile * after);
  vectors.vectors = kept;
  return finite;
}

double orthonormalise(const AggregateVectors& vectors) {
  double worst = 0;
  lattice::with_lanes(vectors.lanes, [&]<int V>() { worst = orthonormalise_lanes<V>(vectors); });
  return std::isfinite(worst) ? worst : 0.0;
}

}  // namespace halocline::qcd::multigrid
