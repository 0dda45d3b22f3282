// SPDX-License-Identifier: Apache-2.0
//
// Host code only. In nvcc's pass for a GPU architecture this file is empty and costs no time.
#if !defined(__CUDA_ARCH__)
#include "halocline/qcd/device/recursion.cuh"

#include <cmath>

#include "halocline/core/error.hpp"
#include "halocline/gpu/host_place.hpp"
#include "halocline/qcd/device/operator.cuh"

namespace halocline::qcd::device {
template <class S>
Recursion<S>::Recursion(DeviceOperator<S>& a, const SpinorSpace<S>& space)
    : a_(&a),
      space_(&space),
      head_(a.context()->device, 1),
      stored_(a.context()->device, solve::stored_coefficients * space.columns()),
      staged_(a.context()->device, 1),
      reports_(a.context()->device, 2 * space.columns()),
      uploaded_(a.context()->device),
      ended_{gpu::Event(a.context()->device), gpu::Event(a.context()->device)},
      norms2_(static_cast<std::size_t>(space.columns())) {
  for (double& place : reports_.span()) gpu::clear(place);
}

template <class S>
Recursion<S>::~Recursion() {
  try {
    forget_reports();  // kernels may still store into the memory to be freed
    uploaded_.wait();
  } catch (const core::Error&) {
    // The error shows when the caller synchronizes the stream.
  }
}

/// Waits for iterations of which nobody will read the report.
template <class S>
void Recursion<S>::forget_reports() {
  if (enqueued_ == 0) return;
  ended_[static_cast<std::size_t>(enqueued_ % 2)].wait();
  for (double& place : reports_.span()) gpu::clear(place);
  enqueued_ = heard_ = 0;
}

template <class S>
void Recursion<S>::resume(std::span<const solve::RecursionColumn> columns) {
  forget_reports();
  uploaded_.wait();
  Head& head = staged_.data()[0];
  std::ranges::copy(columns, head.column);
  head.stop[0] = head.stop[1] = 0;
  gpu::Stream& stream = a_->context()->stream;
  stream.copy_to_device(head_.data(), &head, sizeof(Head));
  stream.record(uploaded_);
}

template <class S>
void Recursion<S>::run_ahead(int ahead, std::initializer_list<const Vector*> vectors,
                             const std::function<void()>& body) {
  Key key{a_->exchange() != nullptr ? a_->exchange()->number() : 0, {}};
  for (const Vector* vector : vectors) key.second.push_back(vector->memory().data());
  gpu::Stream& stream = a_->context()->stream;
  while (enqueued_ - heard_ < ahead) {
    if (a_->records(2))
      work_.run(stream, a_->exchange(), key, body);
    else
      body();
    ++enqueued_;
    stream.record(ended_[static_cast<std::size_t>(enqueued_ % 2)]);
  }
}

template <class S>
solve::RecursionReport Recursion<S>::wait() {
  const gpu::Event& ended = ended_[static_cast<std::size_t>(++heard_ % 2)];
  solve::RecursionReport out;
  for (std::size_t c = 0; c < norms2_.size(); ++c) {
    double& place = report(heard_)[c];
    for (int looks = 1; gpu::is_clear(place); ++looks)
      if (looks % gpu::looks_an_event == 0 && ended.done() && gpu::is_clear(place))
        throw core::Error("an iteration on " + a_->context()->device.describe() +
                          " ended without a report of its residual; this is a defect of Halocline, please report it");
    const double value = gpu::look_at(place);
    gpu::clear(place);
    out.stopped = out.stopped || std::signbit(value) || std::isnan(value);
    norms2_[c] = std::abs(value);
  }
  out.norms2 = norms2_;
  return out;
}

template <class S>
std::span<const solve::RecursionColumn> Recursion<S>::fetch() {
  gpu::Stream& stream = a_->context()->stream;
  stream.copy_to_host(staged_.data(), head_.data(), sizeof(Head));
  stream.synchronize();
  // An iteration that was enqueued behind the stop has not reported, and never will.
  enqueued_ = heard_ = 0;
  return std::span(staged_.data()[0].column).first(norms2_.size());
}

template <class S>
solve::RecursionStep Recursion<S>::step(solve::StepKind kind) {
  solve::RecursionStep step;
  step.kind = kind;
  Head* const head = head_.data();
  step.memory = {head->column, stored_.data(), space_->columns(), head->stop, reports_.data()};
  return step;
}

template <class S>
void Recursion<S>::apply_and_step(Vector& out, const Vector& in, bool dagger, Dots dots, solve::StepKind kind) {
  a_->apply_and_step(*space_, out, in, dagger, {dots.begin(), dots.size()}, step(kind));
}

template <class S>
void Recursion<S>::update(Updates updates, Dots dots, solve::StepKind kind) {
  space_->update_and_step({updates.begin(), updates.size()}, {dots.begin(), dots.size()}, step(kind));
}

template <class S>
void Recursion<S>::update(Updates updates) {
  space_->update_and_step({updates.begin(), updates.size()}, {}, step(solve::StepKind::none));
}

template class Recursion<double>;
template class Recursion<float>;
template class Recursion<Fixed16>;
template class Recursion<Fixed8>;

}  // namespace halocline::qcd::device

#endif
