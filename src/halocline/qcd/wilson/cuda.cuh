// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The one-parity Wilson hopping term on a device. The same kernel can apply the clover blocks, add a field and sum dot
/// products for a solver.
///
/// The physics of a site is site/hop.hpp, the source that the CPU uses too. Here are its accessor, the launches, and
/// their order when axes are split. First a kernel packs the faces, then a kernel computes the interior sites. When
/// all faces have arrived, one exterior kernel computes every site that needs one of them, a corner site once. (Some
/// halo policies fuse these kernels, detail/halo_apply.cuh.) The same instructions compute exterior and interior
/// sites, so results do not depend on the process grid by a bit. The exception is fixed point: its halos carry
/// projected half spinors with a scale of their own, and results agree to the rounding of these.
///
/// The hermitian conjugate is gamma5 hop gamma5: signs at the loads and the stores, at no cost.
///
/// A site and column takes 1320 flops. It reads 8 links and 8 spinors and writes a spinor. Caches may hold all but
/// one of the spinors that it reads, so its traffic is between
///
///   | bytes, links of 12 reals | no spinor from caches | all but one from caches |
///   |--------------------------|-----------------------|-------------------------|
///   | float                    | 1248                  | 576                     |
///   | fixed16                  | 660                   | 296                     |
///
/// A thread takes one column of one site, two columns that share the link, or several sites one after another
/// (detail/hop_several.cuh). Blocks may be several columns high. The tuner chooses. docs/benchmarks/gpu-kernels.md
/// lists the registers and instructions of each case, and the limit of its speed.

#include <memory>
#include <string>

#include "halocline/gpu/sum.cuh"
#include "halocline/qcd/device/clover_array.cuh"
#include "halocline/qcd/device/link_array.cuh"
#include "halocline/qcd/dirac/cuda_fifth.cuh"
#include "halocline/qcd/wilson/cuda_halo.cuh"
#include "halocline/solve/recursion.hpp"

namespace halocline::qcd::device {

/// out = hop_scale [B] hop(in) + add_scale [A] add, as wilson::HopTerms. If `sums` is given, also three sums over out:
///
///   first_sum        Re <with, out>; 0 if `with` is null
///   first_sum + 1    Im <with, out>; 0 if `with` is null
///   first_sum + 2    |out|^2
///
/// Without split axes, the kernel of the hop sums the result as computed. With split axes, a further kernel sums the
/// result as stored. In fixed point the two differ by the rounding of the store.
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
  solve::RecursionStep step{};            ///< of a recursion: follows the sums, which then do not go to the host
  /// Multiply the hop, and the field that is added, along the columns; only where fuses(), without blocks, `with` and
  /// sums
  const DeviceFifth<S>* hop_fifth = nullptr;
  const DeviceFifth<S>* add_fifth = nullptr;
};

template <class S>
class Hopping {
public:
  /// @param links  kept; @param columns  of the fields, 1 to 2048. @throws InvalidArgument  for other numbers
  /// Collective: yes, where an axis is split (the constructor opens the halo, and tunes its policy if it is "auto").
  Hopping(std::shared_ptr<const DeviceLinks<S>> links, int columns);
  /// The same operator for another number of columns; shares the links. Collective: as above.
  Hopping(const Hopping& other, int columns);
  ~Hopping();
  Hopping(Hopping&&) noexcept;

  const ContextPtr& context() const noexcept { return links_->context(); }
  int columns() const noexcept { return columns_; }
  int link_reals() const noexcept { return links_->reals(); }

  /// out = hop(in) on the target parity, with `terms`. Fields hold one parity or both. Enqueued.
  /// @throws InvalidArgument  for fields of other columns or parities, or if out and in are one field
  /// Collective: yes where an axis is split.
  void apply(DeviceSpinor<S>& out, const DeviceSpinor<S>& in, int target_parity, bool dagger,
             const HopTerms<S>& terms = {});

  /// Whether apply() takes this matrix of a fifth dimension: a real one, with no axis split, in the storages for which
  /// the kernel is compiled.
  bool fuses(const DeviceFifth<S>& fifth) const;

  /// Throws if a neighbour's message never arrived; affected sites are NaN. Call after synchronizing the stream: an
  /// earlier call may miss the failure.
  /// @throws core::Error  names rank, face, step and policy; on the ranks that missed a message. Collective: no.
  void check() {
    if (halo_) halo_->exchange().check();
  }

  /// Chooses the fastest halo policy, by measurements on all processes together or from the tuner's memory. Does
  /// nothing without a halo. Collective: yes.
  void tune_halo();
  /// The exchange of the halo; null if no axis is split. Valid until tune_halo().
  gpu::FaceExchange* exchange() noexcept { return halo_ ? &halo_->exchange() : nullptr; }
  /// The name of the halo policy; empty if no axis is split.
  const std::string& halo_policy() const;
  /// Whether exterior sites are computed in two parts (HaloChoice::split_sites).
  bool splits_sites() const;

private:
  struct Work;

  std::shared_ptr<const DeviceLinks<S>> links_;
  int columns_;
  std::unique_ptr<HopHalo<S>> halo_;  ///< null if no axis is split
  std::unique_ptr<Work> work_;
};

extern template class Hopping<double>;
extern template class Hopping<float>;
extern template class Hopping<Fixed16>;
extern template class Hopping<Fixed8>;

}  // namespace halocline::qcd::device
