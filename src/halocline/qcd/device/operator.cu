// SPDX-License-Identifier: Apache-2.0
//
// Host code only. In nvcc's pass for a GPU architecture this file is empty and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/device/operator.cuh"

#include <string>
#include <utility>

#include "halocline/core/error.hpp"

namespace halocline::qcd::device {
namespace {

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
  return applications_.graphs() + (recursion_ ? recursion_->graphs() : 0);
}

template <class S>
bool DeviceOperator<S>::records(int applications) noexcept {
  if (!graphs_wanted_ || context_->stream.capturing()) return false;
  if (exchange() != nullptr && !exchange()->records()) return false;
  return 2 * std::int64_t{context_->box.sites} * columns_ <= graph_sites * applications;
}

template <class S>
void DeviceOperator<S>::run(Field& out, const Field& in, bool dagger, const ResultSums<S>& sums) {
  if (out.components() != components_ || in.components() != components_ || out.subset() != subset_ ||
      in.subset() != subset_ || out.columns() != columns_ || in.columns() != columns_ || out.context() != context_ ||
      in.context() != context_ || &out == &in)
    throw core::InvalidArgument("an operator on a device, for " + std::to_string(columns_) +
                                " columns, was given fields of " + std::to_string(in.columns()) + " and " +
                                std::to_string(out.columns()) +
                                ", of another subset, box or kind, or one field twice; give two fields of its "
                                "subset(), columns(), components() and context()");
  if (!records(1) || sums.step) return enqueue(out, in, dagger, sums);
  const Key key{out.memory().data(),
                in.memory().data(),
                sums.with != nullptr ? sums.with->memory().data() : nullptr,
                sums.buffer != nullptr ? sums.buffer->total(0) : nullptr,
                sums.buffer != nullptr ? sums.buffer->partial(1) : nullptr,
                exchange() != nullptr ? exchange()->number() : 0,
                dagger};
  applications_.run(context_->stream, exchange(), key, [&] { enqueue(out, in, dagger, sums); });
}

template <class S>
PendingSums DeviceOperator<S>::run_and_reduce(const SpinorSpace<S>& space, Field& out, const Field& in, bool dagger,
                                              std::span<const solve::Dot<Field>> dots) {
  const bool full = subset_ == lattice::Subset::full;
  const FusedDots<S> fused(out, dots, full ? 3 : 0);
  if (!fused.possible || !sums_in_last_kernel()) {
    run(out, in, dagger, {});
    return space.update_and_reduce({}, dots);
  }
  PendingSums pending(space.sums());
  const int buffer = space.sums()->take();
  try {
    run(out, in, dagger, {&space.sums()->buffer(buffer), fused.with});
  } catch (...) {
    space.sums()->give_back(buffer);
    throw;
  }
  pending.add(context_->stream, buffer, full ? 6 : 3, fused.recipes);
  return pending;
}

template <class S>
void DeviceOperator<S>::apply_and_step(const SpinorSpace<S>& space, Field& out, const Field& in, bool dagger,
                                       std::span<const solve::Dot<Field>> dots, solve::RecursionStep step) {
  const FusedDots<S> fused(out, dots, 0);
  // The sums of a full field come from two launches, behind which no single step can follow.
  if (!fused.possible || !sums_in_last_kernel() || subset_ == lattice::Subset::full) {
    run(out, in, dagger, {});
    return space.update_and_step({}, dots, step);
  }
  for (std::size_t i = 0; i < dots.size(); ++i)
    step.place[i] = {fused.recipes[i].re, fused.recipes[i].im, fused.recipes[i].sign};
  // The buffer's scratch space serves one launch after the other, so it need not stay taken.
  const int buffer = space.sums()->take();
  space.sums()->give_back(buffer);
  run(out, in, dagger, {&space.sums()->buffer(buffer), fused.with, step});
}

template <class S>
Recursion<S>* DeviceOperator<S>::recursion(const SpinorSpace<S>& space) {
  if (!recursion_wanted_ || context_->geometry->communicator().size() > 1) return nullptr;
  if (recursion_space_ != &space || !recursion_) {
    recursion_.reset();
    recursion_ = std::make_unique<Recursion<S>>(*this, space);
    recursion_space_ = &space;
  }
  return recursion_.get();
}

template class DeviceOperator<double>;
template class DeviceOperator<float>;
template class DeviceOperator<Fixed16>;
template class DeviceOperator<Fixed8>;

}  // namespace halocline::qcd::device

#endif
