// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one-parity Wilson hopping term on tiled fields. The same pass can apply the site terms that solvers add to it.
///
/// The constructor copies the links into the order in which the kernel reads them. For every target tile, the eight
/// matrices U_mu(x) and U_mu(x-mu)^dagger follow one another, multiplied by the hopping coefficients and boundary
/// phases. A hop then streams the links without a shuffle or a halo of links. Both parities together take twice the
/// memory of the links. A link is stored as 18 reals, or as 12 from which the kernel computes the third row
/// (detail/tile_accessor.hpp).
///
/// Storing only the four links that leave a site would not reduce the memory traffic: a hop onto one parity needs all
/// links of the lattice, half of them where they start and half where they end.
///
/// Fields may have several columns; an operator is made for one number of columns. The kernel computes all columns of
/// a tile before the next tile, so it reads the tile's links and clover blocks once. One message per face carries the
/// halo of all columns.
///
/// One application projects the boundary tiles into the send buffers, posts them, hops on the interior tiles, waits
/// for each face, and hops on the boundary tiles. The same instructions compute every target tile, whether its
/// neighbours are local or came from another process. So the result does not depend on the process grid. The region
/// timers (core/region.hpp) show the application as hop > pack and post, interior, wait, boundary.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/dirac/site_term.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/field/spinor_field.hpp"

namespace halocline::comm {
class HaloExchange;
}

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::wilson {

/// out = hop_scale [B] hop(in) + add_scale [A] add. B and A are site terms (dirac/site_term.hpp) or absent. All
/// columns share them.
template <class T>
struct HopTerms {
  T hop_scale = 1;
  const SiteTerm<T>* hop_term = nullptr;  ///< B
  const T* add = nullptr;                 ///< spinor tiles of the target parity; may be the same memory as out
  T add_scale = 1;
  const SiteTerm<T>* add_term = nullptr;  ///< A

  /// Whether some term connects the columns of a site.
  bool mixes_columns() const noexcept {
    return (hop_term != nullptr && hop_term->connects_columns()) ||
           (add_term != nullptr && add_term->connects_columns());
  }
  /// Columns that belong together.
  int extent() const noexcept {
    return mixes_columns()
               ? std::max(hop_term != nullptr ? hop_term->extent() : 1, add_term != nullptr ? add_term->extent() : 1)
               : 1;
  }
};

struct HoppingOptions {
  int columns = 1;      ///< of the fields
  int link_reals = 18;  ///< reals stored for a link: 18, or 12 where memory traffic limits the speed
  std::string
      transport;  ///< transport of the halo, by name (comm/exchange/transport.hpp), or "auto"; empty for the default
};

template <class T>
class Hopping {
public:
  /// @param neighbours  neighbour table of the layout that the fields will have
  /// @param gauge       links; read here and not kept
  /// @throws InvalidArgument  if the layout and the links have different lattices; for impossible parameters or
  ///                          options; for 12 reals if the third row of a link is not the conjugate cross product of
  ///                          the other two (to 1e-6 in float, 1e-12 in double); on every rank
  /// Collective: yes.  Cost: 2 x 4 x link_reals sizeof(T) bytes a site.
  Hopping(std::shared_ptr<const lattice::Neighbours> neighbours, const GaugeField& gauge,
          const WilsonCloverAction& action, const HoppingOptions& options = {});
  /// The same operator for another number of columns. It shares the links and has a halo of its own. Collective: yes.
  Hopping(const Hopping& other, int columns);
  ~Hopping();
  Hopping(Hopping&&) noexcept;

  const lattice::TileLayout& layout() const noexcept { return neighbours_->layout(); }
  const std::shared_ptr<const lattice::TileLayout>& layout_ptr() const noexcept { return layout_; }
  int columns() const noexcept { return options_.columns; }
  int link_reals() const noexcept { return options_.link_reals; }

  /// out = hop(in) on the tiles of `target_parity`, with `terms` applied. hop is
  /// sum_mu [(1 - gamma_mu) U psi(x+mu) + (1 + gamma_mu) U^dagger psi(x-mu)], without the factor -1/2; with `dagger`
  /// its hermitian conjugate.
  /// @param out  tiles of target_parity, [tile][column][24][lane]
  /// @param in   tiles of the other parity, in other memory than out
  /// Collective: yes where an axis is split.  Cost: 1320 flops a site and column; 8 link_reals + 2 x 24 columns reals a
  /// site to and from memory. Links of 12 reals take another 192 multiply-adds a site, which are not counted.
  void apply(T* out, const T* in, int target_parity, bool dagger, const HopTerms<T>& terms = {}) const;

private:
  template <int lanes>
  void run(T* out, const T* in, int target_parity, bool dagger, const HopTerms<T>& terms) const;

  struct Links;

  void open_halo();

  std::shared_ptr<const lattice::Neighbours> neighbours_;
  std::shared_ptr<const lattice::TileLayout> layout_;
  HoppingOptions options_;
  std::shared_ptr<const Links> links_;
  std::unique_ptr<comm::HaloExchange> halo_;  ///< null if no axis is split
};

extern template class Hopping<float>;
extern template class Hopping<double>;

}  // namespace halocline::qcd::wilson
