// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator D = A - 1/2 hop on a device, as wilson/wilson_clover.hpp has it on a processor.

#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/device/operator.cuh"
#include "halocline/qcd/wilson/cuda.cuh"

namespace halocline::qcd::device {

/// What operators of one storage share, for any number of columns: links, A and A^-1.
template <class S>
struct WilsonData {
  std::shared_ptr<const DeviceLinks<S>> links;
  std::shared_ptr<const DeviceClover<S>> blocks{}, inverse{};  ///< null without a clover term
  double diagonal = 1;                                         ///< A without a clover term
};
/// @param links, clover  of the same box; @param link_reals  18, 12 or 8
/// A is kept in 56 reals, its inverse in 72.
/// @throws InvalidArgument  as DeviceLinks does. Collective: no.
template <class S>
WilsonData<S> wilson_data(const ContextPtr& context, const HostLinks& links, const HostClover& clover,
                          const ActionParameters& action, int link_reals);
/// Bytes of them on the device.
template <class S>
std::int64_t wilson_bytes(const Box& box, bool clover, int link_reals);

template <class S>
class DeviceWilson : public DeviceOperator<S> {
public:
  using Field = DeviceSpinor<S>;

  /// @param columns  1 to 32. Collective: yes, where an axis is split.
  DeviceWilson(const WilsonData<S>& data, int columns);

  double diagonal() const noexcept { return data_.diagonal; }
  Hopping<S>& hopping() noexcept { return hopping_; }
  /// A and A^-1; null without a clover term, when A is diagonal().
  const DeviceClover<S>* blocks() const noexcept { return data_.blocks.get(); }
  const DeviceClover<S>* inverse_blocks() const noexcept { return data_.inverse.get(); }

  /// out = A^-1 in on one parity, which both must hold; out may be in. Enqueued.
  void multiply_inverse_diagonal(Field& out, const Field& in, int parity) const;

private:
  void enqueue(Field& out, const Field& in, bool dagger, gpu::SumBuffer* sums, const Field* with) override;

  WilsonData<S> data_;
  Hopping<S> hopping_;
};

}  // namespace halocline::qcd::device
