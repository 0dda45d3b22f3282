// SPDX-License-Identifier: Apache-2.0

#include "halocline/gpu/device.hpp"

#include "halocline/core/error.hpp"
#include "halocline/gpu/detail/runtime.hpp"

#include <charconv>

namespace halocline::gpu {
namespace {

[[noreturn]] void throw_name(std::string_view name) {
  throw core::InvalidArgument("there is no device \"" + std::string(name) +
                              "\"; give \"cuda\", \"cuda:N\" with the number of a GPU, or \"host-executor\"");
}

int number_in(std::string_view name, std::string_view digits) {
  int number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size() || number < 0) throw_name(name);
  return number;
}

}  // namespace

bool built_with_cuda() noexcept { return detail::cuda_is_built(); }
std::string unavailable_reason() { return detail::cuda_unavailable_reason(); }
std::vector<Properties> gpus() { return detail::cuda_devices(); }

Device Device::host_executor() { return Device(detail::make_host_runtime(false)); }
Device Device::deferred_host_executor() { return Device(detail::make_host_runtime(true)); }

Device Device::open(std::string_view name, int node_rank) {
  if (name == "host-executor") return host_executor();
  const bool any = name == "cuda";
  if (!any && !name.starts_with("cuda:")) throw_name(name);
  const int asked = any ? 0 : number_in(name, name.substr(5));
  if (node_rank < 0)
    throw core::InvalidArgument("a device was asked for by process " + std::to_string(node_rank) +
                                " of its machine; processes count from 0");
  if (const std::string why = unavailable_reason(); !why.empty()) throw core::InvalidArgument(why);
  const int there = static_cast<int>(gpus().size());
  if (asked >= there)
    throw core::InvalidArgument("device \"" + std::string(name) + "\" is not there: this process sees " +
                                std::to_string(there) + (there == 1 ? " GPU" : " GPUs") + ", counted from 0");
  return Device(detail::make_cuda_runtime(any ? node_rank % there : asked));
}

Backend Device::backend() const noexcept { return runtime_->backend(); }
const Properties& Device::properties() const noexcept { return runtime_->properties(); }
std::string Device::describe() const { return runtime_->description(); }
MemoryUse Device::memory() const { return runtime_->memory(); }
void Device::synchronize() const { runtime_->synchronize(); }

}  // namespace halocline::gpu
