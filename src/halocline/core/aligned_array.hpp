// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// An owning array whose first element lies on a 64-byte boundary (a cache line, and a 512-bit register).
///
/// Large arrays lie on 2 MiB boundaries and ask the system for huge pages. Without huge pages, a stencil that reads
/// eight streams at once spends much of its time walking page tables.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

namespace halocline::core {

namespace detail {
/// Allocates and frees uninitialised memory for AlignedArray. @throws std::bad_alloc
void* allocate_aligned(std::size_t bytes);
void release_aligned(void* memory, std::size_t bytes) noexcept;
}  // namespace detail

/// Fixed-size owning array of a trivial type, zero on construction, 64-byte aligned.
/// @throws std::bad_alloc  memory exhausted
template <class T>
class AlignedArray {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  static constexpr std::size_t alignment = 64;  ///< at least

  AlignedArray() = default;
  explicit AlignedArray(std::int64_t size) : size_(size) {
    if (size_ > 0) {
      data_ = static_cast<T*>(detail::allocate_aligned(bytes()));
      std::memset(static_cast<void*>(data_), 0, bytes());
    }
  }
  AlignedArray(const AlignedArray& other) : size_(other.size_) {
    if (size_ > 0) {
      data_ = static_cast<T*>(detail::allocate_aligned(bytes()));
      std::memcpy(static_cast<void*>(data_), other.data_, bytes());
    }
  }
  AlignedArray(AlignedArray&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  AlignedArray& operator=(AlignedArray other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~AlignedArray() {
    if (data_ != nullptr) detail::release_aligned(data_, bytes());
  }

  T* data() noexcept { return data_; }
  const T* data() const noexcept { return data_; }
  std::int64_t size() const noexcept { return size_; }
  T& operator[](std::int64_t i) noexcept { return data_[i]; }
  const T& operator[](std::int64_t i) const noexcept { return data_[i]; }
  std::span<T> span() noexcept { return {data_, static_cast<std::size_t>(size_)}; }
  std::span<const T> span() const noexcept { return {data_, static_cast<std::size_t>(size_)}; }

private:
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(size_) * sizeof(T); }

  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace halocline::core
