// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/recorded_work.hpp"

namespace halocline::gpu {
namespace {

/// Steps of an exchange are recorded as long as this object lives.
class Recording {
public:
  Recording(FaceExchange* exchange, RecordedSteps& steps) : exchange_(exchange), steps_(&steps) {
    if (exchange_ != nullptr) exchange_->begin_recording();
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  ~Recording() {
    if (exchange_ != nullptr) *steps_ = exchange_->end_recording();
  }

private:
  FaceExchange* exchange_;
  RecordedSteps* steps_;
};

Graph captured(Stream& stream, FaceExchange* exchange, RecordedSteps& steps, const std::function<void()>& body) {
  const Recording recording(exchange, steps);
  stream.begin_capture();
  try {
    body();
  } catch (...) {
    try {
      stream.end_capture();
    } catch (...) {
      // Only the first error matters; it is thrown again below.
    }
    throw;
  }
  return stream.end_capture();
}

}  // namespace

RecordedWork::RecordedWork(Stream& stream, FaceExchange* exchange, const std::function<void()>& body)
    : graph_(captured(stream, exchange, steps_, body)) {}

bool RecordedWork::launch(Stream& stream, FaceExchange* exchange) const {
  if (exchange != nullptr && !exchange->replay(stream, steps_)) return false;
  stream.launch(graph_);
  return true;
}

}  // namespace halocline::gpu
