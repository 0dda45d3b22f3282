// SPDX-License-Identifier: Apache-2.0
/// @file
/// The CUDA back end: each member of detail::Runtime makes one call of CUDA, and describes its failure in a sentence.
///
/// Nothing links the driver's library: the CUDA runtime looks for it at its first call, and functions of the driver
/// alone are looked up by name. So a program with this back end starts on a machine without driver or GPU.

#include "halocline/gpu/detail/runtime.hpp"

#include "halocline/core/error.hpp"

#if defined(__CUDACC__)
#include <cuda.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#if __has_include(<nvtx3/nvToolsExt.h>)
#define HALOCLINE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif
#endif

namespace halocline::gpu::detail {

#if !defined(__CUDACC__)

bool cuda_is_built() noexcept { return false; }
std::string cuda_unavailable_reason() {
  return "this build of Halocline has no GPU back end; rebuild it with -DHALOCLINE_CUDA=on where nvcc is";
}
std::vector<Properties> cuda_devices() { return {}; }
Condition cuda_condition(const Properties&) { throw core::InvalidArgument(cuda_unavailable_reason()); }
std::shared_ptr<Runtime> make_cuda_runtime(int) { throw core::InvalidArgument(cuda_unavailable_reason()); }

#else

#if CUDART_VERSION < 12080
#error "Halocline's GPU back end needs the CUDA toolkit 12.8 or newer"
#endif

namespace {

// A neighbour maps whole pieces of this size, and so can address other data that lie in the same piece.
constexpr std::size_t share_granule = std::size_t{2} << 20;
// A kernel that wants more shared memory for a block than every GPU gives must ask for it.
cudaError_t allow_shared(const KernelLaunch& launch) {
  if (launch.shared_bytes <= 48 << 10) return cudaSuccess;
  return cudaFuncSetAttribute(launch.function, cudaFuncAttributeMaxDynamicSharedMemorySize, int(launch.shared_bytes));
}

__global__ void probe() {}

using ContextOfThread = CUresult(CUcontext*);

/// Makes a device the thread's current one, and restores the former one at the end. If the thread has used no device
/// yet, this device stays current: restoring the thread's default would allocate memory on a GPU that the thread may
/// never use.
class Active {
public:
  Active(int ordinal, ContextOfThread* context_of_thread) noexcept {
    status_ = cudaGetDevice(&before_);
    if (status_ != cudaSuccess || before_ == ordinal) return;
    CUcontext context = nullptr;
    const bool used = context_of_thread == nullptr || context_of_thread(&context) != CUDA_SUCCESS || context != nullptr;
    status_ = cudaSetDevice(ordinal);
    restores_ = status_ == cudaSuccess && used;
  }
  Active(const Active&) = delete;
  Active& operator=(const Active&) = delete;
  ~Active() {
    if (restores_) static_cast<void>(cudaSetDevice(before_));
  }
  cudaError_t status() const noexcept { return status_; }

private:
  int before_ = 0;
  bool restores_ = false;
  cudaError_t status_;
};

/// Lets this thread allocate while one of its streams is being captured. The allocation is not part of the graph.
class OutsideOfCaptures {
public:
  OutsideOfCaptures() noexcept { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  OutsideOfCaptures(const OutsideOfCaptures&) = delete;
  OutsideOfCaptures& operator=(const OutsideOfCaptures&) = delete;
  ~OutsideOfCaptures() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }

private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Names launches in profiles: NVTX ranges in the domain "Halocline". Nsight Systems shows the kernels of a range under
/// its name, and Nsight Compute can select by it. Without a profiler a range costs two tests of a pointer.
class Profile {
public:
#if defined(HALOCLINE_NVTX)
  Profile() noexcept : domain_(nvtxDomainCreateA("Halocline")) {}
  Profile(const Profile&) = delete;
  Profile& operator=(const Profile&) = delete;
  ~Profile() { nvtxDomainDestroy(domain_); }

