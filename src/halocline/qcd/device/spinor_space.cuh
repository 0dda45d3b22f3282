// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Device spinor fields as a vector space of the Krylov solvers (solve/vector_space.hpp).
///
/// One kernel carries out a whole list of updates and the dot products that follow them (detail/spinor_algebra.cuh), so
/// a call reads and writes each vector once, as on the CPU. Sums are added in double in a fixed order (gpu/sum.cuh),
/// then over the processes by comm::Reduction. They travel to the host while the next kernels run: the host waits when
/// it uses a value, not when it enqueues the sum. A column has the same bits alone and among other columns.

#include <memory>

#include "halocline/comm/sums/reduction.hpp"
#include "halocline/gpu/sum.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "halocline/solve/recursion.hpp"
#include "halocline/solve/vector_space.hpp"

namespace halocline::qcd::device {

namespace detail {
template <class S>
class ListBuilder;

/// The buffers for the sums of one space, and the reduction of these sums over processes.
class SumPool {
public:
  /// @param sites  number of elements of the longest launch. Collective: yes.
  SumPool(const Context& context, std::int64_t sites, int columns);

  /// Most sums of one buffer: four complex numbers, or the six sums of two hops (HopTerms::sums).
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

/// Sums that may still be in progress. Copies share them.
class PendingSums {
public:
  /// The sums over all processes, [dot][column]; valid as long as this object or a copy lives. The first call waits for
  /// them. Collective: yes, if there are dots; every process must wait for its sums in the same order.
  std::span<const solve::Scalar> wait() const;

  /// How a dot product follows from the sums of a buffer. Its real part is sum number `re`, its imaginary part `sign`
  /// times sum number `im` (-1: zero). With two parities, the sums of parity 1 have numbers larger by `second`; 0 means
  /// that there is one parity.
  struct Recipe {
    int re = 0, im = -1;
    double sign = 1;
    int second = 0;
  };
  /// An empty list of sums.
  PendingSums() = default;
  explicit PendingSums(std::shared_ptr<detail::SumPool> pool);
  /// Takes the first `sums` of a buffer and starts their transfer to the host. The buffer must have been taken from the
  /// pool, and all launches that write it must have been enqueued.
  /// @param recipes  the dot products that follow from this buffer; they are appended to the list
  void add(gpu::Stream& stream, int buffer, int sums, std::span<const Recipe> recipes);

private:
  struct State;
  std::shared_ptr<State> state_;
};

template <class S>
class SpinorSpace {
public:
  using Vector = DeviceSpinor<S>;

  /// Fields of `columns` columns. With a fifth dimension, a vector of the space is `points` columns, one after another,
  /// and columns() is the number of such vectors. Copies share their sum buffers, so only one of them may be in use at
  /// a time.
  /// @param components  complex numbers of a quark at one site, 3 for staggered quarks
  /// @throws InvalidArgument  unless there are 1 to 32 vectors. Collective: yes.
  SpinorSpace(ContextPtr context, lattice::Subset subset, int columns = 1, int points = 1,
              int components = spinor_components);

  int columns() const noexcept { return columns_; }
  int points() const noexcept { return points_; }
  int components() const noexcept { return components_; }
  lattice::Subset subset() const noexcept { return subset_; }
  const ContextPtr& context() const noexcept { return context_; }

  /// A vector of zeros.
  Vector create() const;
  void copy(Vector& out, const Vector& in) const;
  void set_zero(Vector& v) const;
  void axpy(std::span<const solve::Scalar> a, const Vector& x, Vector& y) const;
  void scale(std::span<const solve::Scalar> a, Vector& y) const;
  void dot(std::span<solve::Scalar> out, const Vector& x, const Vector& y) const;
  /// Carries out the updates in order, then the dots. Enqueued.
  /// @throws InvalidArgument  for vectors of another space, or fewer coefficients than columns
  /// Collective: no, but waiting for the sums is.
  PendingSums update_and_reduce(std::span<const solve::Update<Vector>> updates,
                                std::span<const solve::Dot<Vector>> dots) const;

  /// For a recursion: the updates, then the dots, at most two, with the step behind them. Enqueued. Without dots the
  /// updates are those behind the last sum of an iteration. Coefficients come from the list or from the step's memory.
  /// @throws InvalidArgument  as update_and_reduce, or more dots
  void update_and_step(std::span<const solve::Update<Vector>> updates, std::span<const solve::Dot<Vector>> dots,
                       solve::RecursionStep step) const;

  /// The sum buffers, for operators whose own kernel computes sums.
  const std::shared_ptr<detail::SumPool>& sums() const noexcept { return sums_; }
  /// Bytes on the device besides vectors: two buffers of sums, because solvers have at most two in use at a time.
  static std::int64_t bytes(const Box& box, lattice::Subset subset, int columns, int points = 1,
                            int components = spinor_components);

private:
  void check(std::span<const solve::Update<Vector>> updates, std::span<const solve::Dot<Vector>> dots) const;
  void enqueue(detail::ListBuilder<S>& builder, std::span<const solve::Update<Vector>> updates) const;
  /// Number of elements of a vector, over which a launch runs.
  static std::int64_t elements(const Box& box, lattice::Subset subset, int points, int components);
  std::int64_t elements() const { return elements(context_->box, subset_, points_, components_); }

  ContextPtr context_;
  lattice::Subset subset_;
  int columns_, points_, components_;
  std::shared_ptr<detail::SumPool> sums_;
};

/// |v| of each column. Waits. Collective: yes.
template <class S>
std::vector<double> norms(const SpinorSpace<S>& space, const DeviceSpinor<S>& v);

/// out = factor in on one parity; both must hold it. Enqueued.
template <class S>
void assign_parity(DeviceSpinor<S>& out, double factor, const DeviceSpinor<S>& in, int parity);

/// Which spins of a field are written: all, or those of one chirality.
enum class Spins { all, upper, lower };

/// Writes 2^exponent times a column of a full field to device memory, as complex numbers in canonical order
/// [t][z][y][x][spin][colour], or [t][z][y][x][colour] of staggered quarks; other spins there keep their values. `out`
/// must be aligned to 16 bytes. Enqueued.
void write_canonical(std::complex<double>* out, const DeviceSpinor<double>& in, int column, int exponent,
                     Spins spins = Spins::all);

}  // namespace halocline::qcd::device
