// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one-parity Wilson hopping term on tiled fields, with what solvers add to it in the same pass.
///
/// The links are copied once into the order in which the kernel reads them: for every target tile the eight matrices
/// U_mu(x) and U_mu(x-mu)^dagger one after the other, boundary phases and hopping coefficients multiplied in. One
/// hop then streams links without a shuffle or a halo; both parities together take twice the memory of the links.
///
/// Order of one application: project the boundary tiles into the send buffers, post, hop on the interior tiles, wait
/// for each face, hop on the boundary tiles. Every target tile is computed by the same instructions whether its
/// neighbour is here or came from another process, so the result does not depend on the process grid. The region
/// timers (core/region.hpp) see it as hop > pack and post, interior, wait, boundary.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "halocline/core/aligned_array.hpp"
#include "halocline/lattice/neighbours.hpp"
#include "halocline/qcd/action.hpp"
#include "halocline/qcd/spinor_field.hpp"

namespace halocline::comm {
class HaloExchange;
}

namespace halocline::qcd {
class GaugeField;
}

namespace halocline::qcd::wilson {

/// out = hop_scale [B] hop(in) + add_scale [A] add, where B and A are clover blocks (clover/clover.hpp) or absent.
template <class T>
struct HopTerms {
  T hop_scale = 1;
  const T* hop_blocks = nullptr;  ///< B, tiles of the target parity
  const T* add = nullptr;         ///< spinor tiles of the target parity; may be the same memory as out
  T add_scale = 1;
  const T* add_blocks = nullptr;  ///< A
};

template <class T>
class Hopping {
public:
  /// @param neighbours  of the layout of the fields that will be given
  /// @param gauge       links; read here and not kept
  /// @param transport   how the halo travels, by name (comm/transport.hpp), or "auto"; empty for the default
  /// @throws InvalidArgument  where the layout and the links have different lattices
  /// Collective: yes.  Cost: 2 x 4 x 18 sizeof(T) bytes a site.
  Hopping(std::shared_ptr<const lattice::Neighbours> neighbours, const GaugeField& gauge,
          const ActionParameters& action, const std::string& transport = "");
  ~Hopping();
  Hopping(Hopping&&) noexcept;

  const lattice::TileLayout& layout() const noexcept { return neighbours_->layout(); }
  const std::shared_ptr<const lattice::TileLayout>& layout_ptr() const noexcept { return layout_; }

  /// hop(in) on the tiles of `target_parity`, sum_mu [(1 - gamma_mu) U psi(x+mu) + (1 + gamma_mu) U^dagger psi(x-mu)]
  /// (no factor -1/2), with `terms` applied; for `dagger` the hermitian conjugate.
  /// @param out  tiles of target_parity, 24 reals a site;  @param in  tiles of the other parity, not the same memory
  /// Collective: yes where an axis is split.  Cost: 1320 flops a site; 8 x 18 + 2 x 24 reals a site from memory.
  void apply(T* out, const T* in, int target_parity, bool dagger, const HopTerms<T>& terms = {}) const;

private:
  template <int lanes>
  void run(T* out, const T* in, int target_parity, bool dagger, const HopTerms<T>& terms) const;

  std::shared_ptr<const lattice::Neighbours> neighbours_;
  std::shared_ptr<const lattice::TileLayout> layout_;
  std::array<core::AlignedArray<T>, 2> links_;  ///< [tile][8][column][row][re, im][lane], by target parity
  std::unique_ptr<comm::HaloExchange> halo_;    ///< none where no axis is split
};

extern template class Hopping<float>;
extern template class Hopping<double>;

}  // namespace halocline::qcd::wilson
