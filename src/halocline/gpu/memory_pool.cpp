// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/memory_pool.hpp"

#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/runtime.hpp"

#include <algorithm>
#include <cassert>

namespace halocline::gpu {

MemoryPool::MemoryPool(Stream& stream) : stream_(stream) { stream_.device().runtime().add_reserve(*this); }

MemoryPool::~MemoryPool() {
  detail::Runtime& runtime = stream_.device().runtime();
  runtime.remove_reserve(*this);
  try {
    stream_.synchronize();
  } catch (const core::Error&) {
    // The code that waits for results gets the error.
  }
  assert(std::ranges::all_of(pieces_, &Piece::idle));
  for (const Piece& piece : pieces_) runtime.release(detail::Memory::device, piece.data, piece.bytes);
}

void MemoryPool::trim() {
  if (idle_bytes() == 0) return;
  stream_.synchronize();
  for (const std::span<std::byte> piece : take_idle())
    stream_.device().runtime().release(detail::Memory::device, piece.data(), piece.size());
}

std::int64_t MemoryPool::idle_bytes() const {
  const std::scoped_lock lock(mutex_);
  std::int64_t sum = 0;
  for (const Piece& piece : pieces_) sum += piece.idle ? static_cast<std::int64_t>(piece.bytes) : 0;
  return sum;
}

std::byte* MemoryPool::find_idle(std::size_t bytes) {
  const std::scoped_lock lock(mutex_);
  const auto found =
      std::ranges::find_if(pieces_, [&](const Piece& piece) { return piece.idle && piece.bytes == bytes; });
  if (found == pieces_.end()) return nullptr;
  found->idle = false;
  return found->data;
}

std::byte* MemoryPool::take(std::size_t bytes) {
  if (bytes == 0) return nullptr;
  if (std::byte* const idle = find_idle(bytes)) {
    stream_.invalidate(idle, bytes);
    return idle;
  }
  {
    const std::scoped_lock lock(mutex_);
    pieces_.reserve(pieces_.size() + 1);  // so that nothing can fail once the memory is ours
  }
  // Without the lock, because an allocation that finds no memory comes back for the idle pieces.
  std::byte* const fresh = stream_.device().runtime().allocate(detail::Memory::device, bytes);
  const std::scoped_lock lock(mutex_);
  pieces_.push_back({fresh, bytes, false});
  return fresh;
}

void MemoryPool::give_back(std::byte* data) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(pieces_, data, &Piece::data);
  assert(found != pieces_.end());
  found->idle = true;
}

std::vector<std::span<std::byte>> MemoryPool::take_idle() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::span<std::byte>> idle;
  for (const Piece& piece : pieces_)
    if (piece.idle) idle.emplace_back(piece.data, piece.bytes);
  std::erase_if(pieces_, [](const Piece& piece) { return piece.idle; });
  return idle;
}

}  // namespace halocline::gpu
