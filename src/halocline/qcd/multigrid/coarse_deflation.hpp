// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Directions in which a coarse system is solved at once.
///
/// A coarse operator has small singular values of its own, and a Krylov solver meets them again in every coarse solve.
/// They belong to the test vectors: a test vector nearly is a combination of low modes of the whole lattice. So the
/// test vectors, written in the basis of the aggregates and cut by chirality, are the directions U. With C = A U
/// orthonormal,
///
///   x = U C^dagger b     leaves the residual     b - C C^dagger b,
///
/// the smallest that a combination of the directions can leave. The Krylov solver works on (1 - C C^dagger) A, so the
/// directions never come back (solve/inner_gmres.hpp). Products with C are sums of this process alone, which the solver
/// adds over processes in one message with its own.

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/multigrid/coarse_field.hpp"

namespace halocline::qcd::multigrid {

class CoarseDeflation {
public:
  /// Writes A in to out; both of the shape of `directions`.
  using Operator = std::function<void(CoarseField& out, const CoarseField& in)>;
  /// `[direction][column]`; directions are filled up with zeros to a multiple of 8.
  using Coefficients = std::vector<std::complex<double>>;

  /// @param geometry    names the processes that hold the vectors
  /// @param directions  one in each column. A direction that A maps into the span of the others, up to three digits, is
  ///                    left out.
  /// Collective: yes.  Cost: an application to all directions, and 32 k^2 flops a number of a field.
  CoarseDeflation(const lattice::Geometry4& geometry, const CoarseField& directions, const Operator& a);

  /// Directions that were kept.
  int size() const noexcept { return size_; }
  std::int64_t bytes() const noexcept { return (u_.size() + c_.size()) * static_cast<std::int64_t>(sizeof(float)); }

  /// C^dagger r, of the sites of this process. Collective: no.
  Coefficients products(const CoarseField& r) const;
  /// r -= C coefficients. Collective: no.
  void remove(CoarseField& r, std::span<const std::complex<double>> coefficients) const;
  /// x += U coefficients. Collective: no.
  void add(CoarseField& x, std::span<const std::complex<double>> coefficients) const;

private:
  void add(CoarseField& x, const core::AlignedArray<float>& vectors, std::span<const std::complex<double>> coefficients,
           double factor) const;

  int size_ = 0;
  std::int64_t sites_ = 0;
  int rows_ = 0;
  core::AlignedArray<float> u_, c_;  ///< `[direction / 8][site][direction mod 8][2 rows]`; unused directions are zero
};

}  // namespace halocline::qcd::multigrid
