// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The twisted mass on the lattices of multigrid: D(mu) = D + i mu gamma5.
///
/// On the fine lattice, in the system of unit diagonal, D'(mu) = A^-1 D(mu) = D' + i mu A^-1 gamma5, with the clover
/// term A of the untwisted operator. The Schwarz preconditioner remains that of D: it is there for the short waves, to
/// which a twisted mass is a small perturbation. So the term is one pass after an application of D'.
///
/// On a coarse lattice the test vectors keep the chiralities apart, so P^dagger gamma5 P = Gamma5 and
/// D_c(mu) = D_c + i mu Gamma5: only the diagonals of the self blocks change (CoarseBlocks::twist).

#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"

namespace halocline::qcd::multigrid {

/// The term i mu A^-1 gamma5 of D'(mu).
class Twist {
public:
  /// @param matrix  referred to; must outlive this object
  Twist(const schwarz::Matrix& matrix, double mu) : matrix_(&matrix), mu_(mu) {}

  double mu() const noexcept { return mu_; }
  /// out += i mu A^-1 gamma5 in, on fields in the layout of the matrix; nothing for mu = 0.
  /// @throws InvalidArgument  for fields of another layout or different numbers of columns. Collective: no.
  /// Cost: 504 + 48 flops and 3 x 96 bytes a site and column, and 288 bytes a site for A^-1; without a clover term 48
  /// flops.
  void add(lattice::DomainField<float>& out, const lattice::DomainField<float>& in) const;

private:
  const schwarz::Matrix* matrix_;
  double mu_;
};

}  // namespace halocline::qcd::multigrid
