// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The device that runs kernels: a GPU, or the host executor that stands in for one.
///
/// A `Device` is a value that is cheap to copy; all copies share one state. A process may hold several, of one GPU or
/// of several: a thread that uses a device of its own finds it current again after each call. What differs between a
/// GPU and the host executor is behind detail::Runtime, so that memory, streams, graphs and copies (stream.hpp,
/// array.hpp) are one code. The host executor keeps device memory in host memory and runs the functors of launch.cuh
/// thread by thread, in order, when they are launched: for tests of index logic, packing and halo order on machines
/// without a GPU, never for speed.
///
/// Every failing call becomes a core::Error that names the call, the kernel or size it was about, and the device.

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

/// What can be said about a device. Of the host executor: its name, and zeros.
struct Properties {
  std::string name;          ///< as the driver gives it, or "host executor"
  std::string uuid;          ///< tells two devices of a machine apart; empty for the host executor
  int ordinal = 0;           ///< as CUDA counts in this process
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::int64_t memory = 0;                   ///< [bytes]
  std::int64_t second_level_cache = 0;       ///< [bytes]
  std::int64_t shared_memory_per_block = 0;  ///< the most that a kernel may ask for [bytes]
  int driver = 0, runtime = 0;               ///< versions as CUDA counts them: 13000 is 13.0
};

/// Memory of a device, and of the machine for the host executor [bytes].
struct MemoryUse {
  std::int64_t free = 0, total = 0;
  std::int64_t ours = 0;       ///< device memory allocated through this state now
  std::int64_t most_ours = 0;  ///< the largest that was
};

/// The library was compiled with the CUDA back end.
bool built_with_cuda() noexcept;
/// Why no GPU can be used here, one sentence (no back end in this build, no driver, no device); empty where one can.
/// Collective: no.
std::string unavailable_reason();
/// The GPUs that this process sees; empty where unavailable_reason() is not.
std::vector<Properties> gpus();
/// 16 hexadecimal digits made of the content of all device code of this build (tuning.hpp).
const char* kernel_hash() noexcept;

class Device {
public:
  /// @param name        "cuda" for the GPU that this process should take: number (node_rank mod GPUs); "cuda:N" for the
  ///                    N-th; "host-executor"
  /// @param node_rank   rank of this process among those of its machine
  /// @throws InvalidArgument  an unknown name, a GPU that is not there, or unavailable_reason()
  /// Collective: no.
  static Device open(std::string_view name, int node_rank = 0);
  static Device host_executor();
  /// The same, but it runs nothing before the host waits for it: results that are read too early are NaNs or old, as
  /// they may be on a GPU. For tests of whoever enqueues work; for one thread at a time.
  static Device deferred_host_executor();

  Backend backend() const noexcept;
  bool on_gpu() const noexcept { return backend() == Backend::cuda; }
  const Properties& properties() const noexcept;
  /// "cuda:0 (NVIDIA H200)" or "host executor", for sentences.
  std::string describe() const;
  MemoryUse memory() const;
  /// Returns when all that was enqueued on any stream is done. @throws core::Error  a failure of what was enqueued
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
