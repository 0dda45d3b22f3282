// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods of solve/ by name, for fields of the CPU and of a device alike.
///
/// They are instantiated once for each kind of field (host_krylov.cpp, device_krylov.cu), for an operator whose class
/// hides which one it is: D or its Schur complement, of any action. Fields of several columns are that many solves that
/// share the applications of the operator: each column has its own tolerance, iterations and reason, and the bits that
/// it has alone.

#include <string>

#include "halocline/solve/result.hpp"

namespace halocline::qcd {

/// How the methods treat fields of a space; here as those of the CPU.
template <class Space>
struct KrylovTraits {
  static constexpr bool offers_fgmres = true;
  /// As the inner precision: the residual is recomputed each time that it fell by this factor, two digits in float.
  static constexpr double replacement = 1e-2;
  static constexpr bool reliable_cg = false;  ///< "cg" by reliable updates too
  static constexpr double most_gain = 0;      ///< least inner tolerance of a defect correction; 0: that of the options
};

/// A x = b by "bicgstab", "cg" (normal equations), "gcr" or, where the space offers it, "fgmres", in one precision.
/// Collective: yes.
template <class Space, class Operator>
solve::SolveResult solve_by(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                            const typename Space::Vector& b, const solve::SolveOptions& options);

/// The same with the iteration in an inner precision, and solution and residual in the outer one: "bicgstab" by
/// reliable updates, "cg" where KrylovTraits say so, others by defect correction. Collective: yes.
template <class Space, class Operator, class InnerSpace, class InnerOperator>
solve::SolveResult solve_mixed(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                               const typename Space::Vector& b, InnerSpace& inner_space, InnerOperator& inner,
                               const solve::SolveOptions& options);

}  // namespace halocline::qcd
