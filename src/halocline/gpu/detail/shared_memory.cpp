// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/detail/shared_memory.hpp"

#include "halocline/core/error.hpp"

namespace halocline::gpu::detail {

SharedMemory::SharedMemory(const Device& device, std::size_t bytes)
    : runtime_(device.shared_runtime()), buffer_(device, Memory::shareable, bytes) {}

MemoryHandle SharedMemory::handle() const {
  if (data() == nullptr) throw core::InvalidArgument("shared memory of no bytes has no handle; give it a size");
  if (sealed_) throw core::InvalidArgument("shared memory that is sealed has no handle any more; ask before seal()");
  return runtime_->export_memory(data(), bytes());
}

void SharedMemory::seal() noexcept {
  if (data() != nullptr) runtime_->seal_memory(data());
  sealed_ = true;
}

MappedMemory::MappedMemory(const Device& device, const MemoryHandle& handle)
    : runtime_(device.shared_runtime()), handle_(handle), data_(runtime_->open_memory(handle)) {}

MappedMemory::~MappedMemory() {
  if (data_ != nullptr) runtime_->close_memory(handle_, data_);
}

}  // namespace halocline::gpu::detail
