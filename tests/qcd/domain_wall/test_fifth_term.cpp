// SPDX-License-Identifier: Apache-2.0
//
// Matrices of the fifth dimension against dense ones.

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "halocline/core/error.hpp"
#include "halocline/qcd/dirac/fifth_kernel.hpp"

namespace halocline::qcd {
namespace {

using Number = std::complex<double>;

/// A square matrix, row by row.
struct Dense {
  explicit Dense(int n) : size(n), at(static_cast<std::size_t>(n * n)) {}
  static Dense one(int n) {
    Dense out(n);
    for (int i = 0; i < n; ++i) out(i, i) = 1;
    return out;
  }
  Number& operator()(int row, int column) { return at[static_cast<std::size_t>(row * size + column)]; }
  const Number& operator()(int row, int column) const { return at[static_cast<std::size_t>(row * size + column)]; }
  Dense operator*(const Dense& b) const {
    Dense out(size);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j)
        for (int k = 0; k < size; ++k) out(i, j) += (*this)(i, k) * b(k, j);
    return out;
  }
  Dense adjoint() const {
    Dense out(size);
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) out(i, j) = std::conj((*this)(j, i));
    return out;
  }
  int size;
  std::vector<Number> at;
};
double distance(const Dense& a, const Dense& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.at.size(); ++i) sum += std::norm(a.at[i] - b.at[i]);
  return std::sqrt(sum);
}

/// The matrix of one chirality, from its definition.
Dense dense(const FifthMatrix& m, int chirality) {
  const auto c = static_cast<std::size_t>(chirality);
  Dense out(m.extent());
  for (int s = 0; s < m.extent(); ++s) {
    const bool below = (chirality == 0) != m.reversed;
    const int to = below ? (s == 0 ? m.extent() - 1 : s - 1) : (s == m.extent() - 1 ? 0 : s + 1);
    out(s, s) += m.near[c][static_cast<std::size_t>(s)];
    out(s, to) += m.far[c][static_cast<std::size_t>(s)];
  }
  return out;
}

/// S of the domain wall, written out.
Dense shift(int ls, int chirality, double mass) {
  Dense out(ls);
  for (int s = 0; s < ls; ++s) {
    if (chirality == 0) out(s, (s + ls - 1) % ls) = s == 0 ? -mass : 1.0;
    if (chirality == 1) out(s, (s + 1) % ls) = s == ls - 1 ? -mass : 1.0;
  }
  return out;
}

/// The matrix that a term applies, column by column. Every real of a chirality must have the same.
template <class T>
Dense matrix_of(const FifthTerm<T>& term, int chirality, bool in_place) {
  const int ls = term.extent();
  Dense out(ls);
  for (int column = 0; column < ls; ++column)
    for (const bool imaginary : {false, true}) {
      std::vector<T> psi(static_cast<std::size_t>(24 * ls)), result(psi.size(), T(-7));
      for (int i = 0; i < 6; ++i) {
        const int real = 8 * (i / 2) + 4 * chirality + 2 * (i % 2) + (imaginary ? 1 : 0);
        psi[static_cast<std::size_t>(24 * column + real)] = T(i + 1);
      }
      std::vector<T>& to = in_place ? psi : result;
      apply_fifth<T>(
          term,
          [&](T(&x)[2], int s, int real) {
            x[0] = psi[static_cast<std::size_t>(24 * s + real)];
            x[1] = psi[static_cast<std::size_t>(24 * s + real + 1)];
          },
          [&](int s, int real, const T(&x)[2]) {
            to[static_cast<std::size_t>(24 * s + real)] = x[0];
            to[static_cast<std::size_t>(24 * s + real + 1)] = x[1];
          });
      for (int s = 0; s < ls; ++s)
        for (int i = 0; i < 6; ++i) {
          const auto at = static_cast<std::size_t>(24 * s + 8 * (i / 2) + 4 * chirality + 2 * (i % 2));
          const Number z = Number(to[at], to[at + 1]) / double(i + 1) / (imaginary ? Number(0, 1) : Number(1));
          if (i == 0 && !imaginary) out(s, column) = z;
          CHECK(std::abs(z - out(s, column)) < (sizeof(T) == 4 ? 1e-5 : 1e-13));
          const auto other = static_cast<std::size_t>(24 * s + 8 * (i / 2) + 4 * (1 - chirality) + 2 * (i % 2));
          CHECK(to[other] == 0);
        }
    }
  return out;
}

