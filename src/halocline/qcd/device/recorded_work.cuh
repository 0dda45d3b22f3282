// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Work of an operator, recorded in a graph together with the steps of its halo exchange.

#include <functional>

#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::qcd::device {

class RecordedWork {
public:
  /// Captures what `body` enqueues. Nothing runs. @param exchange  of the body's halos; null for none
  RecordedWork(gpu::Stream& stream, gpu::FaceExchange* exchange, const std::function<void()>& body);

  /// Launches the graph. Returns false, and launches nothing, if its halo steps do not fit (FaceExchange::replay).
  bool launch(gpu::Stream& stream, gpu::FaceExchange* exchange) const {
    if (exchange != nullptr && !exchange->replay(stream, steps_)) return false;
    stream.launch(graph_);
    return true;
  }

private:
  gpu::RecordedSteps steps_;
  gpu::Graph graph_;
};

}  // namespace halocline::qcd::device
