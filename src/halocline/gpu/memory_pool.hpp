// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Device memory that arrays take and give back without calls of the driver.
///
/// Allocating on a GPU takes as long as many kernels, and freeing waits for the device. A pool keeps the pieces that
/// arrays give back, and hands each out again to the next array of the same size in bytes. The vectors of a solve
/// repeat few sizes, so an exact match is enough, and nothing is split or joined.
///
/// All work on the arrays of a pool must be on the pool's stream, or ordered with it: work on another stream must be
/// awaited by the pool's stream before the array is destroyed. A piece may then be reused at once, while work on its
/// former array is still enqueued, because work on the new array comes later in the stream.
///
/// The device object knows its pools. If an allocation of any kind finds no memory, all idle pieces go back to the
/// driver and the allocation is tried again.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "halocline/gpu/device.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

namespace detail {

/// Device memory that its owner keeps for later and can do without.
class Reserve {
public:
  /// Hands over all idle pieces. The caller waits for the device and releases them. Called by any thread.
  virtual std::vector<std::span<std::byte>> take_idle() = 0;

protected:
  ~Reserve() = default;
};

}  // namespace detail

/// The pool of one stream. The pool must outlive its arrays, and the stream must outlive the pool. Arrays are created
/// and destroyed by one thread at a time.
class MemoryPool final : private detail::Reserve {
public:
  explicit MemoryPool(Stream& stream);
  /// Waits for the stream, and frees the memory.
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  /// Frees the idle pieces, and waits for the stream if there are any.
  /// @throws core::Error  enqueued work failed; InvalidArgument  there are idle pieces and the stream is capturing
  void trim();
  /// Bytes of the idle pieces. They count as MemoryUse::ours, not as free.
  std::int64_t idle_bytes() const;

  /// For arrays: 256-byte aligned, null for zero bytes. Contents are unspecified (the host executor fills them with
  /// NaNs in the order of the stream). Of the idle pieces of this size, takes the one that was allocated first, so a
  /// loop gets the same memory in every pass. @throws core::Error  out of memory
  std::byte* take(std::size_t bytes);
  void give_back(std::byte* data) noexcept;

private:
  struct Piece {
    std::byte* data;
    std::size_t bytes;
    bool idle;
  };

  std::byte* find_idle(std::size_t bytes);
  std::vector<std::span<std::byte>> take_idle() override;

  Stream& stream_;
  mutable std::mutex mutex_;
  std::vector<Piece> pieces_;  // in the order of their allocation
};

}  // namespace halocline::gpu
