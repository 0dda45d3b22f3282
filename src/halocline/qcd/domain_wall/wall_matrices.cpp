// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/domain_wall/wall_matrices.hpp"

#include <algorithm>
#include <complex>
#include <vector>

namespace halocline::qcd {
namespace {

/// b + c S, and (b d + 1) + (c d - 1) S, the site term of D.
FifthMatrix matrix_b(const DomainWallAction& action) {
  std::vector<std::complex<double>> near, far;
  for (int s = 0; s < action.ls; ++s) {
    near.push_back(action.b_at(s));
    far.push_back(action.c_at(s));
  }
  return FifthMatrix::shift(near, far, action.mass);
}
FifthMatrix matrix_full(const DomainWallAction& action) {
  const double d = action.wilson().diagonal();
  std::vector<std::complex<double>> near, far;
  for (int s = 0; s < action.ls; ++s) {
    near.push_back(action.b_at(s) * d + 1.0);
    far.push_back(action.c_at(s) * d - 1.0);
  }
  return FifthMatrix::shift(near, far, action.mass);
}

bool is_one(const DomainWallAction& action) {
  return std::ranges::all_of(action.b, [](auto z) { return z == 1.; }) &&
         std::ranges::all_of(action.c, [](auto z) { return z == 0.; });
}

}  // namespace

template <class T>
WallMatrices<T>::WallMatrices(const DomainWallAction& action)
    : trivial(is_one(action)), source_on_walls(std::ranges::all_of(action.c, [](auto z) { return z == 0.; })) {
  using F = FifthTerm<T>;
  const FifthMatrix q = matrix_full(action), p = matrix_b(action);
  const FifthMatrix q_dagger = q.adjoint(), p_dagger = p.adjoint();
  full = {F::product(q), F::product(q_dagger)};
  b = {F::product(p), F::product(p_dagger)};
  inverse_b = F::solve(p);
  if (trivial) {
    a = full;
    inverse_a = {F::solve(q), F::solve(q_dagger)};
  } else {
    // (P Q^-1)^dagger = Q^-dagger P^dagger
    a = {F::solve_product(p, q), F::product_solve(q_dagger, p_dagger)};
    inverse_a = {F::solve_product(q, p), F::product_solve(p_dagger, q_dagger)};
  }
  std::vector<std::complex<double>> coefficients, rest;
  const std::vector<std::complex<double>> none(static_cast<std::size_t>(action.ls), 0.0);
  for (int s = 0; s < action.ls; ++s) {
    coefficients.push_back(action.c_at(s));
    rest.push_back(1.0 - action.c_at(s) * action.wilson().diagonal());
  }
  c = F::product(FifthMatrix::shift(coefficients, none, 0.0));
  one_minus_cd = F::product(FifthMatrix::shift(rest, none, 0.0));
}

template struct WallMatrices<float>;
template struct WallMatrices<double>;

}  // namespace halocline::qcd
