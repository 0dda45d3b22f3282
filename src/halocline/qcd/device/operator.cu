// SPDX-License-Identifier: Apache-2.0
//
// Host code only. In nvcc's pass for a GPU architecture this file is empty and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/device/operator.cuh"

#include <string>

#include "halocline/core/error.hpp"

namespace halocline::qcd::device {
namespace {

/// Most graphs that an operator keeps. A larger number means that the caller keeps allocating new vectors and does not
/// return to the old ones.
constexpr std::size_t most_graphs = 64;

/// The dot products of a call, if the hop can compute all of them: products of `out` with itself and with at most one
/// other vector.
template <class S>
struct FusedDots {
  FusedDots(const DeviceSpinor<S>& out, std::span<const solve::Dot<DeviceSpinor<S>>> dots, int second) {
    for (const auto& dot : dots) {
      if (dot.left == &out && dot.right == &out) {
        recipes.push_back({.re = 2, .im = -1, .sign = 1, .second = second});
        continue;
      }
      const bool from_left = dot.right == &out;
      const DeviceSpinor<S>* other = from_left ? dot.left : dot.right;
      possible = possible && (from_left || dot.left == &out) && (with == nullptr || with == other);
      with = other;
      recipes.push_back({.re = 0, .im = 1, .sign = from_left ? 1.0 : -1.0, .second = second});
    }
    possible = possible && !dots.empty();
  }

  bool possible = true;
  const DeviceSpinor<S>* with = nullptr;
  std::vector<PendingSums::Recipe> recipes;
};

}  // namespace

template <class S>
std::size_t DeviceOperator<S>::graphs() const noexcept {
  std::size_t count = 0;
  for (const auto& [key, entry] : cache_) count += entry.graph ? 1 : 0;
  return count;
}

template <class S>
void DeviceOperator<S>::run(Field& out, const Field& in, bool dagger, gpu::SumBuffer* sums, const Field* with) {
  if (out.subset() != subset_ || in.subset() != subset_ || out.columns() != columns_ || in.columns() != columns_ ||
      out.context() != context_ || in.context() != context_ || &out == &in)
    throw core::InvalidArgument("an operator on a device, for " + std::to_string(columns_) +
                                " columns, was given fields of " + std::to_string(in.columns()) + " and " +
                                std::to_string(out.columns()) +
                                ", of another subset or box, or one field twice; give two fields of its subset(), "
                                "columns() and context()");
  const Box& box = context_->box;
  // A halo exchange changes its buffers from step to step and may need the host, so a graph cannot repeat it.
  if (!graphs_wanted_ || box.split != 0 || context_->stream.capturing() ||
      2 * std::int64_t{box.sites} * columns_ > graph_sites)
    return enqueue(out, in, dagger, sums, with);
  const Key key{out.memory().data(),
                in.memory().data(),
                with != nullptr ? with->memory().data() : nullptr,
                sums != nullptr ? sums->total(0) : nullptr,
                sums != nullptr ? sums->partial(1) : nullptr,
                dagger};
  if (cache_.size() >= most_graphs && !cache_.contains(key)) cache_.clear();
  Entry& entry = cache_[key];
  if (!entry.seen) {
    entry.seen = true;
    return enqueue(out, in, dagger, sums, with);
  }
  if (!entry.graph) {
    context_->stream.begin_capture();
    try {
      enqueue(out, in, dagger, sums, with);
    } catch (...) {
      try {
        context_->stream.end_capture();
      } catch (...) {
        // Only the first error matters; it is thrown again below.
      }
      throw;
    }
    entry.graph.emplace(context_->stream.end_capture());
  }
  context_->stream.launch(*entry.graph);
}

template <class S>
PendingSums DeviceOperator<S>::run_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in, bool dagger,
                                              std::span<const solve::Dot<Field>> dots) {
  const bool full = subset_ == lattice::Subset::full;
  const FusedDots<S> fused(out, dots, full ? 3 : 0);
  if (!fused.possible || !sums_in_last_kernel()) {
    run(out, in, dagger, nullptr, nullptr);
    return space.update_and_reduce({}, dots);
  }
  PendingSums pending(space.sums());
  const int buffer = space.sums()->take();
  try {
    run(out, in, dagger, &space.sums()->buffer(buffer), fused.with);
  } catch (...) {
    space.sums()->give_back(buffer);
    throw;
  }
  pending.add(context_->stream, buffer, full ? 6 : 3, fused.recipes);
  return pending;
}

template class DeviceOperator<double>;
template class DeviceOperator<float>;
template class DeviceOperator<Fixed16>;
template class DeviceOperator<Fixed8>;

}  // namespace halocline::qcd::device

#endif
