// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Device memory that several processes of one machine address: its owner, and the processes that map it.
///
/// On a GPU this is CUDA IPC, on the host executor POSIX shared memory. The owner sends handle() to its neighbours as
/// plain bytes. When all of them have opened the handle, the owner may seal() the memory, so that a process that is
/// killed afterwards leaves nothing behind. The process that made a handle may open it too, through any of its Devices,
/// and gets the memory itself.

#include <cstddef>
#include <utility>

#include "halocline/gpu/array.hpp"
#include "halocline/gpu/detail/runtime.hpp"

namespace halocline::gpu::detail {

/// Device memory that other processes can map, 256-byte aligned, contents unspecified. Move-only.
class SharedMemory {
public:
  SharedMemory() = default;
  /// @param bytes  more than 0; a GPU allocates multiples of 2 MiB, so one large piece is better than many small ones
  /// @throws core::Error  out of memory, or the machine has no memory to share
  /// Collective: no.
  SharedMemory(const Device& device, std::size_t bytes);

  std::byte* data() const noexcept { return buffer_.data(); }
  std::size_t bytes() const noexcept { return buffer_.bytes(); }
  /// @throws core::Error  this memory cannot be shared here (gives CUDA's reason); InvalidArgument  called after seal()
  MemoryHandle handle() const;
  /// Call when every process that needs the memory has opened the handle; the caller must ensure this. Collective: no.
  void seal() noexcept;

private:
  std::shared_ptr<Runtime> runtime_;
  Buffer buffer_;
  bool sealed_ = false;
};

/// Memory of another process, or of this one, mapped here for the lifetime of the object. The owner must not free it
/// earlier. Move-only.
class MappedMemory {
public:
  MappedMemory() = default;
  /// @throws core::Error  mapping failed: the devices cannot reach each other, or the processes share no memory
  MappedMemory(const Device& device, const MemoryHandle& handle);
  ~MappedMemory();
  MappedMemory(MappedMemory&& other) noexcept
      : runtime_(std::exchange(other.runtime_, nullptr)),
        handle_(other.handle_),
        data_(std::exchange(other.data_, nullptr)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(runtime_, other.runtime_);
    std::swap(handle_, other.handle_);
    std::swap(data_, other.data_);
    return *this;
  }

  std::byte* data() const noexcept { return data_; }
  std::size_t bytes() const noexcept { return data_ == nullptr ? 0 : handle_.bytes; }

private:
  std::shared_ptr<Runtime> runtime_;
  MemoryHandle handle_;
  std::byte* data_ = nullptr;
};

}  // namespace halocline::gpu::detail
