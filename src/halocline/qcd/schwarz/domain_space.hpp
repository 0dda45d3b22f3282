// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fields on a domain layout as a vector space for the Krylov solvers (solve/vector_space.hpp), in single precision.
///
/// The walk over memory, the order of the sums and what they promise are those of detail/linear_algebra.hpp. A domain
/// means nothing to it: domains stand one after the other, so the field is one run of tiles.

#include <memory>

#include "halocline/lattice/domain_field.hpp"
#include "halocline/qcd/field/tiled_space.hpp"

namespace halocline::qcd::schwarz {

class DomainSpace : public detail::TiledSpace<float, lattice::DomainField<float>> {
public:
  /// Spinor fields of `columns` columns. Copies share what they sum over processes with, so one of them at a time may
  /// be at work.
  /// @throws InvalidArgument  for less than one column. Collective: yes.
  explicit DomainSpace(std::shared_ptr<const lattice::DomainLayout> layout, int columns = 1);

  /// All zero.
  Vector create() const;
  const std::shared_ptr<const lattice::DomainLayout>& layout() const noexcept { return layout_; }

private:
  std::shared_ptr<const lattice::DomainLayout> layout_;
};

}  // namespace halocline::qcd::schwarz
