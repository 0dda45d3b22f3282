// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The inverse of a small coarse operator as a dense matrix.
///
/// On the coarsest level a system has few unknowns, and all of them depend on each other. Each process holds its own
/// rows of the inverse, gathers the right-hand side from all processes, and multiplies. That is one message to and from
/// everybody in place of the halos and sums of an iterative solver, and the solution is exact.
///
/// The matrix is found by applying the operator to unit vectors, so it may be any operator on coarse fields. Every
/// process factorises the whole matrix in double and solves for its own rows, which are kept in float as
/// `[own row / 16][column][re, im][own row mod 16]`: lanes run over rows.
///
/// Flops of a process and right-hand side: 8 x own rows x unknowns. Bytes: the same.

#include <cstdint>
#include <functional>
#include <memory>

#include "halocline/core/aligned_array.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/multigrid/coarse_field.hpp"

namespace halocline::qcd::multigrid {

class DenseInverse {
public:
  /// Writes A in to out, fields of `columns` columns.
  using Operator = std::function<void(CoarseField& out, const CoarseField& in)>;

  /// @param geometry  names the processes that hold the vectors
  /// @param sites     of a field on a process, the same on each
  /// @param rows      of a site, a multiple of 16
  /// @param columns   of the fields that `a` is given
  /// @throws core::Error  for a singular or infinite operator, on every rank
  /// Collective: yes.  Cost: an application to as many columns as there are unknowns, 8 n^3 / 3 flops and 8 n^2 more
  /// for each row of this process.
  DenseInverse(std::shared_ptr<const lattice::Geometry4> geometry, std::int64_t sites, int rows, int columns,
               const Operator& a);

  std::int64_t unknowns() const noexcept { return sites_ * rows_ * geometry_->communicator().size(); }
  std::int64_t bytes() const noexcept { return data_.size() * static_cast<std::int64_t>(sizeof(float)); }

  /// out = A^-1 in, for fields of any number of columns. Collective: yes.
  /// @throws InvalidArgument  for fields of other shapes
  void apply(CoarseField& out, const CoarseField& in) const;

private:
  std::shared_ptr<const lattice::Geometry4> geometry_;
  std::int64_t sites_;
  int rows_;
  core::AlignedArray<float> data_;
};

}  // namespace halocline::qcd::multigrid
