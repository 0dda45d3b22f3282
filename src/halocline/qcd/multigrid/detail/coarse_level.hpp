// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a coarse level holds, and the linear system that its solver and its smoother see.
///
/// On a lattice with parities the system is the Schur complement on the even sites (coarse_schur.hpp), with vectors of
/// half the length; otherwise it is D_c itself. Both have the same members, so solvers are written once. The cycle of
/// the next level works on the whole lattice in either case: if r is a residual of the Schur complement, then
/// (S_e r, 0) is the residual of D_c with the same even part of the error.
///
/// A level has its own lattice::Geometry4, and with it its own group of processes. A level that is gathered on fewer
/// processes has a `gathering`; on a process that holds nothing of the level this is all.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "halocline/lattice/gathering.hpp"
#include "halocline/qcd/multigrid/coarse_deflation.hpp"
#include "halocline/qcd/multigrid/coarse_operator.hpp"
#include "halocline/qcd/multigrid/coarse_schur.hpp"
#include "halocline/qcd/multigrid/coarse_transfer.hpp"
#include "halocline/qcd/multigrid/dense_inverse.hpp"
#include "halocline/qcd/multigrid/transfer.hpp"

namespace halocline::qcd::multigrid {

/// A coarse level in one storage. Above the coarsest it has `transfer`; the coarsest has `dense` or `deflation`, both
/// of the system of the level.
template <class S>
struct CoarseLevel {
  std::shared_ptr<lattice::Gathering> gathering;  ///< from the processes of the level above; null if they are the same
  std::shared_ptr<const CoarseBlocks<S>> blocks;
  std::shared_ptr<const InverseBlocks<S>> inverse;    ///< null where the lattice has no parities
  std::shared_ptr<const CoarseTransfer<S>> transfer;  ///< to the next level
  std::shared_ptr<const DenseInverse> dense;
  std::shared_ptr<const CoarseDeflation> deflation;

  std::int64_t bytes() const {
    return (blocks ? blocks->bytes() : 0) + (inverse ? inverse->bytes() : 0) + (transfer ? transfer->bytes() : 0) +
           (dense ? dense->bytes() : 0) + (deflation ? deflation->bytes() : 0);
  }
};

/// All coarse levels in one storage.
template <class S>
struct CoarseGrid {
  std::shared_ptr<const Transfer<S>> transfer;  ///< between the fine level and the first coarse one
  /// The operator of the first coarse level on the processes of the fine lattice.
  std::shared_ptr<const CoarseBlocks<S>> blocks;
  std::vector<CoarseLevel<S>> levels;  ///< the first coarse level, and those below it
};

/// The Schur complement of a level for fields of a number of columns.
template <class S>
class EvenOddSystem {
public:
  /// Collective: yes.
  EvenOddSystem(const CoarseLevel<S>& level, int columns, const std::string& transport)
      : schur_(level.blocks, level.inverse, columns, transport),
        space_(schur_.space()),
        x_(space_.create()),
        b_(space_.create()),
        whole_(level.blocks->geometry()->local_volume(), level.blocks->rows(), columns) {}

  CoarseSpace& space() noexcept { return space_; }
  /// Collective: yes where an axis is split.
  void apply(CoarseField& out, const CoarseField& in) { schur_.apply(out, in); }
  /// Solves D_c x = b on the whole lattice with `solve(x, b)` for the system. Collective: as solve, and yes where an
  /// axis is split.
  template <class Solve>
  void solve(CoarseField& x, const CoarseField& b, const Solve& solve) {
    schur_.prepare(b_, b);
    solve(x_, b_);
    schur_.reconstruct(x, x_, b);
  }
  /// The residual on the whole lattice that belongs to a residual of the system. Valid until the next call of this
  /// object. Collective: no.
  const CoarseField& whole(const CoarseField& residual) {
    schur_.spread(whole_, residual);
    return whole_;
  }
  /// The part of a vector of the whole lattice that belongs to the system; `fill` writes the vector. Collective: as
  /// fill.
  template <class Fill>
  void part(CoarseField& out, const Fill& fill) {
    fill(whole_);
    schur_.even_part(out, whole_);
  }

private:
  CoarseSchur<S> schur_;
  CoarseSpace space_;
  CoarseField x_, b_, whole_;
};

/// D_c of a level; the same members.
template <class S>
class WholeSystem {
public:
  WholeSystem(const CoarseLevel<S>& level, int columns, const std::string& transport)
      : d_(level.blocks, columns, transport), space_(level.blocks->geometry(), level.blocks->rows(), columns) {}

  CoarseSpace& space() noexcept { return space_; }
  void apply(CoarseField& out, const CoarseField& in) { d_.apply(out, in); }
  template <class Solve>
  void solve(CoarseField& x, const CoarseField& b, const Solve& solve) {
    solve(x, b);
  }
  const CoarseField& whole(const CoarseField& residual) { return residual; }
  template <class Fill>
  void part(CoarseField& out, const Fill& fill) {
    fill(out);
  }

private:
  CoarseOperator<S> d_;
  CoarseSpace space_;
};

/// Calls body.template operator()<System>() with the system of a level.
template <class S, class Body>
auto with_system(const CoarseLevel<S>& level, const Body& body) {
  return level.inverse ? body.template operator()<EvenOddSystem<S>>() : body.template operator()<WholeSystem<S>>();
}

}  // namespace halocline::qcd::multigrid
