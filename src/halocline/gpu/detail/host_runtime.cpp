// SPDX-License-Identifier: Apache-2.0
/// @file
/// The host executor. Device memory is host memory. Work runs when it is enqueued, or, if the executor defers work,
/// when the host waits for it (host_queues.hpp).
///
/// Fresh device memory is filled with bytes 0xff, which are NaNs, to expose a kernel that relies on zeros. Memory that
/// other processes may map is a named POSIX segment of its own; the handle carries the name. The name is removed when
/// the owner seals or frees the memory.

#include "halocline/gpu/detail/runtime.hpp"

#include "halocline/core/error.hpp"
#include "halocline/core/pause.hpp"
#include "halocline/gpu/detail/host_queues.hpp"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <iterator>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace halocline::gpu::detail {
namespace {

constexpr std::align_val_t alignment{256};

[[noreturn]] void refuse(const char* call, int error, std::uint64_t bytes) {
  std::string hint;
  if (error == ENOSPC) hint = "; enlarge /dev/shm (in a container: --shm-size)";
  if (error == ENOENT) hint = "; the processes do not see the same /dev/shm, or the memory was freed or sealed";
  throw core::Error("host executor: shareable memory of " + std::to_string(bytes) + " bytes: " + call + ": " +
                    std::generic_category().message(error) + hint);
}

/// A file descriptor, closed in the destructor.
struct File {
  explicit File(int given) noexcept : descriptor(given) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
  int descriptor;
};

std::byte* map_file(const File& file, std::size_t bytes) {
  void* const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.descriptor, 0);
  if (begin == MAP_FAILED) refuse("mmap", errno, bytes);
  return static_cast<std::byte*>(begin);
}

class HostRuntime final : public Runtime {
public:
  explicit HostRuntime(bool deferred)
      : Runtime(Backend::host, of_this_host(), deferred ? "host executor, deferred" : "host executor"),
        deferred_(deferred) {}
  ~HostRuntime() override {
    for (const auto& [data, name] : names_) shm_unlink(name.c_str());
  }

  MemoryHandle export_memory(const std::byte* data, std::size_t bytes) override {
    const std::scoped_lock lock(mutex_);
    const auto found = names_.find(data);
    if (found == names_.end())
      throw core::InvalidArgument("host executor: memory that is not shareable, or sealed already, has no handle");
    MemoryHandle handle;
    std::snprintf(handle.where.data(), handle.where.size(), "%s", found->second.c_str());
    handle.bytes = bytes;
    handle.process = process_key();
    handle.address = reinterpret_cast<std::uintptr_t>(data);
    handle.backend = static_cast<std::int32_t>(Backend::host);
    return handle;
  }

  void seal_memory(const std::byte* data) noexcept override {
    const std::scoped_lock lock(mutex_);
    const auto found = names_.find(data);
    if (found == names_.end()) return;
    shm_unlink(found->second.c_str());
    names_.erase(found);
  }

  std::byte* open_memory(const MemoryHandle& handle) override {
    if (handle.backend != static_cast<std::int32_t>(Backend::host))
      throw core::InvalidArgument("host executor: the neighbour's memory is that of a GPU; let all processes have the "
                                  "same kind of device");
    if (handle.process == process_key()) return reinterpret_cast<std::byte*>(handle.address);
    const File file(shm_open(handle.where.data(), O_RDWR, 0));
    if (file.descriptor < 0) refuse("shm_open", errno, handle.bytes);
    struct stat status = {};
    if (fstat(file.descriptor, &status) != 0) refuse("fstat", errno, handle.bytes);
    if (static_cast<std::uint64_t>(status.st_size) < handle.bytes) refuse("shm_open", ENOENT, handle.bytes);
    return map_file(file, handle.bytes);
  }

  void close_memory(const MemoryHandle& handle, std::byte* data) noexcept override {
    if (data != nullptr && handle.process != process_key()) munmap(data, handle.bytes);
  }

