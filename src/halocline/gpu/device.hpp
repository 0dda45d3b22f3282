// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The device that runs kernels: a GPU, or the host executor that stands in for one.
///
/// A `Device` is a cheap value to copy; all copies share one state. A process may hold several, on one GPU or on
/// several. Halocline's calls leave the calling thread's current CUDA device unchanged. detail::Runtime hides the
/// differences between a GPU and the host executor, so that memory, streams, graphs and copies (stream.hpp, array.hpp)
/// are one code.
///
/// The host executor keeps device memory in host memory. It runs the functors of launch.cuh thread by thread, in order,
/// as soon as they are launched. It is for testing index logic, packing and halo order on machines without a GPU, never
/// for speed.
///
/// Every failing call becomes a core::Error that names the call, the kernel or size concerned, and the device.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace halocline::gpu {

namespace detail {
class Runtime;
}

enum class Backend { host, cuda };

/// Properties of a device. The host executor has its name, and zeros.
struct Properties {
  std::string name;          ///< as the driver gives it, or "host executor"
  std::string uuid;          ///< tells two devices of a machine apart; empty for the host executor
  std::string pci_address;   ///< "0000:3b:00.0"; empty for the host executor
  int ordinal = 0;           ///< number of the device as CUDA counts in this process
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::int64_t memory = 0;                   ///< [bytes]
  std::int64_t second_level_cache = 0;       ///< [bytes]
  std::int64_t shared_memory_per_block = 0;  ///< the most that a kernel may request [bytes]
  int driver = 0, runtime = 0;               ///< versions as CUDA counts them: 13000 is 13.0
};

/// Memory of a device; for the host executor, of the machine [bytes].
struct MemoryUse {
  std::int64_t free = 0, total = 0;
  std::int64_t ours = 0;       ///< device memory allocated through this state now
  std::int64_t most_ours = 0;  ///< the largest value of `ours` so far
  /// Number of allocations through this state so far, of device memory and of pinned memory.
  std::int64_t allocations = 0;
};

/// Whether the library was compiled with the CUDA back end.
bool built_with_cuda() noexcept;
/// The reason why no GPU can be used here, one sentence (no back end in this build, no driver, no device); empty if one
/// can be used. Collective: no.
std::string unavailable_reason();
/// The GPUs that this process sees; empty if there is an unavailable_reason().
std::vector<Properties> gpus();
/// 16 hexadecimal digits: a hash over all device code of this build (tuning.hpp).
const char* kernel_hash() noexcept;

class Device {
public:
  /// @param name        "cuda" for this process's share of the GPUs, number (node_rank mod number of GPUs); "cuda:N"
  ///                    for GPU number N; "host-executor"
  /// @param node_rank   rank of this process among the processes of its machine
  /// @throws InvalidArgument  an unknown name, a GPU number that does not exist, or unavailable_reason()
  /// Collective: no.
  static Device open(std::string_view name, int node_rank = 0);
  static Device host_executor();
  /// A host executor that runs nothing before the host waits for it: results that are read too early are NaNs or old,
  /// as they may be on a GPU. For testing code that enqueues work; for one thread at a time.
  static Device deferred_host_executor();

  Backend backend() const noexcept;
  bool on_gpu() const noexcept { return backend() == Backend::cuda; }
  const Properties& properties() const noexcept;
  /// "cuda:0 (NVIDIA H200)" or "host executor", for messages.
  std::string describe() const;
  MemoryUse memory() const;
  /// Returns when all work enqueued on any stream is done. @throws core::Error  enqueued work failed
  void synchronize() const;

  /// For the classes of this room.
  detail::Runtime& runtime() const noexcept { return *runtime_; }
  const std::shared_ptr<detail::Runtime>& shared_runtime() const noexcept { return runtime_; }
  friend bool operator==(const Device& a, const Device& b) noexcept { return a.runtime_ == b.runtime_; }

private:
  explicit Device(std::shared_ptr<detail::Runtime> runtime) : runtime_(std::move(runtime)) {}
  std::shared_ptr<detail::Runtime> runtime_;
};

}  // namespace halocline::gpu