  void begin(const char* name) const noexcept {
    nvtxEventAttributes_t range{};
    range.version = NVTX_VERSION;
    range.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    range.messageType = NVTX_MESSAGE_TYPE_ASCII;
    range.message.ascii = name;
    nvtxDomainRangePushEx(domain_, &range);
  }
  void end() const noexcept { nvtxDomainRangePop(domain_); }

private:
  nvtxDomainHandle_t domain_;
#else
  void begin(const char*) const noexcept {}
  void end() const noexcept {}
#endif
};

std::string version(int number) { return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10); }

std::string words(cudaError_t status) {
  return std::string(cudaGetErrorString(status)) + " (" + cudaGetErrorName(status) + ")";
}

/// Whether an error comes from a kernel that ran earlier. Every later call returns such an error again.
bool is_of_earlier_kernel(cudaError_t status) {
  switch (status) {
  case cudaErrorIllegalAddress:
  case cudaErrorLaunchFailure:
  case cudaErrorLaunchTimeout:
  case cudaErrorAssert:
  case cudaErrorHardwareStackError:
  case cudaErrorIllegalInstruction:
  case cudaErrorMisalignedAddress:
  case cudaErrorInvalidAddressSpace:
  case cudaErrorInvalidPc:
  case cudaErrorECCUncorrectable:
  case cudaErrorNvlinkUncorrectable:
    return true;
  default:
    return false;
  }
}

std::string hexadecimal(const char* bytes, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(static_cast<unsigned char>(bytes[i])));
    text += two;
  }
  return text;
}

/// Looks up a function of the driver by name, null if the driver has none; `since` is a version as CUDA counts.
template <class Function>
Function* driver_function(const char* name, unsigned since) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult result = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t status = cudaGetDriverEntryPointByVersion(name, &found, since, cudaEnableDefault, &result);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  const bool good = status == cudaSuccess && result == cudaDriverEntryPointSuccess;
  return good ? reinterpret_cast<Function*>(found) : nullptr;
}

/// @throws core::Error  in CUDA's words
Properties properties_of(int ordinal) {
  cudaDeviceProp device{};
  Properties properties;
  properties.ordinal = ordinal;
  cudaError_t status = cudaGetDeviceProperties(&device, ordinal);
  if (status == cudaSuccess) status = cudaDriverGetVersion(&properties.driver);
  if (status == cudaSuccess) status = cudaRuntimeGetVersion(&properties.runtime);
  if (status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    throw core::Error("cuda:" + std::to_string(ordinal) + ": its properties cannot be read: " + words(status));
  }
  properties.name = device.name;
  const std::string uuid = hexadecimal(device.uuid.bytes, 16);
  properties.uuid = "GPU-" + uuid.substr(0, 8) + "-" + uuid.substr(8, 4) + "-" + uuid.substr(12, 4) + "-" +
                    uuid.substr(16, 4) + "-" + uuid.substr(20);
  properties.pci_address = pci_address(device.pciDomainID, device.pciBusID, device.pciDeviceID);
  properties.major = device.major;
  properties.minor = device.minor;
  properties.multiprocessors = device.multiProcessorCount;
  properties.memory = static_cast<std::int64_t>(device.totalGlobalMem);
  properties.second_level_cache = device.l2CacheSize;
  properties.shared_memory_per_block = static_cast<std::int64_t>(device.sharedMemPerBlockOptin);
  return properties;
}

cudaStream_t stream_of(void* handle) { return static_cast<cudaStream_t>(handle); }
cudaEvent_t event_of(void* handle) { return static_cast<cudaEvent_t>(handle); }
cudaGraphExec_t graph_of(void* handle) { return static_cast<cudaGraphExec_t>(handle); }

/// Starts CUDA on the current device, and notes what hinders.
void probe_device(Condition& of) {
  int mode = cudaComputeModeDefault;
  cudaError_t status = cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, of.properties.ordinal);
  if (status == cudaSuccess && mode == cudaComputeModeProhibited) of.sharing = Sharing::prohibited;
  if (status == cudaSuccess && mode == cudaComputeModeExclusiveProcess) of.sharing = Sharing::exclusive;
  cudaFuncAttributes attributes{};
  if (status == cudaSuccess) status = cudaFuncGetAttributes(&attributes, probe);
  of.slice = of.properties.name.find(" MIG ") != std::string::npos;
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  of.has_code = status != cudaErrorNoKernelImageForDevice && status != cudaErrorInvalidDeviceFunction;
  of.busy = status == cudaErrorDevicesUnavailable && of.sharing == Sharing::exclusive;
  if (of.has_code) of.failure = words(status);
}

