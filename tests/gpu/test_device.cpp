// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/device.hpp"

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/array.hpp"
#include "halocline/gpu/condition.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace halocline;

namespace {

/// What an action throws, "" when it throws nothing.
template <class Error, class Action>
std::string thrown(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("device: a machine without a usable GPU gives one sentence, and so does opening one") {
  const std::string why = gpu::unavailable_reason();
  CHECK(gpu::gpus().empty() == !why.empty());
  if (why.empty()) {
    const gpu::Device device = gpu::Device::open("cuda");
    CHECK(device.on_gpu());
    CHECK(device.properties().multiprocessors > 0);
    CHECK(device.properties().memory > 0);
    CHECK(device.describe() == "cuda:0 (" + device.properties().name + ")");
  } else {
    MESSAGE("skipped on this machine: tests on a GPU, because " << why);
    CHECK(why.find('\n') == std::string::npos);
    CHECK(thrown<core::InvalidArgument>([] { (void)gpu::Device::open("cuda"); }) == why);
    CHECK(thrown<core::InvalidArgument>([] { (void)gpu::Device::open("cuda:0", 3); }) == why);
  }
  if (!gpu::built_with_cuda()) CHECK(holds(why, "-DHALOCLINE_CUDA=on"));
}

TEST_CASE("device: names that are none are refused, and the sentence lists those that are") {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "cuda:99999999999", "CUDA", "host"}) {
    CAPTURE(name);
    const std::string sentence = thrown<core::InvalidArgument>([&] { (void)gpu::Device::open(name); });
    CHECK(holds(sentence, "\"" + std::string(name) + "\""));
    CHECK(holds(sentence, "host-executor"));
    CHECK(holds(sentence, "cuda:N"));
  }
  CHECK(holds(thrown<core::InvalidArgument>([] { (void)gpu::Device::open("cuda", -1); }), "-1"));
  if (gpu::unavailable_reason().empty())
    CHECK(holds(thrown<core::InvalidArgument>([] { (void)gpu::Device::open("cuda:4096"); }), "not there"));
}

TEST_CASE("device: the host executor says what it is") {
  const gpu::Device device = gpu::Device::open("host-executor");
  CHECK(device.backend() == gpu::Backend::host);
  CHECK_FALSE(device.on_gpu());
  CHECK(device.describe() == "host executor");
  CHECK(device.properties().name == "host executor");
  CHECK(device.properties().multiprocessors == 0);
  const gpu::Device copy = device;
  CHECK(copy == device);
  CHECK_FALSE(gpu::Device::host_executor() == device);
}

TEST_CASE("device: the account of memory belongs to one device object, rises, and comes back to nothing") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    const gpu::Device other = device.on_gpu() ? gpu::Device::open("cuda") : gpu::Device::host_executor();
    CHECK(device.memory().total > 0);
    CHECK(device.memory().free > 0);
    {
      const gpu::DeviceArray<double> a(device, 1000);
      gpu::DeviceArray<std::int16_t> b(device, 24);
      CHECK(device.memory().ours == 8048);
      CHECK(other.memory().ours == 0);
      gpu::DeviceArray<std::int16_t> moved(std::move(b));
      b = gpu::DeviceArray<std::int16_t>(device, 1);
      CHECK(device.memory().ours == 8050);
      moved = gpu::DeviceArray<std::int16_t>();
      CHECK(device.memory().ours == 8002);
      const gpu::PinnedArray<double> host(device, 100);
      CHECK(device.memory().ours == 8002);
    }
    CHECK(device.memory().ours == 0);
    CHECK(device.memory().most_ours == 8050);
    CHECK(other.memory().most_ours == 0);
  }
}

TEST_CASE("device: out of memory says what was asked for, what is free and what is held, and harms nothing") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    const gpu::DeviceArray<char> held(device, 3 << 20);
    constexpr std::int64_t asked = std::int64_t{1} << 50;
    const std::string sentence = thrown<core::Error>([&] { const gpu::DeviceArray<char> array(device, asked); });
    CHECK(holds(sentence, device.describe()));
    CHECK(holds(sentence, std::to_string(asked)));
    CHECK(holds(sentence, "1.0 PiB"));
    CHECK(holds(sentence, "free"));
    CHECK(holds(sentence, "3.0 MiB"));
    CHECK(holds(thrown<core::Error>([&] { const gpu::PinnedArray<char> array(device, asked); }), "pinned"));
    CHECK(device.memory().ours == 3 << 20);
    const gpu::DeviceArray<char> small(device, 1);
    CHECK(small.data() != nullptr);
  }
}

TEST_CASE("device: sizes that are none are refused") {
  const gpu::Device device = gpu::Device::host_executor();
  CHECK(holds(thrown<core::InvalidArgument>([&] { const gpu::DeviceArray<double> array(device, -1); }), "-1"));
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  CHECK(
      holds(thrown<core::InvalidArgument>([&] { const gpu::PinnedArray<double> array(device, most / 4); }), "8 bytes"));
}

TEST_CASE("device: the hash of the kernels is 16 hexadecimal digits") {
  const std::string hash = gpu::kernel_hash();
  CHECK(hash.size() == 16);
  CHECK(hash.find_first_not_of("0123456789abcdef") == std::string::npos);
}

TEST_CASE("device: what hinders a GPU is said in one sentence each") {
  gpu::Condition free;
  free.properties.name = "NVIDIA H200";
  free.properties.major = 9;
  free.properties.memory = std::int64_t{140} << 30;
  free.others = std::int64_t{500} << 20;  // of CUDA itself
  CHECK(gpu::remarks(free).empty());
  const auto first = [&](auto change) {
    gpu::Condition of = free;
    change(of);
    const auto found = gpu::remarks(of);
    REQUIRE(found.size() == 1);
    return found[0];
  };
  const auto contains = [](const gpu::Remark& of, const char* text) {
    return of.sentence.find(text) != std::string::npos;
  };
  const auto code = first([](auto& of) { of.has_code = false; });
  CHECK(code.hinders);
  CHECK(contains(code, "compute capability 9.0"));
  CHECK(contains(code, "-DHALOCLINE_CUDA_ARCHITECTURES=90"));
  const auto busy = first([](auto& of) {
    of.sharing = gpu::Sharing::exclusive;
    of.busy = true;
    of.failure = "busy";
  });
  CHECK(busy.hinders);
  CHECK(contains(busy, "another process has it for itself"));
  CHECK(first([](auto& of) { of.sharing = gpu::Sharing::prohibited; }).hinders);
  CHECK(contains(first([](auto& of) { of.failure = "out of memory"; }), "does not start on it: out of memory"));
  const auto slice = first([](auto& of) { of.slice = true; });
  CHECK(!slice.hinders);
  CHECK(contains(slice, "MIG"));
  const auto shared = first([](auto& of) { of.others = std::int64_t{40} << 30; });
  CHECK(!shared.hinders);
  CHECK(contains(shared, "other processes hold 40.0 GiB of its 140.0 GiB"));
  const int there = static_cast<int>(gpu::gpus().size());
  CHECK_THROWS_AS(gpu::condition(there), core::InvalidArgument);
  CHECK_THROWS_AS(gpu::condition(-1), core::InvalidArgument);
  for (int number = 0; number < there; ++number) CHECK(gpu::condition(number).properties.ordinal == number);
}
