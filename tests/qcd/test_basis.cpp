// SPDX-License-Identifier: Apache-2.0
//
// Spin bases: the rotations do what they say, observables do not see them, and docs/conventions.md prints these tables.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "halocline/qcd/field/basis.hpp"
#include "halocline/qcd/field/gamma.hpp"
#include "halocline/qcd/measure/channels.hpp"
#include "qcd/measure/measure_test.hpp"

namespace {

using namespace halocline;
using namespace halocline::test;
using qcd::SpinBasis;
using qcd::SpinMatrix;

Matrix4 dense(const SpinMatrix& m) {
  static constexpr std::array<Complex, 4> i_to{{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};
  Matrix4 d{};
  for (std::size_t row = 0; row < 4; ++row)
    d[row][static_cast<std::size_t>(m.column[row])] = i_to[static_cast<std::size_t>(m.power[row])];
  return d;
}
Matrix4 rotation(const SpinBasis& basis) {
  Matrix4 v{};
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) v[i][j] = basis.numerators[i][j] / std::sqrt(static_cast<double>(basis.norm));
  return v;
}
double difference(const Matrix4& a, const Matrix4& b) {
  double largest = 0;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) largest = std::max(largest, std::abs(a[i][j] - b[i][j]));
  return largest;
}

// Four lines of right-aligned cells, as the page prints a matrix.
std::string lines(const std::array<std::array<std::string, 4>, 4>& cells) {
  std::string text;
  for (const auto& row : cells) {
    for (const std::string& cell : row) text += std::string(4 - cell.size(), ' ') + cell;
    text += '\n';
  }
  return text;
}
std::string printed(const SpinMatrix& m) {
  static const std::array<std::string, 4> i_to{"1", "i", "-1", "-i"};
  std::array<std::array<std::string, 4>, 4> cells;
  for (auto& row : cells) row.fill("0");
  for (std::size_t row = 0; row < 4; ++row)
    cells[row][static_cast<std::size_t>(m.column[row])] = i_to[static_cast<std::size_t>(m.power[row])];
  return lines(cells);
}
std::string printed(const std::array<std::array<int, 4>, 4>& numerators) {
  std::array<std::array<std::string, 4>, 4> cells;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) cells[i][j] = std::to_string(numerators[i][j]);
  return lines(cells);
}

}  // namespace

TEST_CASE("basis: rotations are unitary and take every gamma matrix into its basis") {
  for (const SpinBasis& basis : qcd::spin_bases::all) {
    CAPTURE(basis.name);
    const Matrix4 v = rotation(basis);
    CHECK(difference(times(v, dagger(v)), dense(qcd::spin_unit)) < 1e-15);
    for (std::size_t mu = 0; mu < 4; ++mu)
      CHECK(difference(times(times(v, reference_gamma()[mu]), dagger(v)), dense(basis.gamma[mu])) < 1e-15);
    CHECK(difference(times(times(v, reference_gamma5()), dagger(v)), dense(basis.gamma5())) < 1e-15);
  }
}

TEST_CASE("basis: the bases are the ones their owners define") {
  // Pauli matrices times i^power in the upper right block, its adjoint in the lower left
  const std::array<std::array<std::array<Complex, 2>, 2>, 3> sigma{
      {{{{0, 1}, {1, 0}}}, {{{0, Complex(0, -1)}, {Complex(0, 1), 0}}}, {{{1, 0}, {0, -1}}}}};
  const auto off_diagonal = [&](std::size_t k, Complex factor) {
    Matrix4 m{};
    for (std::size_t i = 0; i < 2; ++i)
      for (std::size_t j = 0; j < 2; ++j) {
        m[i][2 + j] = factor * sigma[k][i][j];
        m[2 + j][i] = std::conj(factor * sigma[k][i][j]);
      }
    return m;
  };
  for (std::size_t k = 0; k < 3; ++k) {
    CHECK(difference(dense(qcd::spin_bases::dirac_pauli.gamma[k]), off_diagonal(k, {0, -1})) == 0);
    CHECK(difference(dense(qcd::spin_bases::ukqcd.gamma[k]), off_diagonal(k, {0, 1})) == 0);
    CHECK(difference(dense(qcd::spin_bases::openqcd.gamma[k]), off_diagonal(k, {0, -1})) == 0);
    CHECK(difference(dense(qcd::gamma[k]), off_diagonal(k, {0, k == 1 ? -1.0 : 1.0})) == 0);
  }
  for (const SpinBasis& basis : {qcd::spin_bases::dirac_pauli, qcd::spin_bases::ukqcd})
    CHECK(basis.gamma[3] == SpinMatrix{{0, 1, 2, 3}, {0, 0, 2, 2}});
  CHECK(qcd::spin_bases::openqcd.gamma[3] == SpinMatrix{{2, 3, 0, 1}, {2, 2, 2, 2}});
  // openQCD: gamma5 = gamma_0 gamma_1 gamma_2 gamma_3 with gamma_0 = gamma_t is diag(1, 1, -1, -1)
  const auto& g = qcd::spin_bases::openqcd.gamma;
  CHECK(g[3] * g[0] * g[1] * g[2] == SpinMatrix{{0, 1, 2, 3}, {0, 0, 2, 2}});
  CHECK(qcd::spin_bases::openqcd.gamma5() == SpinMatrix{{0, 1, 2, 3}, {2, 2, 0, 0}});
}