  void synchronize() override { queues_.run_all(); }
  void* create_stream(bool) override { return deferred_ ? queues_.create().get() : nullptr; }
  void destroy_stream(void* stream) noexcept override {
    try {
      queues_.destroy(*queue_of(stream));
    } catch (const std::exception&) {
      // As on a GPU: an error after the last wait is not reported.
    }
  }
  void synchronize_stream(void* stream, const char*) override {
    if (stream != nullptr) queues_.run_until(HostQueues::end_of(*queue_of(stream)));
  }
  void run_on_host(std::function<void()> work, void* stream) override { enqueue(stream, std::move(work)); }

  void copy(void* to, const void* from, std::size_t bytes, Copy direction, void* stream) override {
    if (stream == nullptr) {
      std::memmove(to, from, bytes);
    } else if (direction == Copy::to_device && !is_pinned(from)) {
      // CUDA takes the bytes before it returns. A copy from pinned memory reads the memory when it runs.
      const auto* const begin = static_cast<const std::byte*>(from);
      enqueue(stream, [to, taken = std::vector<std::byte>(begin, begin + bytes)] {
        std::memcpy(to, taken.data(), taken.size());
      });
    } else {
      enqueue(stream, [to, from, bytes] { std::memmove(to, from, bytes); });
      if (direction == Copy::to_host && !is_pinned(to)) synchronize_stream(stream, "");  // as CUDA does
    }
  }
  void set_zero(void* data, std::size_t bytes, void* stream) override {
    enqueue(stream, [data, bytes] { std::memset(data, 0, bytes); });
  }
  void call_on_host(void (*function)(void*), void* data, void* stream) override {
    enqueue(stream, [function, data] { function(data); });
  }

  void write_value(std::uint64_t* address, std::uint64_t value, void* stream) override {
    const auto write = [address, value] { std::atomic_ref(*address).store(value, std::memory_order_release); };
    if (stream == nullptr)
      write();
    else
      queues_.push(*queue_of(stream), write, true);
  }

  void wait_value(const std::uint64_t* address, std::uint64_t value, double time_limit, void* stream) override {
    enqueue(stream, [this, address, value, time_limit] { wait_now(address, value, time_limit); });
  }

  void launch(const KernelLaunch& launch) override {
    throw core::Error(std::string("host executor: asked to launch the CUDA kernel ") + launch.name);
  }

  void* create_event(bool) override { return deferred_ ? new HostPoint : nullptr; }
  void destroy_event(void* event) noexcept override { delete point_of(event); }
  void record_event(void* event, void* stream) override {
    if (event != nullptr) *point_of(event) = HostQueues::end_of(*queue_of(stream));
  }
  void wait_in_stream(void* event, void* stream) override {
    if (event != nullptr) queues_.push_wait(*queue_of(stream), *point_of(event));
  }
  bool event_done(void* event, const char*) override {
    if (event == nullptr || point_of(event)->done()) return true;
    queues_.step();  // a GPU makes progress while the host polls
    return false;
  }
  void wait_event(void* event, const char*) override {
    if (event != nullptr) queues_.run_until(*point_of(event));
  }
  double elapsed(void*, void*) override { return 0; }

  void begin_capture(void*) override {}
  void* end_capture(void*, bool) override { return nullptr; }
  void destroy_graph(void*) noexcept override {}
  void launch_graph(void*, void*) override {}

protected:
  std::byte* try_allocate(Memory kind, std::size_t bytes) override {
    std::int64_t free = 0, total = 0;
    measure_memory(free, total);
    if (bytes > static_cast<std::uint64_t>(total)) return nullptr;  // Linux would grant it, and later kill the process
    if (kind == Memory::shareable) return make_segment(bytes);
    auto* const data = static_cast<std::byte*>(::operator new(bytes, alignment, std::nothrow));
    if (data != nullptr) std::memset(data, kind == Memory::pinned ? 0 : 0xff, bytes);
    if (deferred_ && kind == Memory::pinned && data != nullptr) pinned_.emplace(data, bytes);
    return data;
  }

  void free(Memory kind, std::byte* data, std::size_t bytes) noexcept override {
    finish();
    if (kind == Memory::pinned) pinned_.erase(data);
    if (kind == Memory::shareable) {
      seal_memory(data);
      munmap(data, bytes);
    } else {
      ::operator delete(data, alignment);
    }
  }

