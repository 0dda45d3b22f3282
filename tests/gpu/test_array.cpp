// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/array.hpp"

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

using namespace halocline;

TEST_CASE("array: what goes to the device comes back, from pinned memory and from any other") {
  for (const gpu::Device& device : testing::memory_devices()) {
    CAPTURE(device.describe());
    gpu::Stream stream(device);
    for (const std::int64_t size : {0, 1, 255, 70001}) {
      CAPTURE(size);
      std::vector<float> sent(static_cast<std::size_t>(size)), got(sent.size(), -1.0F);
      std::iota(sent.begin(), sent.end(), 0.5F);
      gpu::DeviceArray<float> array(device, size);
      CHECK(array.size() == size);
      CHECK(array.bytes() == 4 * sent.size());
      CHECK(reinterpret_cast<std::uintptr_t>(array.data()) % 256 == 0);
      array.upload(stream, sent);
      array.download(stream, got);
      stream.synchronize();
      CHECK(got == sent);

      gpu::PinnedArray<float> pinned(device, size);
      gpu::DeviceArray<float> other(device, size);
      stream.copy_on_device(other.data(), array.data(), array.bytes());
      other.download(stream, pinned.span());
      stream.synchronize();
      CHECK(std::vector<float>(pinned.span().begin(), pinned.span().end()) == sent);
    }
  }
}

TEST_CASE("array: pinned memory begins as zeros; that of the host executor's device as NaNs") {
  for (const gpu::Device& device : testing::memory_devices()) {
    const gpu::PinnedArray<double> pinned(device, 1000);
    int wrong = 0;
    for (const double x : pinned.span()) wrong += x != 0.0;
    CHECK(wrong == 0);
  }
  const gpu::Device host = gpu::Device::host_executor();
  const gpu::DeviceArray<double> fresh(host, 100);
  const gpu::DeviceArray<float> narrow(host, 100);
  int numbers = 0;
  for (int i = 0; i < 100; ++i) numbers += !std::isnan(fresh.data()[i]) + !std::isnan(narrow.data()[i]);
  CHECK(numbers == 0);
}

TEST_CASE("array: zeros are set where they were asked for and nowhere else") {
  for (const gpu::Device& device : testing::memory_devices()) {
    gpu::Stream stream(device);
    gpu::DeviceArray<std::int32_t> array(device, 300);
    std::vector<std::int32_t> values(300, 7);
    array.upload(stream, values);
    stream.set_zero(array.data() + 100, 50 * sizeof(std::int32_t));
    array.download(stream, values);
    stream.synchronize();
    for (std::size_t i = 0; i < 300; ++i) CHECK(values[i] == (i >= 100 && i < 150 ? 0 : 7));
  }
}

TEST_CASE("array: a copy of another length is refused before anything moves") {
  for (const gpu::Device& device : testing::memory_devices()) {
    gpu::Stream stream(device);
    gpu::DeviceArray<double> array(device, 10);
    std::vector<double> eleven(11, 1.0), ten(10, 1.0);
    CHECK_THROWS_WITH_AS(array.upload(stream, eleven), doctest::Contains("11 numbers for an array of 10"),
                         core::InvalidArgument);
    CHECK_THROWS_WITH_AS(array.download(stream, std::span(ten).first(9)),
                         doctest::Contains("9 numbers for an array of 10"), core::InvalidArgument);
    CHECK(ten == std::vector<double>(10, 1.0));
  }
}

TEST_CASE("array: moving hands the memory over") {
  const gpu::Device device = gpu::Device::host_executor();
  gpu::DeviceArray<double> a(device, 10);
  double* const data = a.data();
  gpu::DeviceArray<double> b(std::move(a));
  CHECK(b.data() == data);
  CHECK(a.data() == nullptr);
  a = std::move(b);
  CHECK(a.data() == data);
  CHECK(a.size() == 10);
}