TEST_CASE("basis: rotating a spinor there and back is the identity, and D commutes with it") {
  const auto geometry = alone({2, 2, 2, 2});
  Spinor psi(12 * 16);
  fill_random(*geometry, psi, 61);
  for (const SpinBasis& basis : qcd::spin_bases::all) {
    Spinor rotated = psi;
    qcd::to_basis(basis, rotated);
    CHECK(norm(rotated) == doctest::Approx(norm(psi)).epsilon(1e-14));
    // gamma_B V psi = V gamma psi, at one site and colour
    for (std::size_t mu = 0; mu < 4; ++mu) {
      Spinor gamma_psi = psi;
      for (std::size_t i = 0; i < psi.size(); ++i) {
        gamma_psi[i] = 0;
        for (std::size_t s = 0; s < 4; ++s)
          gamma_psi[i] += reference_gamma()[mu][i % 12 / 3][s] * psi[i / 12 * 12 + 3 * s + i % 3];
      }
      qcd::to_basis(basis, gamma_psi);
      Spinor expected(psi.size());
      const Matrix4 g = dense(basis.gamma[mu]);
      for (std::size_t i = 0; i < psi.size(); ++i)
        for (std::size_t s = 0; s < 4; ++s) expected[i] += g[i % 12 / 3][s] * rotated[i / 12 * 12 + 3 * s + i % 3];
      CHECK(distance(gamma_psi, expected) < 1e-15);
    }
    qcd::from_basis(basis, rotated);
    CHECK(distance(rotated, psi) < 1e-15);
  }
}

TEST_CASE("basis: the page of conventions prints these matrices") {
  const std::filesystem::path page = std::filesystem::path(__FILE__).parent_path() / "../../docs/conventions.md";
  std::ifstream file(page);
  REQUIRE(file.good());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  static const std::array<std::string, 4> axis{"x", "y", "z", "t"};
  const auto prints = [&](const std::string& title, const std::string& matrix) {
    const std::string block = title + "\n" + matrix;
    CAPTURE(block);
    CHECK(text.find(block) != std::string::npos);
  };
  for (const SpinBasis& basis : qcd::spin_bases::all) {
    for (std::size_t mu = 0; mu < 4; ++mu)
      prints(std::string(basis.name) + " gamma_" + axis[mu], printed(basis.gamma[mu]));
    prints(std::string(basis.name) + " gamma5", printed(basis.gamma5()));
    if (basis.name != std::string("DeGrand-Rossi"))
      prints(std::string(basis.name) + " V x sqrt(" + std::to_string(basis.norm) + ")", printed(basis.numerators));
  }
  for (std::size_t mu = 0; mu < 4; ++mu)
    for (std::size_t nu = mu + 1; nu < 4; ++nu)
      prints("DeGrand-Rossi sigma_" + axis[mu] + axis[nu],
             printed(qcd::times_i_power(qcd::gamma[mu] * qcd::gamma[nu], 1)));
  for (int n = 0; n < 16; ++n) {
    const std::string name = qcd::measure::sixteen_channels()[static_cast<std::size_t>(n)].name;
    CHECK(text.find("| " + std::to_string(n) + " | `" + name + "` |") != std::string::npos);
  }
  prints("DeGrand-Rossi C gamma5", printed(qcd::gamma[1] * qcd::gamma[3] * qcd::gamma5));
}
