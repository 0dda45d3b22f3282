// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one-parity Wilson hopping term on tiled fields, with what solvers add to it in the same pass.
///
/// The links are copied once into the order in which the kernel reads them: for every target tile the eight matrices
/// U_mu(x) and U_mu(x-mu)^dagger one after the other, boundary phases and hopping coefficients multiplied in. One
/// hop then streams links without a shuffle or a halo; both parities together take twice the memory of the links. Of a
/// link 18 reals are stored, or 12 with the third row computed from the others (detail/tile_accessor.hpp).
///
/// Four links a site, those that leave it, would save nothing here: a hop onto one parity needs all links of the
/// lattice, half of them where they start and half where they end.
///
/// Fields may have several columns; an operator is made for one number of them. All columns of a tile are computed
/// before the next tile, so its links and clover blocks are read once, and the halo of all columns travels together.
///
/// Order of one application: project the boundary tiles into the send buffers, post, hop on the interior tiles, wait
/// for each face, hop on the boundary tiles. Every target tile is computed by the same instructions whether its
/// neighbour is here or came from another process, so the result does not depend on the process grid. The region
/// timers (core/region.hpp) see it as hop > pack and post, interior, wait, boundary.

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

/// out = hop_scale [B] hop(in) + add_scale [A] add, where B and A are blocks of sites (dirac/site_term.hpp) or absent,
/// the same for all columns.
template <class T>
struct HopTerms {
  T hop_scale = 1;
  const SiteTerm<T>* hop_term = nullptr;  ///< B
  const T* add = nullptr;                 ///< spinor tiles of the target parity; may be the same memory as out
  T add_scale = 1;
  const SiteTerm<T>* add_term = nullptr;  ///< A
};

struct HoppingOptions {
  int columns = 1;      ///< of the fields
  int link_reals = 18;  ///< stored of a link: 18, or 12 where memory is what a hop waits for
  std::string
      transport;  ///< how the halo travels, by name (comm/exchange/transport.hpp), or "auto"; empty for the default
};

template <class T>
class Hopping {
public:
  /// @param neighbours  of the layout of the fields that will be given
  /// @param gauge       links; read here and not kept
  /// @throws InvalidArgument  where the layout and the links have different lattices, for impossible options, and for
  ///                          12 reals where a link is not unitary with determinant one (to 1e-6 in float, 1e-12 in
  ///                          double); on every rank
  /// Collective: yes.  Cost: 2 x 4 x link_reals sizeof(T) bytes a site.
  Hopping(std::shared_ptr<const lattice::Neighbours> neighbours, const GaugeField& gauge,
          const WilsonCloverAction& action, const HoppingOptions& options = {});
  /// The same operator for another number of columns: shares the links, and has a halo of its own. Collective: yes.
  Hopping(const Hopping& other, int columns);
  ~Hopping();
  Hopping(Hopping&&) noexcept;

  const lattice::TileLayout& layout() const noexcept { return neighbours_->layout(); }
  const std::shared_ptr<const lattice::TileLayout>& layout_ptr() const noexcept { return layout_; }
  int columns() const noexcept { return options_.columns; }
  int link_reals() const noexcept { return options_.link_reals; }

  /// hop(in) on the tiles of `target_parity`, sum_mu [(1 - gamma_mu) U psi(x+mu) + (1 + gamma_mu) U^dagger psi(x-mu)]
  /// (no factor -1/2), with `terms` applied; for `dagger` the hermitian conjugate.
  /// @param out  tiles of target_parity, [tile][column][24][lane];  @param in  tiles of the other parity, not the same
  ///             memory
  /// Collective: yes where an axis is split.  Cost: 1320 flops a site and column; 8 link_reals + 2 x 24 columns reals a
  /// site from memory. Links of 12 reals take 192 multiply-adds a site more, which are not counted.
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
  std::unique_ptr<comm::HaloExchange> halo_;  ///< none where no axis is split
};

extern template class Hopping<float>;
extern template class Hopping<double>;

}  // namespace halocline::qcd::wilson
