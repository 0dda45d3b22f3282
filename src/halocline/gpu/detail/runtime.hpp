// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The interface of a back end. It lets memory, streams and graphs share one code for a GPU and the host executor.
///
/// A stream, an event and a graph are opaque handles here. The host executor's handles are null unless it defers work,
/// because it runs everything on enqueueing, and Stream keeps its captures. Every member may be called by any thread
/// and leaves the thread's current CUDA device unchanged. A member that fails throws core::Error, which names the call,
/// its subject and the device.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <type_traits>
#include <vector>

#include "halocline/gpu/array.hpp"
#include "halocline/gpu/condition.hpp"
#include "halocline/gpu/device.hpp"
#include "halocline/gpu/launch_shape.hpp"
#include "halocline/gpu/memory_pool.hpp"

namespace halocline::gpu::detail {

enum class Copy { to_device, to_host, on_device };

/// One kernel launch. `function` is nvcc's pointer to a __global__ function, `arguments` point to its parameters.
struct KernelLaunch {
  const char* name;
  const char* after;  ///< name of the kernel launched before it on the stream
  const void* function;
  std::array<unsigned, 3> grid, block;
  int carveout;  ///< [percent], -1 for the driver's choice
  ReadOnce read_once;
  std::size_t shared_bytes;  ///< shared memory of a block, beside what the kernel declares
  void** arguments;
  void* stream;
};

/// "kernel sum, 4 x 1 x 1 blocks of 128 x 1 x 1 threads", and its wishes for shared memory.
std::string describe(const KernelLaunch& launch);

/// Tells another process how to find shareable memory: plain bytes that can be sent as they are.
struct MemoryHandle {
  std::array<char, 64> where{};  ///< CUDA's handle, or the name of the POSIX shared memory
  std::uint64_t bytes = 0;
  std::uint64_t process = 0;  ///< the owner; in this process the memory lies at `address`
  std::uint64_t address = 0;
  std::int32_t ordinal = 0;  ///< of the device, as the owner counts
  std::int32_t backend = 0;
};
static_assert(std::is_trivially_copyable_v<MemoryHandle> && sizeof(MemoryHandle) == 96);

class Runtime {
public:
  Runtime(Backend backend, Properties properties, std::string description)
      : backend_(backend), properties_(std::move(properties)), description_(std::move(description)) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  virtual ~Runtime() = default;

  Backend backend() const noexcept { return backend_; }
  const Properties& properties() const noexcept { return properties_; }
  const std::string& description() const noexcept { return description_; }

  /// 256-byte aligned; null for zero bytes. If memory is exhausted, first waits for the device and frees the idle
  /// pieces of all reserves, unless a stream is capturing on a GPU.
  /// @throws core::Error  out of memory, or enqueued work failed
  std::byte* allocate(Memory kind, std::size_t bytes);
  void release(Memory kind, std::byte* data, std::size_t bytes) noexcept;
  MemoryUse memory() const;
  /// Refuses to hold more device memory than this [bytes]. For tests of exhausted memory.
  void limit_memory(std::int64_t bytes) noexcept { limit_ = bytes; }

  /// @param reserve  must be removed before it is destroyed
  void add_reserve(Reserve& reserve);
  void remove_reserve(Reserve& reserve) noexcept;

  /// For data of allocate(Memory::shareable, ...).
  virtual MemoryHandle export_memory(const std::byte* data, std::size_t bytes) = 0;
  /// No process opens the memory from now on. Removes whatever would survive if the process were killed.
  virtual void seal_memory(const std::byte* data) noexcept = 0;
  /// Maps the memory of another process, or returns this process's own. @throws core::Error  it cannot be mapped here
  virtual std::byte* open_memory(const MemoryHandle& handle) = 0;
  virtual void close_memory(const MemoryHandle& handle, std::byte* data) noexcept = 0;

  virtual void synchronize() = 0;

  virtual void* create_stream(bool urgent) = 0;
  virtual void destroy_stream(void* stream) noexcept = 0;
  virtual void synchronize_stream(void* stream, const char* kernel) = 0;
  virtual void copy(void* to, const void* from, std::size_t bytes, Copy direction, void* stream) = 0;
  virtual void set_zero(void* data, std::size_t bytes, void* stream) = 0;
  virtual void call_on_host(void (*function)(void*), void* data, void* stream) = 0;
  virtual void write_value(std::uint64_t* address, std::uint64_t value, void* stream) = 0;
  virtual void wait_value(const std::uint64_t* address, std::uint64_t value, double time_limit, void* stream) = 0;
  virtual void launch(const KernelLaunch& launch) = 0;
  /// A launch on the host executor: `work` runs the kernel.
  virtual void run_on_host(std::function<void()> work, void* stream) = 0;

  virtual void* create_event(bool timing) = 0;
  virtual void destroy_event(void* event) noexcept = 0;
  virtual void record_event(void* event, void* stream) = 0;
  virtual void wait_in_stream(void* event, void* stream) = 0;
  virtual bool event_done(void* event, const char* kernel) = 0;
  virtual void wait_event(void* event, const char* kernel) = 0;
  virtual double elapsed(void* begin, void* end) = 0;  ///< [s]

  virtual void begin_capture(void* stream) = 0;
  /// Returns a graph ready to be launched. @param keep  false: discard the capture, throw nothing, return null
  virtual void* end_capture(void* stream, bool keep) = 0;
  virtual void destroy_graph(void* graph) noexcept = 0;
  virtual void launch_graph(void* graph, void* stream) = 0;

protected:
  /// Null if memory is exhausted.
  virtual std::byte* try_allocate(Memory kind, std::size_t bytes) = 0;
  /// Whether synchronize() may be called now.
  virtual bool may_synchronize() const noexcept { return true; }
  virtual void free(Memory kind, std::byte* data, std::size_t bytes) noexcept = 0;
  virtual void measure_memory(std::int64_t& free, std::int64_t& total) const = 0;

private:
  std::byte* try_within_limit(Memory kind, std::size_t bytes);
  bool free_reserves();

  Backend backend_;
  Properties properties_;
  std::string description_;
  std::atomic<std::int64_t> ours_{0}, most_ours_{0}, pinned_{0}, allocations_{0};
  std::atomic<std::int64_t> limit_{std::numeric_limits<std::int64_t>::max()};
  std::mutex reserves_mutex_;
  std::vector<Reserve*> reserves_;
};

/// @param deferred  hold work back until the host waits for it
std::shared_ptr<Runtime> make_host_runtime(bool deferred);

/// The CUDA side (cuda_runtime.cu). Compiled by a plain C++ compiler, these functions report that CUDA is absent.
bool cuda_is_built() noexcept;
std::string cuda_unavailable_reason();
std::vector<Properties> cuda_devices();
/// @param device  one of cuda_devices()
Condition cuda_condition(const Properties& device);
std::shared_ptr<Runtime> make_cuda_runtime(int ordinal);

/// A number that no other process of this machine has at this time.
std::uint64_t process_key() noexcept;

/// "0000:3b:00.0", as sysfs names a device.
std::string pci_address(int domain, int bus, int device);

/// "12.5 GiB", for messages.
std::string amount(std::uint64_t bytes);

}  // namespace halocline::gpu::detail
