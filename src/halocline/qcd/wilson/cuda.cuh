// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one-parity Wilson hopping term on a device, with what solvers add to it in the same kernel.
///
/// The physics of a site is site/hop.hpp, the source that the CPU uses; here are its accessor, the launches, and
/// their order when axes are split: pack the faces, interior sites, and, when all faces are there, one exterior kernel
/// over every site that needs one of them (a corner is one site of one kernel). A boundary site is computed whole, by
/// the same instructions as an interior one, so results do not depend on the process grid by a bit (fixed-point halos
/// carry projected half spinors with a scale of their own, and agree to their rounding).
///
/// The hermitian conjugate is gamma5 hop gamma5: signs at the loads and the stores, at no cost.
///
/// A site and column is 1320 flops, and reads 8 links and 8 spinors, of which caches may hold all but one spinor, and
/// writes a spinor: between 1248 and 576 bytes in float with links of 12 reals, 660 and 296 in fixed16. A thread
/// takes one site and one column, two columns that share the link, or several sites one after another
/// (detail/hop_several.cuh); blocks may be several columns high. The tuner chooses.
/// docs/benchmarks/gpu-kernels.md has the registers and instructions of each case, and what limits it.

#include <memory>
#include <string>

#include "halocline/gpu/sum.cuh"
#include "halocline/qcd/device/clover_array.cuh"
#include "halocline/qcd/device/link_array.cuh"
#include "halocline/qcd/wilson/cuda_halo.cuh"

namespace halocline::qcd::device {

/// out = hop_scale [B] hop(in) + add_scale [A] add, as wilson::HopTerms; and, where `sums` is given, of the result in
/// the same kernel: sum first and first + 1 = Re, Im <with, out> (left out where `with` is null: zeros), first + 2 =
/// |out|^2. They are of the result as computed, or, where an axis is split, as stored: in fixed point not quite the
/// same.
template <class S>
struct HopTerms {
  double hop_scale = 1;
  const DeviceClover<S>* hop_blocks = nullptr;
  const DeviceSpinor<S>* add = nullptr;  ///< holds the target parity; may be out
  double add_scale = 1;
  const DeviceClover<S>* add_blocks = nullptr;
  gpu::SumBuffer* sums = nullptr;
  int first_sum = 0;
  const DeviceSpinor<S>* with = nullptr;  ///< holds the target parity
};

template <class S>
class Hopping {
public:
  /// @param links  kept; @param columns  of the fields, 1 to 32
  /// Collective: yes, where an axis is split (the halo is opened).
  Hopping(std::shared_ptr<const DeviceLinks<S>> links, int columns);
  /// The same links for another number of columns. Collective: as above.
  Hopping(const Hopping& other, int columns);
  ~Hopping();
  Hopping(Hopping&&) noexcept;

  const ContextPtr& context() const noexcept { return links_->context(); }
  int columns() const noexcept { return columns_; }
  int link_reals() const noexcept { return links_->reals(); }

  /// out = hop(in) on the target parity with `terms`; fields that hold one parity or both. Enqueued.
  /// @throws InvalidArgument  fields of other columns or parities, out = in. Collective: yes where an axis is split.
  void apply(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, int target_parity, bool dagger,
             const HopTerms<S>& terms = {});

  /// Tells of a neighbour that did not send: what was computed without its message is NaN. Called by whoever has waited
  /// for results; before that it may see nothing yet.
  /// @throws core::Error  names rank, face, step and policy; on the ranks that missed a message. Collective: no.
  void check() {
    if (halo_) halo_->exchange().check();
  }

  /// Chooses among the halo's policies on all processes together, once. Collective: yes.
  void tune_halo();
  /// Empty where no axis is split.
  const std::string& halo_policy() const;

private:
  struct Work;

  std::shared_ptr<const DeviceLinks<S>> links_;
  int columns_;
  std::unique_ptr<HopHalo<S>> halo_;  ///< none where no axis is split
  std::unique_ptr<Work> work_;
};

extern template class Hopping<double>;
extern template class Hopping<float>;
extern template class Hopping<Fixed16>;
extern template class Hopping<Fixed8>;

}  // namespace halocline::qcd::device
