// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The domain-wall operator of Shamir and Moebius on a device; domain_wall.hpp is the operator on the CPU.
///
/// As there, DeviceDomainWall is A - 1/2 hop, and the points s are columns of the fields. The kernel of the hop also
/// multiplies by A^-1 and A (wilson/detail/hop_fifth.cuh) where no axis is split and the matrices are real, in the
/// storages for which it is compiled. Elsewhere a second kernel does (dirac/cuda_fifth.cuh), which costs 48 reals a
/// site and column more. The vector space sums the dot products.

#include <array>
#include <memory>
#include <optional>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/wilson/cuda_wilson_clover.cuh"

namespace halocline::qcd::device {

/// The matrices of WallMatrices on a device, which operators of one storage share.
template <class S>
struct DeviceWallMatrices {
  /// @throws InvalidArgument  as WallMatrices. Collective: no.
  DeviceWallMatrices(Context& context, const DomainWallAction& action);

  int points;
  bool trivial, source_on_walls;                  ///< as of WallMatrices
  std::array<DeviceFifth<S>, 2> a, inverse_a, b;  ///< by conjugation
  DeviceFifth<S> inverse_b, c, one_minus_cd;

  static std::int64_t bytes(int points) { return 9 * DeviceFifth<S>::bytes(points); }
};

template <class S>
class DeviceDomainWall final : public DeviceDirac<S> {
public:
  using typename DeviceDirac<S>::Field;
  using typename DeviceDirac<S>::Term;
  using typename DeviceDirac<S>::Terms;

  /// @param data      of the Wilson operator inside, DomainWallAction::wilson()
  /// @param columns   Ls times the number of right-hand sides, at most 2048
  /// Collective: yes, where an axis is split.
  DeviceDomainWall(const WilsonData<S>& data, std::shared_ptr<const DeviceWallMatrices<S>> matrices, int columns);

  int points() const noexcept override { return matrices_->points; }
  double diagonal() const noexcept override { return data_.diagonal + 1; }
  const Term* site(int, bool dagger) const noexcept override { return &site_[dagger ? 1 : 0]; }
  const Term* inverse_site(int, bool dagger) const noexcept override { return &inverse_site_[dagger ? 1 : 0]; }
  void hop(Field& out, const Field& in, int target_parity, bool dagger, const Terms& terms) override;
  void multiply_inverse_diagonal(Field& out, const Field& in, int parity, bool dagger = false) override;
  void check() override { hopping_.check(); }
  gpu::FaceExchange* exchange() noexcept override { return hopping_.exchange(); }
  bool sums_in_hop() const noexcept override { return false; }
  /// Whether one kernel computes hop and matrix where it can; true at first. For benchmarks.
  void fuse(bool on) noexcept { fused_ = on; }

  /// y = B x, or B^dagger x, on the sites that both hold. Enqueued. @throws InvalidArgument  for one field, or two that
  /// do not fit
  void from_solution(Field& y, const Field& x, bool dagger = false);

  void load_sources(Field& b, std::span<const std::span<const std::complex<double>>> sources) override;
  void unload_quark(std::span<std::complex<double>> quark, const Field& y, int number) override;
  void unload_midpoint(std::span<std::complex<double>> quark, const Field& y, int number) override;
  void write_quark(std::complex<double>* out, const Field& y, int number, int exponent) override;

  /// Bytes on the device besides links and matrices: the results of hops between two kernels.
  static std::int64_t bytes(const Box& box, int columns) {
    return 2 * DeviceSpinor<S>::bytes(box, lattice::Subset::even, columns);
  }

private:
  /// A field on one parity for results of a hop, made at the first call. Graphs keep its address.
  Field& between(int parity);
  /// x = B^-1 y of one right-hand side: a field of points() columns.
  Field solution(const Field& y, int number);
  void unload(std::span<std::complex<double>> quark, const Field& y, int number, int minus, int plus);

  WilsonData<S> data_;
  std::shared_ptr<const DeviceWallMatrices<S>> matrices_;
  Hopping<S> hopping_;
  std::array<Term, 2> site_, inverse_site_;  ///< by conjugation
  std::array<std::optional<Field>, 2> between_;
  bool fused_ = true;
};

/// M_divided B: the whole operator M, or its Schur complement, from the operator that solvers use.
template <class S>
class DeviceWholeWalls final : public DeviceOperator<S> {
public:
  using Field = DeviceSpinor<S>;

  /// Both are referred to, and must outlive this object.
  DeviceWholeWalls(DeviceOperator<S>& divided, DeviceDomainWall<S>& walls);

private:
  void enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) override;
  bool sums_in_last_kernel() const noexcept override { return false; }

  DeviceOperator<S>* divided_;
  DeviceDomainWall<S>* walls_;
  Field work_;
};

}  // namespace halocline::qcd::device
