// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The twisted-mass operator on a device; twisted_clover.hpp is the operator on the CPU.
///
/// A second kernel applies the site terms after the hop. This costs 48 reals a site and column more than a fused
/// kernel would. The vector space sums the dot products.

#include <array>

#include "halocline/qcd/wilson/cuda_wilson_clover.cuh"

namespace halocline::qcd::device {

template <class S>
class DeviceTwisted final : public DeviceDirac<S> {
public:
  using typename DeviceDirac<S>::Field;
  using typename DeviceDirac<S>::Term;
  using typename DeviceDirac<S>::Terms;

  /// @param data     with mu not 0, and the inverse blocks (A^2 + mu^2)^-1
  /// @param columns  1 to 2048. Collective: yes, where an axis is split.
  DeviceTwisted(const WilsonData<S>& data, int columns);

  double diagonal() const noexcept override { return data_.diagonal; }
  const Term* site(int, bool dagger) const noexcept override { return &site_[dagger ? 1 : 0]; }
  const Term* inverse_site(int, bool dagger) const noexcept override { return &inverse_site_[dagger ? 1 : 0]; }
  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) override;
  void check() override { hopping_.check(); }
  gpu::FaceExchange* exchange() noexcept override { return hopping_.exchange(); }
  bool sums_in_hop() const noexcept override { return false; }

private:
  WilsonData<S> data_;
  Hopping<S> hopping_;
  std::array<Term, 2> site_, inverse_site_;  ///< by conjugation
};

}  // namespace halocline::qcd::device
