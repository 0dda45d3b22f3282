// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The passes over the tiles of a domain, chosen once for a layout and a way of storing.
///
/// Each pass is a hop (domain_hop.hpp) whose sums are multiplied by the clover block B = A^-1 / 2 and joined with the
/// vectors of the pass while they are in the first-level cache; it reads and writes each field once. hop_in goes inside
/// the domain only, hop_faces through its faces only, hop through both.
///
///   step       out = add + B hop_in own              one Jacobi step on the right-hand side `add`
///   residual   out = add - own + B hop own           r -= D' z
///   first      out = add + B hop_faces own           the same where this domain has no z yet
///   faces      out = B hop_faces own                 the same where z solves the equation inside the domain
///   remainder  out = original - (add - own + B hop own)   b - r, the end of D' K b
///   full       out = own - B hop own                 D'
///   inside     out = own - B hop_in own              D_in
///   block      out = 2 B own                         A^-1; out may be own
///
/// Flops a site: the hop's 168 a direction inside or through a face; 504 of the block (24 without); 24 to 72 of the
/// joining. Reals a site: 72 links (48 with two rows), 72 of the block, 24 read as neighbours, 24 written, 24 for each
/// further vector.

#include <array>
#include <complex>
#include <cstdint>
#include <memory>

#include "halocline/core/half.hpp"
#include "halocline/core/machine.hpp"
#include "halocline/lattice/domain_layout.hpp"
#include "halocline/qcd/schwarz/detail/arithmetic.hpp"

namespace halocline::qcd::schwarz {

enum class Pass { step, residual, first, faces, remainder, full, inside, block };

/// The data of a domain that a pass reads and writes. Fields begin at the domain's first tile and are
/// `[tile][column][24][lane]`.
template <class S>
struct PassFields {
  const S* own = nullptr;       ///< the vector to which the hop is applied
  const S* add = nullptr;       ///< right-hand side or residual
  const S* original = nullptr;  ///< of `remainder`
  S* out = nullptr;             ///< not `own`; may be `add`
  S* sum = nullptr;             ///< of `step`: out is added to it, where not null
  const S* links = nullptr;
  const S* blocks = nullptr;  ///< null: B is `number`
  float number = 0;
  int columns = 1;
  int prefetch = 0;                        ///< request what so many tiles further on is read; not with Pass::block
  std::int32_t known = 0;                  ///< with prefetch: tiles before this place of the list may be requested too
  const core::Machine* machine = nullptr;  ///< with prefetch: lines of its caches, and the level to request into
  unsigned faces = 0;                      ///< bit d: face d contributes
  std::array<const S*, 8> face{};          ///< `[slot][column][12][lanes that look]`
  std::array<float, 4> row_factor{1, 1, 1, 1};
};

/// Where a domain's edges are packed for the neighbour that sees the domain in direction d; null if no neighbour does.
template <class S>
struct FaceTargets {
  std::array<S*, 8> to{};
  /// Boundary phase of the step; multiplied where it is not one.
  std::array<std::complex<float>, 8> phase{1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f, 1.f};
};

/// The passes for one layout, storage S, arithmetic and links of 6 x rows reals.
template <class S>
class TilePasses {
public:
  virtual ~TilePasses() = default;
  /// Runs a pass on tiles[begin] ... tiles[end - 1], or on the tiles begin ... end - 1 themselves if `tiles` is null.
  virtual void run(Pass pass, const PassFields<S>& fields, const std::int32_t* tiles, std::int32_t begin,
                   std::int32_t end) const = 0;
  /// Packs the edges of this tile for the neighbours: the projected half spinor, or for a neighbour's step -mu its
  /// product with the link.
  virtual void pack(const FaceTargets<S>& targets, const PassFields<S>& fields, const S* spinor,
                    std::int32_t tile) const = 0;

  /// @param link_reals  18 or 12; 18 in float if the layout has fewer lanes than a register
  static std::unique_ptr<TilePasses> make(const lattice::DomainLayout& layout, int link_reals,
                                          Arithmetic arithmetic = Arithmetic::single);
};

/// Reals of a stored link on this layout when `asked` are asked for.
int stored_link_reals(const lattice::DomainLayout& layout, int asked, Arithmetic arithmetic = Arithmetic::single);

/// The passes computed in half.
/// @throws InvalidArgument  where the lanes do not fill a register of halves
std::unique_ptr<TilePasses<core::Half>> passes_in_half(const lattice::DomainLayout& layout, int link_reals);

template <>
std::unique_ptr<TilePasses<float>> TilePasses<float>::make(const lattice::DomainLayout& layout, int link_reals,
                                                           Arithmetic arithmetic);
template <>
std::unique_ptr<TilePasses<core::Half>> TilePasses<core::Half>::make(const lattice::DomainLayout& layout,
                                                                     int link_reals, Arithmetic arithmetic);

}  // namespace halocline::qcd::schwarz
