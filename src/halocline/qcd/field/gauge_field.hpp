// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The SU(3) gauge field: four links a site, in double, with ghost sites.
///
/// U_mu(x) is the link from x to x + mu, mu = x y z t = 0 1 2 3. Boundary phases of fermions are never stored here.
/// The links live in a lattice::GhostField of 72 numbers a site, component 18 mu + 6 row + 2 column + (0 re, 1 im), so
/// that algorithms can load a pack of consecutive x (`load_link`), at any distance up to `depth()`. After writing
/// links, call `exchange_ghosts()` before any process reads ghosts.

#include "halocline/core/pack.hpp"
#include "halocline/lattice/ghost_field.hpp"
#include "halocline/qcd/field/su3.hpp"

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace halocline::qcd {

/// Reals of one link.
inline constexpr int link_reals = 18;

/// Loads one link, or a pack of links at consecutive x.
/// @param from  first number of the link: data() + offset(x) + mu * 18 * component_stride
/// @param component_stride  of the field
template <class Real>
HALOCLINE_INLINE Su3<Real> load_link(const double* from, std::int64_t component_stride) {
  Su3<Real> u;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const double* element = from + (6 * i + 2 * j) * component_stride;
      u.e[i][j] = {core::Lanes<Real>::load(element), core::Lanes<Real>::load(element + component_stride)};
    }
  return u;
}

/// Writes one link; a pack overwrites the next sites of its row too. @param to  as in load_link
template <class Real>
HALOCLINE_INLINE void store_link(double* to, std::int64_t component_stride, const Su3<Real>& u) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      double* element = to + (6 * i + 2 * j) * component_stride;
      core::Lanes<Real>::store(element, u.e[i][j].re);
      core::Lanes<Real>::store(element + component_stride, u.e[i][j].im);
    }
}

class GaugeField {
public:
  /// A field of unit links, ghosts included.
  /// @param depth  ghost sites on each side of each axis, 1 ... 4, no more than the smallest local extent
  /// @throws InvalidArgument  for a depth outside this range. Collective: no.  Cost: 576 bytes a site with ghosts and
  ///                          padding.
  explicit GaugeField(std::shared_ptr<const lattice::Geometry4> geometry, int depth = 1);

  /// Makes a field from links in canonical order. They must not contain boundary phases.
  /// @param links  local box `[t][z][y][x][mu][3][3]`, mu = x y z t
  /// @throws InvalidArgument  if the length differs from 36 x local volume on any rank; thrown on every rank
  /// Collective: yes.
  static GaugeField from_canonical(std::shared_ptr<const lattice::Geometry4> geometry,
                                   std::span<const std::complex<double>> links, int depth = 1);
  /// The links of the local box, `[t][z][y][x][mu][3][3]`. Collective: no.
  std::vector<std::complex<double>> to_canonical() const;

  const lattice::Geometry4& geometry() const noexcept { return field_.geometry(); }
  const std::shared_ptr<const lattice::Geometry4>& geometry_ptr() const noexcept { return field_.geometry_ptr(); }
  int depth() const noexcept { return field_.depth(); }

  /// U_mu(x), local coordinates in [-depth, local + depth).
  Su3<double> link(const lattice::Coordinates<4>& x, int mu) const noexcept {
    return load_link<double>(field_.data() + link_offset(x, mu), field_.component_stride());
  }
  void set_link(const lattice::Coordinates<4>& x, int mu, const Su3<double>& u) noexcept {
    store_link<double>(field_.data() + link_offset(x, mu), field_.component_stride(), u);
  }
  /// Offset of the first number of U_mu(x) in field().data().
  std::int64_t link_offset(const lattice::Coordinates<4>& x, int mu) const noexcept {
    return field_.offset(x) + mu * link_stride();
  }
  /// Distance from U_mu(x) to U_{mu+1}(x).
  std::int64_t link_stride() const noexcept { return link_reals * field_.component_stride(); }

  /// Fills the ghosts of all links. Collective: yes.
  void exchange_ghosts() { field_.exchange_ghosts(); }
  /// Fills the ghosts of the links in direction mu. Collective: yes.
  void exchange_ghosts(int mu) { field_.exchange_ghosts(mu * link_reals, link_reals); }

  /// The largest of |U U^dagger - 1| and |det U - 1|, element by element, over all links: about 1e-15 for a field made
  /// in double, 1e-7 for a field read from single precision. NaN when any link holds a NaN. Collective: yes.
  double unitarity_violation() const;

  lattice::GhostField<double>& field() noexcept { return field_; }
  const lattice::GhostField<double>& field() const noexcept { return field_; }

private:
  lattice::GhostField<double> field_;
};

}  // namespace halocline::qcd
