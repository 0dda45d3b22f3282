// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Device spinor fields as a vector space of the Krylov solvers (solve/vector_space.hpp).
///
/// One kernel carries out a whole list of updates and the dot products that follow them (detail/spinor_algebra.cuh), so
/// an iteration reads and writes each vector once a call, as on the CPU. Sums are added in double in a fixed order
/// (gpu/sum.cuh), then over the processes by comm::Reduction. Sums travel to the host while the next kernels run: the
/// host waits where a value is used, not where it is made. The results of a column have the same bits whatever its
/// neighbours are.

#include <memory>

#include "halocline/comm/sums/reduction.hpp"
#include "halocline/gpu/sum.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd::device {

namespace detail {
/// The buffers for the sums of one space, and the reduction over processes.
class SumPool {
public:
  /// @param sites  of the longest launch. Collective: yes.
  SumPool(const Context& context, std::int64_t sites, int columns);

  /// Sums of one buffer: four complex numbers, or what two hops leave (HopTerms::sums).
  static constexpr int most_sums = 8;
  /// Takes the lowest free buffer, or makes a new one if none is free. So a loop gets the same buffers in every pass.
  int take();
  void give_back(int buffer) noexcept { busy_[static_cast<std::size_t>(buffer)] = false; }
  gpu::SumBuffer& buffer(int number) noexcept { return *buffers_[static_cast<std::size_t>(number)]; }
  comm::Reduction& reduction() noexcept { return reduction_; }
  int columns() const noexcept { return columns_; }
  /// Bytes on the device of one buffer.
  static std::int64_t bytes(std::int64_t sites, int columns);

private:
  gpu::Device device_;
  std::int64_t sites_;
  int columns_;
  std::vector<std::unique_ptr<gpu::SumBuffer>> buffers_;
  std::vector<bool> busy_;
  comm::Reduction reduction_;
};
}  // namespace detail

/// Sums that may still be under way. Copies share them.
class PendingSums {
public:
  /// [dot][column], added over all processes; valid as long as this or a copy lives. The first call waits for the sums.
  /// Collective: yes, in the order of the calls that made them, where there are dots.
  std::span<const solve::Scalar> wait() const;

  /// How a dot product is made from the sums of a buffer: sum `re` is its real part, `sign` times sum `im` its
  /// imaginary part. With two parities, the sums of the second one are `second` farther on (0: there is one parity).
  struct Recipe {
    int re = 0, im = -1;
    double sign = 1;
    int second = 0;
  };
  /// No sums.
  PendingSums() = default;
  explicit PendingSums(std::shared_ptr<detail::SumPool> pool);
  /// Takes the first `sums` of a buffer and starts their transfer to the host. The buffer must have been taken from the
  /// pool, and all launches that write it must have been enqueued. @param recipes  the dot products that come from the
  /// buffer, next in the list
  void add(gpu::Stream& stream, int buffer, int sums, std::span<const Recipe> recipes);

private:
  struct State;
  std::shared_ptr<State> state_;
};

template <class S>
class SpinorSpace {
public:
  using Vector = DeviceSpinor<S>;

  /// Copies share their sum buffers, so only one of them may be in use at a time. Collective: yes.
  SpinorSpace(ContextPtr context, lattice::Subset subset, int columns = 1);

  int columns() const noexcept { return columns_; }
  lattice::Subset subset() const noexcept { return subset_; }
  const ContextPtr& context() const noexcept { return context_; }

  /// All zero.
  Vector create() const;
  void copy(Vector& out, const Vector& in) const;
  void set_zero(Vector& v) const;
  void axpy(std::span<const solve::Scalar> a, const Vector& x, Vector& y) const;
  void scale(std::span<const solve::Scalar> a, Vector& y) const;
  void dot(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const;
  /// The updates in order, then the dots; enqueued. @throws InvalidArgument  vectors of another space, or fewer
  /// coefficients than columns. Collective: no; waiting for the sums is.
  PendingSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                std::span<const solve::Dot<Vector>> dots) const;

  /// For operators whose own kernel computes sums.
  const std::shared_ptr<detail::SumPool>& sums() const noexcept { return sums_; }
  /// Bytes on the device besides vectors: two buffers of sums, the most that the solvers have under way.
  static std::int64_t bytes(const Box& box, lattice::Subset subset, int columns);

private:
  /// Elements of a column that a launch runs over.
  static std::int64_t elements(const Box& box, lattice::Subset subset);

  ContextPtr context_;
  lattice::Subset subset_;
  int columns_;
  std::shared_ptr<detail::SumPool> sums_;
};

/// |v| of each column. Waits. Collective: yes.
template <class S>
std::vector<double> norms(const SpinorSpace<S>& space, const DeviceSpinor<S>& v);

/// out = factor in on one parity; both must hold it. Enqueued.
template <class S>
void assign_parity(DeviceSpinor<S>& out, double factor, const DeviceSpinor<S>& in, int parity);

/// 2^exponent times a column of a full field, to complex numbers in canonical order [t][z][y][x][spin][colour] in
/// device memory, 16-byte aligned. Enqueued.
void write_canonical(std::complex<double>* out, const DeviceSpinor<double>& in, int column, int exponent);

}  // namespace halocline::qcd::device
