// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/array.hpp"

#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/runtime.hpp"
#include "halocline/gpu/memory_pool.hpp"

#include <limits>
#include <string>

namespace halocline::gpu::detail {

std::size_t bytes_of(std::int64_t size, std::size_t item) {
  if (size < 0)
    throw core::InvalidArgument("an array was asked to hold " + std::to_string(size) + " numbers; give 0 or more");
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (static_cast<std::uint64_t>(size) > most / item)
    throw core::InvalidArgument("an array was asked to hold " + std::to_string(size) + " numbers of " +
                                std::to_string(item) + " bytes, more than can be addressed; give fewer");
  return static_cast<std::size_t>(size) * item;
}

Buffer::Buffer(const Device& device, Memory kind, std::size_t bytes)
    : runtime_(device.shared_runtime()), kind_(kind), data_(runtime_->allocate(kind, bytes)), bytes_(bytes) {}

Buffer::Buffer(MemoryPool& pool, std::size_t bytes) : pool_(&pool), data_(pool.take(bytes)), bytes_(bytes) {}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  if (pool_ != nullptr)
    pool_->give_back(data_);
  else
    runtime_->release(kind_, data_, bytes_);
}

void throw_length(std::size_t given, std::int64_t expected) {
  throw core::InvalidArgument("a copy between host and device was given " + std::to_string(given) +
                              " numbers for an array of " + std::to_string(expected) + "; give as many");
}

}  // namespace halocline::gpu::detail
