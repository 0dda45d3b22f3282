// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The matrices of the fifth dimension that a domain-wall operator multiplies by, on the CPU and on devices. In the
/// symbols of domain_wall.hpp, with d the diagonal of the Wilson operator.

#include <array>

#include "halocline/qcd/dirac/fifth_term.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {

template <class T>
struct WallMatrices {
  /// @throws InvalidArgument  a matrix cannot be inverted, or its recursion would amplify rounding
  explicit WallMatrices(const DomainWallAction& action);

  bool trivial;                              ///< B is one
  bool source_on_walls;                      ///< D_- is one: c is zero
  std::array<FifthTerm<T>, 2> a, inverse_a;  ///< A and A^-1; of each list the second: hermitian conjugates
  std::array<FifthTerm<T>, 2> full, b;       ///< (b d + 1) + (c d - 1) S, and B
  FifthTerm<T> inverse_b;                    ///< B^-1
  FifthTerm<T> c, one_minus_cd;              ///< diagonal: c_s, and 1 - c_s d
};

extern template struct WallMatrices<float>;
extern template struct WallMatrices<double>;

}  // namespace halocline::qcd
