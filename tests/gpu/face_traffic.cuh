// SPDX-License-Identifier: Apache-2.0
#pragma once
// Messages whose every word says who sent it, through which face and in which step, written and read by kernels as a
// program does.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/comm/group/process_grid.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/face_exchange.hpp"
#include "halocline/gpu/face_signals.cuh"
#include "halocline/gpu/launch.cuh"

namespace traffic {

using namespace halocline;

HALOCLINE_INLINE std::uint64_t mixed(std::uint64_t a) {
  a ^= a >> 30;
  a *= 0xbf58476d1ce4e5b9u;
  a ^= a >> 27;
  a *= 0x94d049bb133111ebu;
  return a ^ a >> 31;
}
/// Word i of what `rank` sends through `face` in step `step` of exchange number `exchange`.
HALOCLINE_INLINE std::uint64_t word(int exchange, int rank, int face, std::uint64_t step, std::int64_t i) {
  const auto who = static_cast<std::uint64_t>((exchange * 4096 + rank) * 8 + face);
  return mixed(mixed(who * 0x9e3779b97f4a7c15u + step) + static_cast<std::uint64_t>(i));
}

inline constexpr int threads = 32;

/// z is the face; blocks along x write it.
struct Pack {
  static constexpr int max_threads = threads;
  std::byte* outbox[gpu::most_faces];
  std::int64_t words[gpu::most_faces];
  gpu::FaceSignals signals;
  bool raises;
  int exchange, rank;
  std::uint64_t step;
  std::uint32_t blocks;  ///< of each face
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    if (p.x < words[p.z]) reinterpret_cast<std::uint64_t*>(outbox[p.z])[p.x] = word(exchange, rank, p.z, step, p.x);
  }
  HALOCLINE_HOST_DEVICE void end_block(const gpu::BlockPoint& b) const {
    if (raises && words[b.z] > 0) gpu::count_packed(signals, b.z, blocks);
  }
};

/// Counts the words that are not what the neighbour must have written.
struct Read {
  static constexpr int max_threads = threads;
  const std::byte* inbox[gpu::most_faces];
  std::int64_t words[gpu::most_faces];
  int from[gpu::most_faces];
  gpu::FaceSignals signals;
  bool waits;
  int exchange;
  std::uint64_t step;
  std::uint64_t* wrong;  ///< shape (faces, longest)
  std::int64_t longest;
  HALOCLINE_HOST_DEVICE bool begin_block(const gpu::BlockPoint&) const { return !waits || gpu::await_all(signals); }
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    if (p.x >= words[p.z]) return;
    const std::uint64_t expected = word(exchange, from[p.z], p.z ^ 1, step, p.x);
    if (reinterpret_cast<const std::uint64_t*>(inbox[p.z])[p.x] != expected) wrong[p.z * longest + p.x] += 1;
  }
};

/// One exchange and what goes through it.
class Traffic {
public:
  Traffic(const gpu::Device& device, const comm::ProcessGrid& grid, std::vector<std::size_t> bytes,
          std::string_view policy, const gpu::FaceExchangeOptions& options = {}, int number = 0)
      : grid_(grid), exchange_(device, grid, bytes, policy, options), number_(number) {
    for (int face = 0; face < gpu::most_faces; ++face) {
      const comm::Face f = comm::Face::from_index(face);
      if (f.axis >= grid.ndim() || !exchange_.active(f)) continue;
      words_[face] = static_cast<std::int64_t>(bytes[static_cast<std::size_t>(f.axis)] / 8);
      longest_ = std::max(longest_, words_[face]);
    }
    wrong_ = gpu::PinnedArray<std::uint64_t>(device, gpu::most_faces * longest_);
  }
  gpu::FaceExchange& exchange() { return exchange_; }

  void send(gpu::Stream& stream) {
    ++step_;
    exchange_.begin(stream);
    Pack pack{};
    for (int face = 0; face < gpu::most_faces; ++face) {
      pack.outbox[face] = words_[face] > 0 ? exchange_.outbox(comm::Face::from_index(face)) : nullptr;
      pack.words[face] = words_[face];
    }
    pack.signals = exchange_.signals();
    pack.raises = exchange_.packs_remotely();
    pack.exchange = number_;
    pack.rank = grid_.rank();
    pack.step = step_;
    pack.blocks = static_cast<std::uint32_t>((longest_ + threads - 1) / threads);
    gpu::launch(stream, "pack", gpu::Extent{longest_, 1, gpu::most_faces}, gpu::Block{threads}, pack);
    exchange_.post(stream);
  }
  void receive(gpu::Stream& stream) {
    if (exchange_.waits_in_kernel())
      exchange_.wait_in_kernel();
    else
      exchange_.wait(stream);
    Read read{};
    for (int face = 0; face < gpu::most_faces; ++face) {
      if (words_[face] == 0) continue;
      const comm::Face f = comm::Face::from_index(face);
      read.inbox[face] = exchange_.inbox(f);
      read.words[face] = words_[face];
      read.from[face] = grid_.neighbour(f);
    }
    read.signals = exchange_.signals();
    read.waits = exchange_.waits_in_kernel();
    read.exchange = number_;
    read.step = step_;
    read.wrong = wrong_.data();
    read.longest = longest_;
    gpu::launch(stream, "read", gpu::Extent{longest_, 1, gpu::most_faces}, gpu::Block{threads}, read);
  }
  /// Words that were wrong so far. Synchronizes.
  std::uint64_t wrong(gpu::Stream& stream) {
    stream.synchronize();
    exchange_.check();
    std::uint64_t sum = 0;
    for (const std::uint64_t w : wrong_.span()) sum += w;
    return sum;
  }
  std::uint64_t steps() const { return step_; }
  /// The next steps have the words of the last `steps` steps again.
  void repeat_words(std::uint64_t steps) {
    if (step_ >= steps) step_ -= steps;
  }

private:
  comm::ProcessGrid grid_;
  gpu::FaceExchange exchange_;
  int number_;
  std::array<std::int64_t, gpu::most_faces> words_{};
  std::int64_t longest_ = 1;
  std::uint64_t step_ = 0;
  gpu::PinnedArray<std::uint64_t> wrong_;
};

/// The host executor, which runs at once, and what test_devices() gives.
[[maybe_unused]] static std::vector<gpu::Device> devices(int node_rank = 0) {
  std::vector<gpu::Device> all{gpu::Device::host_executor()};
  for (const gpu::Device& device : testing::test_devices(node_rank))
    if (device.describe() != all.front().describe()) all.push_back(device);
  return all;
}

/// Names of the policies that can be had here.
inline std::vector<std::string> policies(const gpu::Device& device, const comm::ProcessGrid& grid) {
  std::vector<std::string> names;
  for (const gpu::PolicyInfo& p : gpu::halo_policies(device, grid))
    if (p.available) names.push_back(p.name);
  return names;
}

/// The sentence of what `action` throws; empty where it throws nothing.
inline std::string sentence(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::Error& error) {
    return error.what();
  }
  return "";
}

/// Sleeps now and then, on every rank in other steps.
inline void stumble(int rank, std::uint64_t step) {
  const std::uint64_t draw = mixed(static_cast<std::uint64_t>(rank) * 1000003 + step) % 16;
  if (draw < 3) std::this_thread::sleep_for(std::chrono::microseconds(150 * (draw + 1)));
}

}  // namespace traffic