  void measure_memory(std::int64_t& free, std::int64_t& total) const override {
    const std::int64_t page = sysconf(_SC_PAGESIZE);
    free = page * static_cast<std::int64_t>(sysconf(_SC_AVPHYS_PAGES));
    total = page * static_cast<std::int64_t>(sysconf(_SC_PHYS_PAGES));
  }

private:
  static HostQueue* queue_of(void* stream) { return static_cast<HostQueue*>(stream); }
  static HostPoint* point_of(void* event) { return static_cast<HostPoint*>(event); }

  template <class Work>
  void enqueue(void* stream, Work&& work) {
    if (stream == nullptr)
      work();
    else
      queues_.push(*queue_of(stream), std::forward<Work>(work));
  }

  /// Freeing waits for the device, as cudaFree does.
  void finish() noexcept {
    try {
      queues_.run_all();
    } catch (const std::exception&) {
      // The code that frees cannot use the error.
    }
  }

  bool is_pinned(const void* address) const {
    const auto* const byte = static_cast<const std::byte*>(address);
    const auto after = pinned_.upper_bound(byte);
    if (after == pinned_.begin()) return false;
    const auto& [begin, bytes] = *std::prev(after);
    return byte < begin + bytes;
  }

  void wait_now(const std::uint64_t* address, std::uint64_t value, double time_limit) {
    using Clock = std::chrono::steady_clock;
    const auto begin = Clock::now();
    const std::atomic_ref<std::uint64_t> number(*const_cast<std::uint64_t*>(address));
    for (int looks = 1; number.load(std::memory_order_acquire) < value; ++looks) {
      core::pause();
      if (looks % 256 != 0 || queues_.step()) continue;
      if (std::chrono::duration<double>(Clock::now() - begin).count() > time_limit)
        throw core::Error("host executor: a stream has waited " + std::to_string(time_limit) +
                          " s for a number in device memory to become " + std::to_string(value) + "; it is " +
                          std::to_string(number.load()));
      std::this_thread::yield();
    }
  }

  static Properties of_this_host() {
    Properties host;
    host.name = "host executor";
    return host;
  }

  std::byte* make_segment(std::size_t bytes) {
    auto draw = static_cast<unsigned long long>(std::chrono::steady_clock::now().time_since_epoch().count());
    for (int attempt = 0; attempt < 100; ++attempt, ++draw) {
      char name[64];
      std::snprintf(name, sizeof name, "/halocline-%lld-%llx", static_cast<long long>(getpid()), draw);
      const File file(shm_open(name, O_CREAT | O_EXCL | O_RDWR, S_IRUSR | S_IWUSR));
      if (file.descriptor < 0 && errno == EEXIST) continue;
      if (file.descriptor < 0) refuse("shm_open", errno, bytes);
      try {
        if (ftruncate(file.descriptor, static_cast<off_t>(bytes)) != 0) refuse("ftruncate", errno, bytes);
        int error = 0;
        do {
          error = posix_fallocate(file.descriptor, 0, static_cast<off_t>(bytes));
        } while (error == EINTR);
        if (error != 0) refuse("posix_fallocate", error, bytes);
        std::byte* const data = map_file(file, bytes);
        std::memset(data, 0xff, bytes);
        const std::scoped_lock lock(mutex_);
        names_.emplace(data, name);
        return data;
      } catch (...) {
        shm_unlink(name);
        throw;
      }
    }
    refuse("shm_open", EEXIST, bytes);
  }

  std::mutex mutex_;
  std::map<const std::byte*, std::string> names_;  // segments that other processes may still open
  bool deferred_;
  HostQueues queues_;
  std::map<const std::byte*, std::size_t> pinned_;  // sizes [bytes]; used when work is deferred
};

}  // namespace

std::shared_ptr<Runtime> make_host_runtime(bool deferred) { return std::make_shared<HostRuntime>(deferred); }

}  // namespace halocline::gpu::detail
