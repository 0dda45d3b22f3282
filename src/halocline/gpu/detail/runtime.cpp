// SPDX-License-Identifier: Apache-2.0
/// @file
/// Common code of both back ends: counting allocated memory, and texts for messages.

#include "halocline/gpu/detail/runtime.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <cstdio>
#include <sys/stat.h>
#include <unistd.h>

namespace halocline::gpu::detail {
namespace {

const char* name_of(Memory kind) { return kind == Memory::pinned ? "pinned host memory" : "device memory"; }

}  // namespace

std::string amount(std::uint64_t bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 6) {
    value /= 1024;
    ++unit;
  }
  char text[48];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
  return text;
}

std::string describe(const KernelLaunch& launch) {
  const auto sizes = [](const std::array<unsigned, 3>& n) {
    return std::to_string(n[0]) + " x " + std::to_string(n[1]) + " x " + std::to_string(n[2]);
  };
  std::string text = "kernel " + std::string(launch.name) + ", " + sizes(launch.grid) + " blocks of " +
                     sizes(launch.block) + " threads";
  if (launch.shared_bytes > 0) text += ", each with " + std::to_string(launch.shared_bytes) + " bytes of shared memory";
  if (launch.carveout >= 0) text += ", shared memory " + std::to_string(launch.carveout) + " % of the cache";
  return text;
}

std::uint64_t process_key() noexcept {
  // Process numbers are unique within a PID namespace, and a container has a namespace of its own.
  struct stat status = {};
  const std::uint64_t space = stat("/proc/self/ns/pid", &status) == 0 ? static_cast<std::uint64_t>(status.st_ino) : 0;
  return space << 32 ^ static_cast<std::uint64_t>(getpid());
}

std::byte* Runtime::try_within_limit(Memory kind, std::size_t bytes) {
  if (kind != Memory::pinned && bytes > static_cast<std::uint64_t>(std::max<std::int64_t>(0, limit_ - ours_)))
    return nullptr;
  return try_allocate(kind, bytes);
}

void Runtime::add_reserve(Reserve& reserve) {
  const std::scoped_lock lock(reserves_mutex_);
  reserves_.push_back(&reserve);
}

void Runtime::remove_reserve(Reserve& reserve) noexcept {
  const std::scoped_lock lock(reserves_mutex_);
  std::erase(reserves_, &reserve);
}

/// Returns whether it has freed any memory. The pieces are taken first, and the device is awaited then: a piece that
/// its owner's stream may still work on is not freed.
bool Runtime::free_reserves() {
  if (!may_synchronize()) return false;
  std::vector<std::span<std::byte>> idle;
  {
    const std::scoped_lock lock(reserves_mutex_);
    for (Reserve* const reserve : reserves_)
      for (const std::span<std::byte> piece : reserve->take_idle()) idle.push_back(piece);
  }
  if (idle.empty()) return false;
  const auto free_all = [&] {
    for (const std::span<std::byte> piece : idle) release(Memory::device, piece.data(), piece.size());
  };
  try {
    synchronize();
  } catch (...) {
    free_all();
    throw;
  }
  free_all();
  return true;
}

std::byte* Runtime::allocate(Memory kind, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  std::byte* data = try_within_limit(kind, bytes);
  if (data == nullptr && kind != Memory::pinned && free_reserves()) data = try_within_limit(kind, bytes);
  if (data == nullptr) {
    std::int64_t free = 0, total = 0;
    try {
      measure_memory(free, total);
    } catch (const core::Error&) {
      // A failed device reports its error when it is synchronized; the sizes stay 0 here.
    }
    std::string sentence = description_ + ": out of memory: " + std::to_string(bytes) + " bytes (" + amount(bytes) +
                           ") of " + name_of(kind) + " were asked for; ";
    if (kind != Memory::pinned)
      sentence += amount(static_cast<std::uint64_t>(free)) + " of " + amount(static_cast<std::uint64_t>(total)) +
                  " are free, and this device object holds " + amount(static_cast<std::uint64_t>(ours_.load())) +
                  "; take a smaller problem, fewer right-hand sides, or more devices";
    else
      sentence += "this device object holds " + amount(static_cast<std::uint64_t>(pinned_.load())) +
                  " of it; the limit is the machine's (ulimit -l, or its memory)";
    throw core::Error(sentence);
  }
  ++allocations_;
  auto& account = kind == Memory::pinned ? pinned_ : ours_;
  const std::int64_t now = account.fetch_add(static_cast<std::int64_t>(bytes)) + static_cast<std::int64_t>(bytes);
  if (kind != Memory::pinned) {
    std::int64_t most = most_ours_.load();
    while (most < now && !most_ours_.compare_exchange_weak(most, now)) {
    }
  }
  return data;
}

void Runtime::release(Memory kind, std::byte* data, std::size_t bytes) noexcept {
  if (data == nullptr) return;
  free(kind, data, bytes);
  (kind == Memory::pinned ? pinned_ : ours_).fetch_sub(static_cast<std::int64_t>(bytes));
}

MemoryUse Runtime::memory() const {
  MemoryUse use;
  measure_memory(use.free, use.total);
  use.ours = ours_.load();
  use.most_ours = most_ours_.load();
  use.allocations = allocations_.load();
  return use;
}

std::string pci_address(int domain, int bus, int device) {
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", static_cast<unsigned>(domain), static_cast<unsigned>(bus),
                static_cast<unsigned>(device));
  return text;
}

}  // namespace halocline::gpu::detail
