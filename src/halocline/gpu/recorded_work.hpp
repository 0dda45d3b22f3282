// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Work recorded in a graph together with the steps of its halo exchange.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>

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

/// Work that is done again and again: launched kernel by kernel at first, which tunes and allocates, and from the
/// second time on as a graph.
/// @tparam Key  everything on which the launches depend, such as the addresses of vectors
template <class Key>
class RepeatedWork {
public:
  /// @param most  graphs to keep. More keys mean that the caller keeps making new vectors and does not return to the
  /// old
  ///              ones: then all graphs are given up
  explicit RepeatedWork(std::size_t most) : most_(most) {}

  void run(Stream& stream, FaceExchange* exchange, const Key& key, const std::function<void()>& body) {
    if (entries_.size() >= most_ && !entries_.contains(key)) entries_.clear();
    const auto [entry, first] = entries_.try_emplace(key);
    if (first) return body();
    std::optional<RecordedWork>& work = entry->second;
    if (!work) work.emplace(stream, exchange, body);
    if (!work->launch(stream, exchange)) body();
  }
  /// Number of graphs kept.
  std::size_t graphs() const noexcept {
    std::size_t count = 0;
    for (const auto& [key, work] : entries_) count += work ? 1 : 0;
    return count;
  }

private:
  std::size_t most_;
  std::map<Key, std::optional<RecordedWork>> entries_;
};

}  // namespace halocline::gpu