class CudaRuntime final : public Runtime {
public:
  explicit CudaRuntime(const Properties& device)
      : Runtime(Backend::cuda, device, "cuda:" + std::to_string(device.ordinal) + " (" + device.name + ")"),
        ordinal_(device.ordinal),
        context_of_thread_(driver_function<ContextOfThread>("cuCtxGetCurrent", 12000)) {
    // Find out here, not at the first kernel, if the code was not compiled for this device.
    const Here here(*this);
    Condition found{.properties = device};
    probe_device(found);
    for (const Remark& remark : remarks(found))
      if (remark.hinders) throw core::InvalidArgument(description() + ": " + remark.sentence);
    stream_write_ =
        driver_function<CUresult(CUstream, CUdeviceptr, cuuint64_t, unsigned)>("cuStreamWriteValue64", 12000);
    stream_wait_ = driver_function<CUresult(CUstream, CUdeviceptr, cuuint64_t, unsigned)>("cuStreamWaitValue64", 12000);
    int longest = 0;
    check(cudaDeviceGetAttribute(&longest, cudaDevAttrMaxAccessPolicyWindowSize, ordinal_), "cudaDeviceGetAttribute");
    longest_window_ = static_cast<std::size_t>(longest);
    driver_words_ = driver_function<CUresult(CUresult, const char**)>("cuGetErrorString", 12000);
  }

  MemoryHandle export_memory(const std::byte* data, std::size_t bytes) override {
    const Here here(*this);
    cudaIpcMemHandle_t ipc{};
    check(cudaIpcGetMemHandle(&ipc, const_cast<std::byte*>(data)), "cudaIpcGetMemHandle", bytes);
    MemoryHandle handle;
    static_assert(sizeof ipc == sizeof handle.where);
    std::memcpy(handle.where.data(), &ipc, sizeof ipc);
    handle.bytes = bytes;
    handle.process = process_key();
    handle.address = reinterpret_cast<std::uintptr_t>(data);
    handle.ordinal = ordinal_;
    handle.backend = static_cast<std::int32_t>(Backend::cuda);
    return handle;
  }

  void seal_memory(const std::byte*) noexcept override {}  // the driver frees the memory of a killed process

