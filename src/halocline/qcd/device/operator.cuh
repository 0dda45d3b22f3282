// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// An operator on device fields for the Krylov solvers. The dot products that follow an application are fused into its
/// last kernel.
///
/// On a small box a chain of kernels takes less time than its launches. Then the chain is captured in a graph the
/// second time that it is asked for with the same memory, when all tuning and allocation are done. From then on the
/// graph is replayed, because a solver returns to the same few vectors. A graph holds addresses and not the contents of
/// vectors, so it stays right for any vector of this operator that later occupies this memory.

#include <map>
#include <optional>
#include <tuple>

#include "halocline/qcd/device/spinor_space.cuh"

namespace halocline::qcd::device {

/// Boxes of at most this many sites times columns are replayed from graphs: 16^4, the volume at which papers on strong
/// scaling find launches to cost as much as kernels. To be tuned by measurements on a GPU; no result depends on it.
inline constexpr std::int64_t graph_sites = 65536;

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

  /// out = A in, on fields of subset() and columns(), not the same field. Enqueued.
  /// @throws InvalidArgument  for other fields. Collective: yes, where an axis is split.
  void apply(Field& out, const Field& in) { run(out, in, false, nullptr, nullptr); }
  void apply_dagger(Field& out, const Field& in) { run(out, in, true, nullptr, nullptr); }
  /// The same with dot products (solve/operators.hpp). Dot products of `out` with itself and with at most one other
  /// vector come from the last kernel, all others from a pass of the space.
  PendingSums apply_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in,
                               std::span<const solve::Dot<Field>> dots) {
    return run_and_reduce(space, out, in, false, dots);
  }
  PendingSums apply_dagger_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in,
                                      std::span<const solve::Dot<Field>> dots) {
    return run_and_reduce(space, out, in, true, dots);
  }

  /// Off: every application is launched kernel by kernel. On: so are applications on large and on split boxes; others
  /// use graphs.
  void use_graphs(bool on) noexcept { graphs_wanted_ = on; }
  /// Number of graphs kept.
  std::size_t graphs() const noexcept;

protected:
  DeviceOperator(ContextPtr context, lattice::Subset subset, int columns)
      : context_(std::move(context)), subset_(subset), columns_(columns) {}

  /// Enqueues the application. If `sums` is given, the parities that the field holds, counted p = 0 ... in order, leave
  /// sums 3 p, 3 p + 1 and 3 p + 2 in it, as HopTerms say.
  virtual void enqueue(Field& out, const Field& in, bool dagger, gpu::SumBuffer* sums, const Field* with) = 0;

  /// enqueue() can be given sums.
  virtual bool sums_in_last_kernel() const noexcept { return true; }

private:
  using Key = std::tuple<const void*, const void*, const void*, const void*, const void*, bool>;
  struct Entry {
    bool seen = false;
    std::optional<gpu::Graph> graph;
  };

  void run(Field& out, const Field& in, bool dagger, gpu::SumBuffer* sums, const Field* with);
  PendingSums run_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in, bool dagger,
                             std::span<const solve::Dot<Field>> dots);

  ContextPtr context_;
  lattice::Subset subset_;
  int columns_;
  bool graphs_wanted_ = true;
  std::map<Key, Entry> cache_;
};

}  // namespace halocline::qcd::device
