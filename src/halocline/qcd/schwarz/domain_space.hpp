// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields on a domain layout as a vector space for the Krylov solvers (solve/vector_space.hpp), in single precision.
///
/// The walk over memory and the order of the sums, with their guarantees, are those of detail/linear_algebra.hpp.
/// Domains do not matter to the walk: they lie one after the other, so the field is one run of tiles.

#include <memory>

#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/field/tiled_space.hpp"

namespace halocline::qcd::schwarz {

class DomainSpace : public detail::TiledSpace<float, lattice::DomainField<float>> {
public:
  /// Spinor fields of `columns` columns. Copies share one reduction over processes, so only one of them may be in use
  /// at a time.
  /// @throws InvalidArgument  for less than one column. Collective: yes.
  explicit DomainSpace(std::shared_ptr<const lattice::DomainLayout> layout, int columns = 1);

  /// All zero.
  Vector create() const;
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept { return layout_; }

private:
  std::shared_ptr<const lattice::DomainLayout> layout_;
};

}  // namespace halocline::qcd::schwarz