  std::byte* open_memory(const MemoryHandle& handle) override {
    if (handle.backend != static_cast<std::int32_t>(Backend::cuda))
      throw core::InvalidArgument(description() + ": the neighbour's memory is that of the host executor; let all "
                                                  "processes have the same kind of device");
    const Here here(*this);
    if (handle.process == process_key()) {
      // CUDA cannot open a handle in the process that made it.
      if (handle.ordinal != ordinal_) {
        const cudaError_t status = cudaDeviceEnablePeerAccess(handle.ordinal, 0);
        if (status == cudaErrorPeerAccessAlreadyEnabled)
          static_cast<void>(cudaGetLastError());
        else
          check(status, "cudaDeviceEnablePeerAccess", handle.bytes);
      }
      return reinterpret_cast<std::byte*>(handle.address);
    }
    cudaIpcMemHandle_t ipc{};
    std::memcpy(&ipc, handle.where.data(), sizeof ipc);
    void* data = nullptr;
    check(cudaIpcOpenMemHandle(&data, ipc, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle", handle.bytes);
    return static_cast<std::byte*>(data);
  }

  void close_memory(const MemoryHandle& handle, std::byte* data) noexcept override {
    if (data == nullptr || handle.process == process_key()) return;
    const Active active(ordinal_, context_of_thread_);
    forget(cudaIpcCloseMemHandle(data));
  }

  void synchronize() override {
    const Here here(*this);
    const cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) fail(status, "cudaDeviceSynchronize", after(last_kernel().text()));
  }

  void* create_stream(bool urgent) override {
    const Here here(*this);
    const OutsideOfCaptures outside;
    int least = 0, greatest = 0;
    check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, urgent ? greatest : least),
          "cudaStreamCreateWithPriority");
    return stream;
  }
  void destroy_stream(void* stream) noexcept override {
    const Active active(ordinal_, context_of_thread_);
    forget(cudaStreamDestroy(stream_of(stream)));
  }
  void synchronize_stream(void* stream, const char* kernel) override {
    const Here here(*this);
    const cudaError_t status = cudaStreamSynchronize(stream_of(stream));
    if (status != cudaSuccess) fail(status, "cudaStreamSynchronize", after(kernel));
  }

  void copy(void* to, const void* from, std::size_t bytes, Copy direction, void* stream) override {
    const Here here(*this);
    const cudaMemcpyKind kind = direction == Copy::to_device ? cudaMemcpyHostToDevice
                                : direction == Copy::to_host ? cudaMemcpyDeviceToHost
                                                             : cudaMemcpyDeviceToDevice;
    const char* const call = direction == Copy::to_device ? "cudaMemcpyAsync to the device"
                             : direction == Copy::to_host ? "cudaMemcpyAsync to the host"
                                                          : "cudaMemcpyAsync on the device";
    check(cudaMemcpyAsync(to, from, bytes, kind, stream_of(stream)), call, bytes);
  }
  void set_zero(void* data, std::size_t bytes, void* stream) override {
    const Here here(*this);
    check(cudaMemsetAsync(data, 0, bytes, stream_of(stream)), "cudaMemsetAsync", bytes);
  }
  void call_on_host(void (*function)(void*), void* data, void* stream) override {
    const Here here(*this);
    check(cudaLaunchHostFunc(stream_of(stream), function, data), "cudaLaunchHostFunc");
  }
  void write_value(std::uint64_t* address, std::uint64_t value, void* stream) override {
    const Here here(*this);
    if (stream_write_ == nullptr) fail_without("cuStreamWriteValue64");
    check_driver(
        stream_write_(stream_of(stream), reinterpret_cast<CUdeviceptr>(address), value, CU_STREAM_WRITE_VALUE_DEFAULT),
        "cuStreamWriteValue64");
  }
  void wait_value(const std::uint64_t* address, std::uint64_t value, double, void* stream) override {
    const Here here(*this);
    if (stream_wait_ == nullptr) fail_without("cuStreamWaitValue64");
    check_driver(
        stream_wait_(stream_of(stream), reinterpret_cast<CUdeviceptr>(address), value, CU_STREAM_WAIT_VALUE_GEQ),
        "cuStreamWaitValue64");
  }

  void launch(const KernelLaunch& launch) override {
    const Here here(*this);
    std::array<cudaLaunchAttribute, 2> attributes{};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(launch.grid[0], launch.grid[1], launch.grid[2]);
    config.blockDim = dim3(launch.block[0], launch.block[1], launch.block[2]);
    config.dynamicSmemBytes = launch.shared_bytes;
    config.stream = stream_of(launch.stream);
    config.attrs = attributes.data();
    if (launch.carveout >= 0) {
      auto& carveout = attributes[config.numAttrs++];
      carveout.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
      carveout.val.sharedMemCarveout = static_cast<unsigned>(launch.carveout);
    }
    if (launch.read_once.data != nullptr && longest_window_ > 0) {
      auto& once = attributes[config.numAttrs++];
      once.id = cudaLaunchAttributeAccessPolicyWindow;
      auto& window = once.val.accessPolicyWindow;
      window.base_ptr = const_cast<void*>(launch.read_once.data);
      window.num_bytes = std::min(launch.read_once.bytes, longest_window_);
      window.hitRatio = 1.0F;
      window.hitProp = cudaAccessPropertyStreaming;
      window.missProp = cudaAccessPropertyNormal;
    }
    profile_.begin(launch.name);
    cudaError_t status = allow_shared(launch);
    if (status == cudaSuccess) status = cudaLaunchKernelExC(&config, launch.function, launch.arguments);
    profile_.end();
    if (status != cudaSuccess) {
      const auto earlier = is_of_earlier_kernel(status) ? "; an earlier one failed: " + after(launch.after) : "";
      fail(status, "cudaLaunchKernelExC", describe(launch) + earlier);
    }
    const std::scoped_lock lock(mutex_);
    last_kernel_ = KernelName(launch.name);
  }

  void run_on_host(std::function<void()>, void*) override {
    throw core::Error(description() + ": a kernel that was compiled without nvcc was launched on a GPU");
  }

  void* create_event(bool timing) override {
    const Here here(*this);
    const OutsideOfCaptures outside;
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, timing ? cudaEventDefault : cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
    return event;
  }
  void destroy_event(void* event) noexcept override {
    const Active active(ordinal_, context_of_thread_);
    forget(cudaEventDestroy(event_of(event)));
  }
  void record_event(void* event, void* stream) override {
    const Here here(*this);
    check(cudaEventRecord(event_of(event), stream_of(stream)), "cudaEventRecord");
  }
  void wait_in_stream(void* event, void* stream) override {
    const Here here(*this);
    check(cudaStreamWaitEvent(stream_of(stream), event_of(event), cudaEventWaitDefault), "cudaStreamWaitEvent");
  }
  bool event_done(void* event, const char* kernel) override {
    const Here here(*this);
    const cudaError_t status = cudaEventQuery(event_of(event));
    if (status == cudaErrorNotReady) return false;
    if (status != cudaSuccess) fail(status, "cudaEventQuery", after(kernel));
    return true;
  }
  void wait_event(void* event, const char* kernel) override {
    const Here here(*this);
    const cudaError_t status = cudaEventSynchronize(event_of(event));
    if (status != cudaSuccess) fail(status, "cudaEventSynchronize", after(kernel));
  }
  double elapsed(void* begin, void* end) override {
    const Here here(*this);
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, event_of(begin), event_of(end)), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

  void begin_capture(void* stream) override {
    const Here here(*this);
    check(cudaStreamBeginCapture(stream_of(stream), cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    ++captures_;
  }
  void* end_capture(void* stream, bool keep) override {
    const Active active(ordinal_, context_of_thread_);
    --captures_;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t ready = nullptr;
    cudaError_t status = cudaStreamEndCapture(stream_of(stream), &graph);
    const char* call = "cudaStreamEndCapture";
    if (status == cudaSuccess && keep) {
      status = cudaGraphInstantiate(&ready, graph, 0);
      call = "cudaGraphInstantiate";
    }
    if (graph != nullptr) forget(cudaGraphDestroy(graph));
    if (keep) check(status, call);
    forget(status);
    return ready;
  }
  void destroy_graph(void* graph) noexcept override {
    const Active active(ordinal_, context_of_thread_);
    forget(cudaGraphExecDestroy(graph_of(graph)));
  }
  void launch_graph(void* graph, void* stream) override {
    const Here here(*this);
    profile_.begin("graph");
    const cudaError_t status = cudaGraphLaunch(graph_of(graph), stream_of(stream));
    profile_.end();
    check(status, "cudaGraphLaunch");
  }

protected:
  std::byte* try_allocate(Memory kind, std::size_t bytes) override {
    const Here here(*this);
    const OutsideOfCaptures outside;
    void* data = nullptr;
    if (kind == Memory::shareable) {
      if (bytes > SIZE_MAX - share_granule) return nullptr;
      bytes = (bytes + share_granule - 1) / share_granule * share_granule;
    }
    const bool pinned = kind == Memory::pinned;
    const cudaError_t status = pinned ? cudaHostAlloc(&data, bytes, cudaHostAllocPortable) : cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    check(status, pinned ? "cudaHostAlloc" : "cudaMalloc", bytes);
    if (pinned) std::memset(data, 0, bytes);
    return static_cast<std::byte*>(data);
  }
  /// CUDA invalidates a capture whose device is synchronized.
  bool may_synchronize() const noexcept override { return captures_ == 0; }
  void free(Memory kind, std::byte* data, std::size_t) noexcept override {
    const Active active(ordinal_, context_of_thread_);
    const OutsideOfCaptures outside;
    forget(kind == Memory::pinned ? cudaFreeHost(data) : cudaFree(data));
  }
  void measure_memory(std::int64_t& free, std::int64_t& total) const override {
    const Here here(*this);
    std::size_t left = 0, all = 0;
    check(cudaMemGetInfo(&left, &all), "cudaMemGetInfo");
    free = static_cast<std::int64_t>(left);
    total = static_cast<std::int64_t>(all);
  }

private:
  /// For members that may throw.
  struct Here : Active {
    explicit Here(const CudaRuntime& runtime) : Active(runtime.ordinal_, runtime.context_of_thread_) {
      runtime.check(status(), "cudaSetDevice");
    }
  };

  [[noreturn]] void fail(cudaError_t status, const char* call, const std::string& about = "") const {
    static_cast<void>(cudaGetLastError());
    throw core::Error(description() + ": " + call + (about.empty() ? "" : " (" + about + ")") + ": " + words(status));
  }
  [[noreturn]] void fail_without(const char* function) const {
    throw core::Error(description() + ": the driver has no function " + function +
                      "; update it, or take another policy");
  }
  void check(cudaError_t status, const char* call) const {
    if (status != cudaSuccess) fail(status, call);
  }
  void check(cudaError_t status, const char* call, std::size_t bytes) const {
    if (status != cudaSuccess) fail(status, call, std::to_string(bytes) + " bytes");
  }
  void check_driver(CUresult status, const char* call) const {
    if (status == CUDA_SUCCESS) return;
    const char* text = nullptr;
    if (driver_words_ != nullptr) static_cast<void>(driver_words_(status, &text));
    throw core::Error(description() + ": " + call + ": " + (text == nullptr ? "error" : text) + " (" +
                      std::to_string(static_cast<int>(status)) + ")");
  }
  /// For members that must not throw: a failure that matters returns at the next synchronisation.
  static void forget(cudaError_t status) noexcept {
    if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  }
  static std::string after(const char* kernel) {
    return *kernel == '\0' ? "no kernel was launched before" : "the kernel launched last is " + std::string(kernel);
  }
  KernelName last_kernel() {
    const std::scoped_lock lock(mutex_);
    return last_kernel_;
  }

  int ordinal_;
  ContextOfThread* context_of_thread_;
  std::size_t longest_window_ = 0;  // of an access policy [bytes]
  CUresult (*stream_write_)(CUstream, CUdeviceptr, cuuint64_t, unsigned) = nullptr;
  CUresult (*stream_wait_)(CUstream, CUdeviceptr, cuuint64_t, unsigned) = nullptr;
  CUresult (*driver_words_)(CUresult, const char**) = nullptr;
  Profile profile_;
  std::atomic<int> captures_{0};  // streams that are capturing now
  std::mutex mutex_;
  KernelName last_kernel_;
};

}  // namespace

