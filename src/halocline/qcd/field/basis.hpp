// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spin bases of other codes and the rotations into them.
///
/// Halocline computes in the DeGrand-Rossi basis (gamma.hpp). A field for another code is rotated once, when it
/// leaves Halocline: psi_B = V psi with gamma_B = V gamma V^dagger. The matrices V are real, with entries 0 and +-1
/// over the square root of 1 or 2. So they are stored as integers, and the algebra is checked exactly, at compile time,
/// below. The overall sign of V has no physical meaning. QUDA's sign is used, so that spinors (not only propagators)
/// can be exchanged. openQCD defines gamma5 = gamma_0 gamma_1 gamma_2 gamma_3 with gamma_0 in time. This is minus the
/// product gamma_x gamma_y gamma_z gamma_t used here, so its diag(1, 1, -1, -1) is minus the rotated gamma5.
/// docs/conventions.md prints every matrix; a test compares that page with these tables.

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <span>

#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/field/gamma.hpp"

namespace halocline::qcd {

/// A spin basis: its gamma matrices and the rotation into it from DeGrand-Rossi.
struct SpinBasis {
  const char* name;                              ///< as run files and file headers spell it
  std::array<SpinMatrix, 4> gamma;               ///< x, y, z, t
  std::array<std::array<int, 4>, 4> numerators;  ///< V = numerators / sqrt(norm)
  int norm;

  /// gamma_x gamma_y gamma_z gamma_t
  constexpr SpinMatrix gamma5() const { return gamma[0] * gamma[1] * gamma[2] * gamma[3]; }
};

namespace spin_bases {
inline constexpr SpinBasis degrand_rossi{
    "DeGrand-Rossi", qcd::gamma, {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}}, 1};
/// gamma_k = ((0, -i sigma_k), (i sigma_k, 0)), gamma_t = diag(1, 1, -1, -1)
inline constexpr SpinBasis dirac_pauli{"Dirac-Pauli",
                                       {{{{3, 2, 1, 0}, {3, 3, 1, 1}},
                                         {{3, 2, 1, 0}, {2, 0, 0, 2}},
                                         {{2, 3, 0, 1}, {3, 1, 1, 3}},
                                         {{0, 1, 2, 3}, {0, 0, 2, 2}}}},
                                       {{{0, -1, 0, -1}, {1, 0, 1, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0}}},
                                       2};
/// gamma_k = ((0, i sigma_k), (-i sigma_k, 0)), gamma_t = diag(1, 1, -1, -1)
inline constexpr SpinBasis ukqcd{"UKQCD",
                                 {{{{3, 2, 1, 0}, {1, 1, 3, 3}},
                                   {{3, 2, 1, 0}, {0, 2, 2, 0}},
                                   {{2, 3, 0, 1}, {1, 3, 3, 1}},
                                   {{0, 1, 2, 3}, {0, 0, 2, 2}}}},
                                 {{{0, 1, 0, 1}, {-1, 0, -1, 0}, {0, 1, 0, -1}, {-1, 0, 1, 0}}},
                                 2};
/// gamma_k = ((0, -i sigma_k), (i sigma_k, 0)), gamma_t = ((0, -1), (-1, 0)); QUDA calls it chiral
inline constexpr SpinBasis openqcd{"openQCD",
                                   {{{{3, 2, 1, 0}, {3, 3, 1, 1}},
                                     {{3, 2, 1, 0}, {2, 0, 0, 2}},
                                     {{2, 3, 0, 1}, {3, 1, 1, 3}},
                                     {{2, 3, 0, 1}, {2, 2, 2, 2}}}},
                                   {{{0, 0, 0, -1}, {0, 0, 1, 0}, {0, 1, 0, 0}, {-1, 0, 0, 0}}},
                                   1};
inline constexpr std::array<SpinBasis, 4> all{degrand_rossi, dirac_pauli, ukqcd, openqcd};
}  // namespace spin_bases

namespace detail {
/// V V^dagger = 1, exactly.
constexpr bool rotation_is_unitary(const SpinBasis& basis) {
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 4; ++j) {
      int sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += basis.numerators[i][k] * basis.numerators[j][k];
      if (sum != (i == j ? basis.norm : 0)) return false;
    }
  return true;
}

/// V gamma = gamma_B V for all four, exactly: entry by entry both sides are one integer times a power of i.
constexpr bool rotation_takes_gamma(const SpinBasis& basis) {
  for (std::size_t mu = 0; mu < 4; ++mu)
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 4; ++k) {
        const SpinMatrix& from = qcd::gamma[mu];
        const SpinMatrix& to = basis.gamma[mu];
        const auto column = static_cast<std::size_t>(from.column[k]);
        const int left = basis.numerators[i][k];                                             // times i^from.power[k]
        const int right = basis.numerators[static_cast<std::size_t>(to.column[i])][column];  // times i^to.power[i]
        if ((left == 0) != (right == 0)) return false;
        if (left == 0) continue;
        const int left_power = (from.power[k] + (left < 0 ? 2 : 0)) % 4;
        const int right_power = (to.power[i] + (right < 0 ? 2 : 0)) % 4;
        if (left_power != right_power) return false;
      }
  return true;
}

/// gamma_mu gamma_nu + gamma_nu gamma_mu = 2 delta_munu, and every gamma is hermitian.
constexpr bool is_clifford(const std::array<SpinMatrix, 4>& g) {
  for (std::size_t mu = 0; mu < 4; ++mu) {
    if (!(g[mu] == adjoint(g[mu])) || !(g[mu] * g[mu] == spin_unit)) return false;
    for (std::size_t nu = 0; nu < mu; ++nu)
      if (!(g[mu] * g[nu] == times_i_power(g[nu] * g[mu], 2))) return false;
  }
  return true;
}

constexpr bool every_basis_is_right() {
  for (const SpinBasis& basis : spin_bases::all)
    if (!rotation_is_unitary(basis) || !rotation_takes_gamma(basis) || !is_clifford(basis.gamma)) return false;
  return true;
}
static_assert(every_basis_is_right());
}  // namespace detail

/// Rotates every spinor of a canonical array from DeGrand-Rossi into `basis`: psi <- V psi.
/// @param spinor  shape (..., 4, 3): any number of sites, [spin][colour] fastest
/// Collective: no.  Cost: one sweep.
inline void to_basis(const SpinBasis& basis, std::span<std::complex<double>> spinor) {
  const double scale = 1 / std::sqrt(static_cast<double>(basis.norm));
  for (std::size_t site = 0; site + spinor_components <= spinor.size(); site += spinor_components) {
    std::array<std::complex<double>, spinor_components> rotated{};
    for (std::size_t i = 0; i < 4; ++i)
      for (std::size_t k = 0; k < 4; ++k)
        for (std::size_t c = 0; c < 3; ++c)
          rotated[3 * i + c] += scale * basis.numerators[i][k] * spinor[site + 3 * k + c];
    for (std::size_t i = 0; i < spinor_components; ++i) spinor[site + i] = rotated[i];
  }
}

/// Rotates every spinor from `basis` back into DeGrand-Rossi: psi <- V^dagger psi. Collective: no.  Cost: one sweep.
inline void from_basis(const SpinBasis& basis, std::span<std::complex<double>> spinor) {
  SpinBasis inverse = basis;
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t k = 0; k < 4; ++k) inverse.numerators[i][k] = basis.numerators[k][i];
  to_basis(inverse, spinor);
}

}  // namespace halocline::qcd
