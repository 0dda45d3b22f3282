// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// An operator on device fields for the Krylov solvers. The dot products that follow an application are fused into its
/// last kernel where that is possible.
///
/// On a small box a chain of kernels takes less time than its launches. So the second application to the same memory,
/// when all tuning and allocation are done, captures the chain in a graph. Later applications replay the graph; this
/// pays because a solver returns to the same few vectors. A graph holds the addresses of vectors and not their
/// contents, so it is also right for a vector that occupies the same memory later.

#include <memory>
#include <tuple>

#include "halocline/qcd/device/recursion.cuh"

namespace halocline::qcd::device {

/// A graph of an application is used up to this many sites times columns, one of an iteration with two applications up
/// to twice as many. The value is 16^4, the volume at which papers on strong scaling find launches to cost as much as
/// kernels. There a hop in a graph takes a tenth less on an H200; other limits have not been tried. No result depends
/// on it.
inline constexpr std::int64_t graph_sites = 65536;

/// The dot products that a last kernel computes, as described at HopTerms; none without a buffer.
template <class S>
struct ResultSums {
  gpu::SumBuffer* buffer = nullptr;
  const DeviceSpinor<S>* with = nullptr;
  solve::RecursionStep step{};  ///< if it is one, it follows the sums
};

template <class S>
class DeviceOperator {
public:
  using Field = DeviceSpinor<S>;

  virtual ~DeviceOperator() = default;
  DeviceOperator(const DeviceOperator&) = delete;
  DeviceOperator& operator=(const DeviceOperator&) = delete;

  const ContextPtr& context() const noexcept { return context_; }
  lattice::Subset subset() const noexcept { return subset_; }
  int columns() const noexcept { return columns_; }
  /// Complex numbers of a quark at one site: 12, or 3 for staggered quarks.
  int components() const noexcept { return components_; }
  /// True if A is hermitian and positive, so that conjugate gradients solve it without the normal equations.
  virtual bool hermitian_positive() const noexcept { return false; }

  /// out = A in, on two different fields of subset() and columns(). Enqueued.
  /// @throws InvalidArgument  for other fields. Collective: yes, if an axis is split.
  void apply(Field& out, const Field& in) { run(out, in, false, {}); }
  void apply_dagger(Field& out, const Field& in) { run(out, in, true, {}); }
  /// The same with dot products (solve/operators.hpp). The last kernel computes them if all are products of `out` with
  /// itself or with one other vector, and the operator supports sums there. Otherwise a pass of the space computes all.
  PendingSums apply_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in,
                               std::span<const solve::Dot<Field>> dots) {
    return run_and_reduce(space, out, in, false, dots);
  }
  PendingSums apply_dagger_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in,
                                      std::span<const solve::Dot<Field>> dots) {
    return run_and_reduce(space, out, in, true, dots);
  }

  /// The recursion of solvers that run ahead, made at the first call for a space; null on several processes, or if
  /// use_recursion(false) was called. Valid until the call for another space.
  Recursion<S>* recursion(const SpinorSpace<S>& space);
  void use_recursion(bool on) noexcept { recursion_wanted_ = on; }
  /// As apply_and_reduce, within a recursion.
  void apply_and_step(const SpinorSpace<S>& space, Field& out, const Field& in, bool dagger,
                      std::span<const solve::Dot<Field>> dots, solve::RecursionStep step);

  /// On: applications and iterations use graphs, except on large boxes, and with halos that no graph can hold. Off:
  /// all kernels are launched one by one.
  void use_graphs(bool on) noexcept { graphs_wanted_ = on; }
  /// Number of graphs kept, of applications and of iterations.
  std::size_t graphs() const noexcept;
  /// Whether graphs are used for so many applications.
  bool records(int applications) noexcept;
  /// The exchange of the operator's halos; null for none.
  virtual gpu::FaceExchange* exchange() noexcept { return nullptr; }

protected:
  DeviceOperator(ContextPtr context, lattice::Subset subset, int columns, int components = spinor_components)
      : context_(std::move(context)), subset_(subset), columns_(columns), components_(components) {}

  /// Enqueues the application. If sums are asked for, every parity that the field holds leaves three in the buffer, as
  /// described at HopTerms: the first parity sums 0 to 2, the second sums 3 to 5. A step is given for one parity only.
  virtual void enqueue(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) = 0;

  /// Whether enqueue() accepts `sums`.
  virtual bool sums_in_last_kernel() const noexcept { return true; }

private:
  using Key = std::tuple<const void*, const void*, const void*, const void*, const void*, std::uint64_t, bool>;
  void run(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums);
  PendingSums run_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in, bool dagger,
                             std::span<const solve::Dot<Field>> dots);

  ContextPtr context_;
  lattice::Subset subset_;
  int columns_, components_;
  bool graphs_wanted_ = true;
  gpu::RepeatedWork<Key> applications_{64};
  bool recursion_wanted_ = true;
  std::unique_ptr<Recursion<S>> recursion_;
  const SpinorSpace<S>* recursion_space_ = nullptr;
};

}  // namespace halocline::qcd::device