bool cuda_is_built() noexcept { return true; }

std::string cuda_unavailable_reason() {
  int driver = 0, runtime = 0, count = 0;
  cudaError_t status = cudaDriverGetVersion(&driver);
  if (status == cudaSuccess) status = cudaRuntimeGetVersion(&runtime);
  if (status == cudaSuccess) status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  if (driver == 0) return "no GPU can be used: there is no NVIDIA driver on this machine (libcuda.so.1 was not found)";
  if (status == cudaErrorInsufficientDriver)
    return "no GPU can be used: the NVIDIA driver is one for CUDA " + version(driver) +
           ", and this build needs one for CUDA " + version(runtime) +
           "; update the driver, or build with an older CUDA toolkit";
  if (status == cudaErrorNoDevice || (status == cudaSuccess && count == 0)) {
    const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
    return std::string("no GPU can be used: there is an NVIDIA driver, and no device that this process may see") +
           (visible == nullptr ? "" : " (CUDA_VISIBLE_DEVICES is \"" + std::string(visible) + "\")");
  }
  if (status != cudaSuccess) return "no GPU can be used: CUDA does not start: " + words(status);
  return "";
}

std::vector<Properties> cuda_devices() {
  std::vector<Properties> devices;
  if (!cuda_unavailable_reason().empty()) return devices;
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) devices.push_back(properties_of(ordinal));
  return devices;
}

Condition cuda_condition(const Properties& device) {
  Condition found{.properties = device};
  const Active active(device.ordinal, driver_function<ContextOfThread>("cuCtxGetCurrent", 12000));
  if (active.status() == cudaSuccess)
    probe_device(found);
  else
    found.failure = words(active.status());
  std::size_t left = 0, all = 0;
  if (found.failure.empty() && found.has_code && cudaMemGetInfo(&left, &all) == cudaSuccess)
    found.others = static_cast<std::int64_t>(all - left);
  static_cast<void>(cudaGetLastError());
  return found;
}

std::shared_ptr<Runtime> make_cuda_runtime(int ordinal) {
  return std::make_shared<CudaRuntime>(properties_of(ordinal));
}

#endif

}  // namespace halocline::gpu::detail