std::vector<Number> numbers(int ls, unsigned seed, Number around, bool complex) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> part(-0.3, 0.3);
  std::vector<Number> out;
  for (int s = 0; s < ls; ++s) {
    const double re = part(random), im = part(random);
    out.push_back(around + Number(re, complex ? im : 0));
  }
  return out;
}

}  // namespace

TEST_CASE("fifth dimension: a matrix, its adjoint and the shift are those of the definition") {
  for (const int ls : {4, 6}) {
    const FifthMatrix s = FifthMatrix::shift(std::vector<Number>(static_cast<std::size_t>(ls), 0.0),
                                             std::vector<Number>(static_cast<std::size_t>(ls), 1.0), 0.25);
    const FifthMatrix rough = FifthMatrix::shift(numbers(ls, 1, 2.0, true), numbers(ls, 2, {0.5, 1}, true), 0.25);
    for (int chirality = 0; chirality < 2; ++chirality) {
      CHECK(distance(dense(s, chirality), shift(ls, chirality, 0.25)) == 0);
      CHECK(distance(dense(rough.adjoint(), chirality), dense(rough, chirality).adjoint()) == 0);
      CHECK(distance(dense(rough.adjoint().adjoint(), chirality), dense(rough, chirality)) == 0);
    }
  }
}

TEST_CASE_TEMPLATE("fifth dimension: terms are the dense products and inverses", T, float, double) {
  const double allowed = sizeof(T) == 4 ? 1e-5 : 1e-13;
  for (const int ls : {4, 6, 16})
    for (const bool complex : {false, true})
      for (const bool adjoint : {false, true}) {
        FifthMatrix q = FifthMatrix::shift(numbers(ls, 3, 3.2, complex), numbers(ls, 4, -1.0, complex), 0.1);
        FifthMatrix p = FifthMatrix::shift(numbers(ls, 5, 1.5, complex), numbers(ls, 6, 0.5, complex), 0.1);
        if (adjoint) {
          q = q.adjoint();
          p = p.adjoint();
        }
        for (int chirality = 0; chirality < 2; ++chirality)
          for (const bool in_place : {false, true}) {
            CAPTURE(ls);
            CAPTURE(complex);
            CAPTURE(adjoint);
            CAPTURE(chirality);
            CAPTURE(in_place);
            const Dense dp = dense(p, chirality), dq = dense(q, chirality);
            const auto product = FifthTerm<T>::product(p);
            CHECK(product.complex() == complex);
            const auto found = [&](const FifthTerm<T>& term) { return matrix_of(term, chirality, in_place); };
            CHECK(distance(found(product), dp) < allowed);
            CHECK(distance(found(FifthTerm<T>::solve(q)) * dq, Dense::one(ls)) < allowed);
            CHECK(distance(found(FifthTerm<T>::solve_product(q, p)) * dq, dp) < allowed);
            CHECK(distance(dq * found(FifthTerm<T>::product_solve(p, q)), dp) < allowed);
          }
      }
}

TEST_CASE("fifth dimension: matrices that cannot be inverted safely are refused") {
  const auto constant = [](double near, double far, double mass) {
    return FifthMatrix::shift(std::vector<Number>(8, near), std::vector<Number>(8, far), mass);
  };
  CHECK_THROWS_AS(FifthTerm<double>::solve(constant(0, 1, 0.1)), core::InvalidArgument);  // no diagonal
  CHECK_THROWS_AS(FifthTerm<double>::solve(constant(1, 1, -1)), core::InvalidArgument);   // 1 - (-1)^8 = 0
  CHECK_THROWS_AS(FifthTerm<double>::solve(constant(1, 4, 0.1)), core::InvalidArgument);  // errors grow by 4^8
  CHECK_NOTHROW(FifthTerm<double>::solve(constant(1, 1, 0.1)));
}

}  // namespace halocline::qcd
