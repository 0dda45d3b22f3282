// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Krylov methods of solve/ by name, for fields of the CPU and of a device.
///
/// There is one instantiation for each kind of field (host_krylov.cpp, device_krylov.cu). The class of the operator is
/// an abstract base, so it serves D and its Schur complement for any action. The columns of a field are separate solves
/// that share the applications of the operator. Each column has its own tolerance, iterations and reason, and the same
/// bits as in a solve of this column alone.

#include <string>

#include "halocline/solve/result.hpp"

namespace halocline::qcd {

/// How the methods treat the fields of a space. The general template is for the CPU.
template <class Space>
struct KrylovTraits {
  static constexpr bool offers_all = true;  ///< FGMRES, GMRES-DR, s-step GCR and the block methods too
  /// In the inner space the residual is recomputed each time that it fell by this factor, two digits in float.
  static constexpr double replacement = 1e-2;
  /// Decisions about it come every so many iterations, so that the columns of a batch share the recomputations.
  static constexpr int replacement_interval = 1;
  static constexpr double most_gain = 0;  ///< least inner tolerance of a defect correction; 0: that of the options
};

/// A x = b in one precision by "bicgstab", "cg", "gcr" or, if the space offers all, "fgmres", "gmres-dr", "s-step-gcr",
/// "block-bicgstab", "block-cg". "cg" and "block-cg" solve the normal equations unless A is hermitian and positive. The
/// block methods build one Krylov space for all columns, so there the bits of a column depend on the others.
/// @throws InvalidArgument  another kind
/// Collective: yes.
template <class Space, class Operator>
solve::SolveResult solve_by(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                            const typename Space::Vector& b, const solve::SolveOptions& options);

/// The same with the iteration in an inner precision, and solution and residual in the outer one. "bicgstab" and
/// "cg" use reliable updates, which keep the search direction. Other methods use defect correction. Collective: yes.
template <class Space, class Operator, class InnerSpace, class InnerOperator>
solve::SolveResult solve_mixed(const std::string& kind, Space& space, Operator& a, typename Space::Vector& x,
                               const typename Space::Vector& b, InnerSpace& inner_space, InnerOperator& inner,
                               const solve::SolveOptions& options);

}  // namespace halocline::qcd
