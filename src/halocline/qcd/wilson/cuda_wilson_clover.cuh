// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson-clover operator D = A - 1/2 hop on a device; wilson/wilson_clover.hpp is the operator on the CPU.

#include "halocline/qcd/clover/host_clover.hpp"
#include "halocline/qcd/dirac/cuda.cuh"
#include "halocline/qcd/wilson/cuda.cuh"

namespace halocline::qcd::device {

/// The data that operators of one storage share for any number of columns: links, A and A^-1.
template <class S>
struct WilsonData {
  std::shared_ptr<const DeviceLinks<S>> links;
  std::shared_ptr<const DeviceClover<S>> blocks{}, inverse{};  ///< as in HostClover; null without a clover term
  double diagonal = 1;                                         ///< A without a clover term
  double mu = 0;                                               ///< twisted mass
};
/// Copies links and clover blocks to the device, A in 56 reals a site and its inverse in 72.
/// @param links, clover  of the same box; @param link_reals  18, 12 or 8
/// @throws InvalidArgument  as DeviceLinks does. Collective: no.
template <class S>
WilsonData<S> wilson_data(const ContextPtr& context, const HostLinks& links, const HostClover& clover,
                          const Action& action, int link_reals);
/// Bytes that WilsonData takes on the device.
template <class S>
std::int64_t wilson_bytes(const Box& box, bool clover, int link_reals);

/// The terms of an operator without a twist, for the kernel of the hop.
template <class S>
HopTerms<S> hop_terms(const DeviceTerms<S>& terms);

template <class S>
class DeviceWilson final : public DeviceDirac<S> {
public:
  using typename DeviceDirac<S>::Field;
  using typename DeviceDirac<S>::Term;
  using typename DeviceDirac<S>::Terms;

  /// @param columns  1 to 2048. Collective: yes, where an axis is split.
  DeviceWilson(const WilsonData<S>& data, int columns);

  double diagonal() const noexcept override { return data_.diagonal; }
  const Term* site(int, bool) const noexcept override { return site_.first != nullptr ? &site_ : nullptr; }
  const Term* inverse_site(int, bool) const noexcept override {
    return inverse_site_.first != nullptr ? &inverse_site_ : nullptr;
  }
  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) override;
  void check() override { hopping_.check(); }
  gpu::FaceExchange* exchange() noexcept override { return hopping_.exchange(); }
  bool sums_in_hop() const noexcept override { return true; }
  Hopping<S>& hopping() noexcept { return hopping_; }

private:
  WilsonData<S> data_;
  Hopping<S> hopping_;
  Term site_, inverse_site_;
};

}  // namespace halocline::qcd::device
