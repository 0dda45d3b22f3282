// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Matrices of a fifth dimension, the same at every site: what a domain-wall operator multiplies by between its hops.
///
/// The columns of a field are the points s of the fifth dimension, for several right-hand sides one after another.
/// All matrices are made of two kinds of factors, M and M^-1. M is bidiagonal with a corner:
///
///   (M psi)(s) = near(s) psi(s) + far(s) psi(s'),   s' the neighbour of s, modulo the extent
///
/// The neighbour is s - 1 for the upper two spins (positive chirality) and s + 1 for the lower two, or the other way
/// round in a hermitian conjugate. M^-1 is a recursion along s, whose first value comes from a sum over all s with
/// constant weights. Neither needs memory but for its coefficients.

#include <array>
#include <complex>
#include <vector>

#include "halocline/core/device.hpp"

namespace halocline::qcd {

/// M above, in double. Lists are [chirality][s]; chirality 0 is that of the upper two spins.
struct FifthMatrix {
  std::array<std::vector<std::complex<double>>, 2> near, far;
  bool reversed = false;  ///< whether the neighbours are those of a hermitian conjugate

  int extent() const noexcept { return static_cast<int>(near[0].size()); }
  /// The neighbour s' of s.
  int neighbour(int chirality, int s) const noexcept {
    const int step = (chirality == 0) == reversed ? 1 : -1;
    return (s + step + extent()) % extent();
  }
  FifthMatrix adjoint() const;

  /// near(s) + far(s) S, where S psi(s) = P_+ psi(s-1) + P_- psi(s+1), with a factor -mass across the ends.
  static FifthMatrix shift(const std::vector<std::complex<double>>& near, const std::vector<std::complex<double>>& far,
                           double mass);
};

/// The factors of a term, in the order in which they are applied.
enum class FifthForm { product, solve, solve_product, product_solve };

/// A term of the kernels: P, Q^-1, P Q^-1 or Q^-1 P. A plain list of coefficients.
template <class T>
class FifthTerm {
public:
  FifthTerm() = default;
  static FifthTerm product(const FifthMatrix& p);
  /// @throws InvalidArgument  q is singular, or its recursion would amplify rounding (by more than 1000)
  static FifthTerm solve(const FifthMatrix& q);
  /// P Q^-1. Both have the same neighbours. @throws as above
  static FifthTerm solve_product(const FifthMatrix& q, const FifthMatrix& p);
  /// Q^-1 P. @throws as above
  static FifthTerm product_solve(const FifthMatrix& p, const FifthMatrix& q);

  int extent() const noexcept { return extent_; }
  FifthForm form() const noexcept { return form_; }
  /// Whether some coefficient is not real.
  bool complex() const noexcept { return complex_; }
  /// Flops of one site and one point s.
  double flops() const noexcept;
  /// The elements of the matrix, [chirality][s of the result][s of the argument]. Cost: Ls^2.
  std::array<std::vector<std::complex<double>>, 2> dense() const;

  /// Coefficients of the step that computes s, in the order of the recursion. Numbers are pairs (re, im).
  struct Step {
    int s;
    T x[2], x_before[2], y_before[2];  ///< y = x psi(s) + x_before psi(s') + y_before y(s')
    T near[2], far[2];                 ///< result(s) = near y + far y(s')
    T corner[2];                       ///< weight of psi(s) in the y before the first step
  };
  const std::vector<Step>& steps(int chirality) const noexcept { return steps_[static_cast<std::size_t>(chirality)]; }

private:
  FifthTerm(const FifthMatrix* p, const FifthMatrix* q, FifthForm form);

  int extent_ = 0;
  FifthForm form_ = FifthForm::product;
  bool complex_ = false;
  std::array<std::vector<Step>, 2> steps_;
};

extern template class FifthTerm<float>;
extern template class FifthTerm<double>;

}  // namespace halocline::qcd
