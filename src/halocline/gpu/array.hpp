// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Arrays in device memory, and arrays in page-locked host memory, which a device reaches quickly.

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "halocline/gpu/device.hpp"
#include "halocline/gpu/stream.hpp"

namespace halocline::gpu {

class MemoryPool;

namespace detail {
/// `shareable` is device memory that other processes can map (detail/shared_memory.hpp).
enum class Memory { device, pinned, shareable };

/// size * item. @throws InvalidArgument  size is negative, or the product is not addressable
std::size_t bytes_of(std::int64_t size, std::size_t item);

/// Owns bytes of one kind of memory and frees them in its destructor; all work on them must be done by then. Bytes of a
/// pool go back to the pool instead, and work on the pool's stream may still be enqueued. Move-only.
class Buffer {
public:
  Buffer() = default;
  /// @throws core::Error  out of memory; states the bytes requested, the bytes free, and what holds the rest
  Buffer(const Device& device, Memory kind, std::size_t bytes);
  /// Device memory of a pool, which must outlive the buffer. @throws  as above
  Buffer(MemoryPool& pool, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : runtime_(std::exchange(other.runtime_, nullptr)),
        pool_(std::exchange(other.pool_, nullptr)),
        kind_(other.kind_),
        data_(std::exchange(other.data_, nullptr)),
        bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(runtime_, other.runtime_);
    std::swap(pool_, other.pool_);
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return bytes_; }

private:
  std::shared_ptr<Runtime> runtime_;  // null with a pool
  MemoryPool* pool_ = nullptr;
  Memory kind_ = Memory::device;
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};
}  // namespace detail

/// `size` numbers in device memory, 256-byte aligned. Contents are unspecified at first (the host executor fills them
/// with NaNs). The host must not read them except through copies.
/// @throws InvalidArgument  the constructor: size is negative; core::Error  out of memory
template <class T>
  requires std::is_trivially_copyable_v<T>
class DeviceArray {
public:
  DeviceArray() = default;
  DeviceArray(const Device& device, std::int64_t size)
      : size_(size), buffer_(device, detail::Memory::device, detail::bytes_of(size, sizeof(T))) {}
  /// Memory of a pool, for work on the stream of the pool (memory_pool.hpp). The pool must outlive the array.
  DeviceArray(MemoryPool& pool, std::int64_t size) : size_(size), buffer_(pool, detail::bytes_of(size, sizeof(T))) {}

  T* data() noexcept { return reinterpret_cast<T*>(buffer_.data()); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(buffer_.data()); }
  std::int64_t size() const noexcept { return size_; }
  std::size_t bytes() const noexcept { return buffer_.bytes(); }

  /// Copies from or to the host. @throws InvalidArgument  the lengths differ
  void upload(Stream& stream, std::span<const T> from) {
    check(from.size());
    stream.copy_to_device(data(), from.data(), bytes());
  }
  void download(Stream& stream, std::span<T> to) const {
    check(to.size());
    stream.copy_to_host(to.data(), data(), bytes());
  }

private:
  void check(std::size_t given) const;

  std::int64_t size_ = 0;
  detail::Buffer buffer_;
};

/// `size` numbers in page-locked host memory, which the device can read and write as well. Zero at first.
/// @throws as DeviceArray
template <class T>
  requires std::is_trivially_copyable_v<T>
class PinnedArray {
public:
  PinnedArray() = default;
  PinnedArray(const Device& device, std::int64_t size)
      : size_(size), buffer_(device, detail::Memory::pinned, detail::bytes_of(size, sizeof(T))) {}

  T* data() noexcept { return reinterpret_cast<T*>(buffer_.data()); }
  const T* data() const noexcept { return reinterpret_cast<const T*>(buffer_.data()); }
  std::int64_t size() const noexcept { return size_; }
  std::span<T> span() noexcept { return {data(), static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const noexcept { return {data(), static_cast<std::size_t>(size_)}; }

private:
  std::int64_t size_ = 0;
  detail::Buffer buffer_;
};

namespace detail {
[[noreturn]] void throw_length(std::size_t given, std::int64_t expected);
}

template <class T>
  requires std::is_trivially_copyable_v<T>
void DeviceArray<T>::check(std::size_t given) const {
  if (given != static_cast<std::size_t>(size_)) detail::throw_length(given, size_);
}

}  // namespace halocline::gpu
