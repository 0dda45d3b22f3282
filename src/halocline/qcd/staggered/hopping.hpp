// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one-parity staggered hopping term on tiled fields: steps of one site with fat links, and of three sites with
/// long links.
///
/// Like the Wilson hopping term (wilson/hopping.hpp), it keeps the links in the order in which the kernel reads them:
/// for every target tile, the 8 or 16 matrices of its steps follow one another, backward links as minus their hermitian
/// conjugates, all with the phases eta and the boundary phases. So the kernel knows neither phases nor halos of links.
/// Fat links are not unitary and are stored whole.
///
/// One message a face carries the halo of both kinds of steps. It has three layers of sites, and the first layer serves
/// the short steps (lattice/neighbours.hpp).

#include <memory>
#include <string>

#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/field/components.hpp"
#include "halocline/qcd/gauge/staggered_links.hpp"

namespace halocline::comm {
class HaloExchange;
}

namespace halocline::qcd::staggered {

/// out = hop_scale hop(in) + add_scale add
template <class T>
struct HopTerms {
  T hop_scale = 1;
  const T* add = nullptr;  ///< tiles of the target parity; may be the same memory as out
  T add_scale = 1;
};

template <class T>
class Hopping {
public:
  /// @param neighbours  of the layout that the fields will have, with the reach of the action
  /// @param links       of the action; read here and not kept
  /// @param transport   of the halo, by name; empty for the default
  /// @throws InvalidArgument  if layout and links have different lattices, another reach, or less than one column; on
  ///                          every rank
  /// Collective: yes.  Cost: steps x 18 sizeof(T) bytes a site.
  Hopping(std::shared_ptr<const lattice::Neighbours> neighbours, const gauge::StaggeredLinks& links,
          const StaggeredAction& action, int columns = 1, std::string transport = "");
  /// The same operator for another number of columns. It shares the links and has a halo of its own. Collective: yes.
  Hopping(const Hopping& other, int columns);
  ~Hopping();
  Hopping(Hopping&&) noexcept;

  const std::shared_ptr<const lattice::TileLayout>& layout_ptr() const noexcept { return neighbours_->layout_ptr(); }
  int columns() const noexcept { return columns_; }

  /// out = hop(in) on the tiles of `target_parity`, with `terms` applied. hop is -2 (D - m), and it is anti-hermitian:
  /// with `dagger` the result has the other sign.
  /// @param out  tiles of target_parity, [tile][column][colour][re, im][lane]
  /// @param in   tiles of the other parity, in other memory than out
  /// Collective: yes where an axis is split.  Cost: 66 flops a step, site and column, and 6 for each sum; 18 reals a
  /// step and site, and 12 a site and column, to and from memory.
  void apply(T* out, const T* in, int target_parity, bool dagger, HopTerms<T> terms = {}) const;

private:
  struct Links;

  void open_halo();
  template <int lanes>
  void run(T* out, const T* in, int target_parity, const HopTerms<T>& terms) const;

  std::shared_ptr<const lattice::Neighbours> neighbours_;
  int columns_;
  std::string transport_;
  std::shared_ptr<const Links> links_;
  std::unique_ptr<comm::HaloExchange> halo_;  ///< null if no axis is split
};

extern template class Hopping<float>;
extern template class Hopping<double>;

}  // namespace halocline::qcd::staggered
