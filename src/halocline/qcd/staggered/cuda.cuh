// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The operator of staggered quarks on a device; staggered.hpp is the operator on the CPU.
///
/// A thread computes one column of one site. Its matrices are read whole and coalesced, those of several columns from
/// the caches. Links and fields are in double or float. Fat links are not unitary, so fixed point, whose links are
/// relative to one, does not hold them. The vector space sums the dot products.
///
/// A site and column takes 72 flops for each of 8 or 16 steps. It reads 18 reals a step of links, which columns share,
/// and 6 reals a step of neighbours, most of them from caches.
///
/// A process computes a box of its own: axes split between processes are not built.

#include <memory>

#include "halocline/qcd/dirac/cuda.cuh"
#include "halocline/qcd/staggered/host_links.hpp"

namespace halocline::qcd::device {

/// The links of one action on a device, [parity][step][piece][site], and the mass. Operators of any number of columns
/// share them.
/// @tparam S  double or float
template <class S>
class DeviceStaggeredLinks {
public:
  /// @throws InvalidArgument  for a box of another shape, an axis that is split or has less than 3 sites with long
  ///                          links, or sites of one parity that are no multiple of 4; on every rank. Collective: no.
  DeviceStaggeredLinks(ContextPtr context, const HostStaggeredLinks& links, double mass);

  const ContextPtr& context() const noexcept { return context_; }
  double mass() const noexcept { return mass_; }
  int steps() const noexcept { return steps_; }
  /// The links of one parity of target sites.
  const S* data(int parity) const noexcept;

  static std::int64_t bytes(const Box& box, int steps);

private:
  ContextPtr context_;  // destroyed after the memory
  double mass_;
  int steps_;
  gpu::DeviceArray<std::byte> memory_;
};

template <class S>
class DeviceStaggered final : public DeviceDirac<S> {
public:
  using typename DeviceDirac<S>::Field;
  using typename DeviceDirac<S>::Term;
  using typename DeviceDirac<S>::Terms;

  /// @param columns  1 to 2048. Collective: no.
  DeviceStaggered(std::shared_ptr<const DeviceStaggeredLinks<S>> links, int columns);

  double diagonal() const noexcept override { return links_->mass(); }
  const Term* site(int, bool) const noexcept override { return nullptr; }
  const Term* inverse_site(int, bool) const noexcept override { return nullptr; }
  bool hermitian_schur() const noexcept override { return true; }
  /// @throws InvalidArgument  for terms with blocks, which belong to other actions; and as DeviceDirac::hop
  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) override;
  void check() override {}
  bool sums_in_hop() const noexcept override { return false; }

private:
  std::shared_ptr<const DeviceStaggeredLinks<S>> links_;
};

extern template class DeviceStaggeredLinks<double>;
extern template class DeviceStaggeredLinks<float>;
extern template class DeviceStaggered<double>;
extern template class DeviceStaggered<float>;

}  // namespace halocline::qcd::device
