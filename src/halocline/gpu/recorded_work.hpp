// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Work recorded in a graph together with the steps of its halo exchange.

#include <functional>

#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

class RecordedWork {
public:
  /// Captures what `body` enqueues. Nothing runs. @param exchange  of the body's halos; null for none
  /// @throws core::Error  the work, or a step of this exchange, cannot be recorded
  RecordedWork(Stream& stream, FaceExchange* exchange, const std::function<void()>& body);

  /// Launches the graph. Returns false, and launches nothing, if its halo steps do not fit (FaceExchange::replay).
  bool launch(Stream& stream, FaceExchange* exchange) const;

private:
  RecordedSteps steps_;
  Graph graph_;
};

}  // namespace halocline::gpu
