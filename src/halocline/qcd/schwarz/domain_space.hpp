// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields on a domain layout as a vector space for the Krylov solvers (solve/vector_space.hpp), in single precision.
///
/// The walk over memory, the order of the sums and what they promise are those of detail/linear_algebra.hpp. A domain
/// means nothing to it: domains stand one after the other, so the field is one run of tiles.

#include <memory>
#include <span>

#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/detail/linear_algebra.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd::schwarz {

class DomainSpace {
public:
  using Vector = lattice::DomainField<float>;

  /// Spinor fields of `columns` columns. Copies share what they sum over processes with, so one of them at a time may
  /// be at work.
  /// @throws InvalidArgument  for less than one column. Collective: yes.
  explicit DomainSpace(std::shared_ptr<const lattice::DomainLayout> layout, int columns = 1);

  /// All zero.
  Vector create() const;
  int columns() const noexcept { return algebra_.columns(); }
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept { return layout_; }

  void copy(Vector& out, const Vector& in) const;
  void set_zero(Vector& v) const;
  void axpy(std::span<const solve::Scalar> a, const Vector& x, Vector& y) const;
  void scale(std::span<const solve::Scalar> a, Vector& y) const;
  /// <x, y> over all processes, one value a column. Collective.
  void dot(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const;

  /// The updates in order, then the dots; see solve/vector_space.hpp. Collective where there are dots.
  solve::FinishedSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                        std::span<const solve::Dot<Vector>> dots) const {
    return algebra_.update_and_reduce(updates, dots);
  }

private:
  std::shared_ptr<const lattice::DomainLayout> layout_;
  detail::LinearAlgebra<float> algebra_;
};

}  // namespace halocline::qcd::schwarz
