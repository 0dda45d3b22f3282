// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Gauge transformations: an SU(3) matrix g(x) a site.
///
/// Links transform as U_mu(x) -> g(x) U_mu(x) g(x + mu)^dagger, quark fields as psi(x) -> g(x) psi(x).

#include "halocline/qcd/field/gauge_field.hpp"

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

namespace halocline::qcd::gauge {

class GaugeTransformation {
public:
  /// The unit at every site. Collective: no.
  explicit GaugeTransformation(std::shared_ptr<const lattice::Geometry4> geometry);

  /// Independent matrices, uniform over SU(3), keyed by (seed, global site): the same on any process grid.
  /// Collective: yes.
  static GaugeTransformation random(std::shared_ptr<const lattice::Geometry4> geometry, std::uint64_t seed);

  const lattice::Geometry4& geometry() const noexcept { return field_.geometry(); }

  /// g(x), local coordinates in [-1, local]. apply() reads ghosts, so call exchange_ghosts() after set().
  Su3<double> at(const lattice::Coordinates<4>& x) const noexcept {
    return load_link<double>(field_.data() + field_.offset(x), field_.component_stride());
  }
  void set(const lattice::Coordinates<4>& x, const Su3<double>& g) noexcept {
    store_link<double>(field_.data() + field_.offset(x), field_.component_stride(), g);
  }
  /// Collective: yes.
  void exchange_ghosts() { field_.exchange_ghosts(); }

  /// Transforms all links and fills their ghosts. Collective: yes.  Cost: 4 x 396 flops a site.
  /// @param gauge  on the same geometry
  /// @throws InvalidArgument  when its local box differs
  void apply(GaugeField& gauge) const;

  /// Transforms a quark field in canonical order, local box `[t][z][y][x][spin][colour]`. Collective: no.
  /// @throws InvalidArgument  when the length is not 12 x local volume
  void apply(std::span<std::complex<double>> spinor) const;

private:
  lattice::GhostField<double> field_;
};

}  // namespace halocline::qcd::gauge
