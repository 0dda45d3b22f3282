// SPDX-License-Identifier: Apache-2.0
#include "halocline/gpu/sum.cuh"

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

using namespace halocline;

namespace {

/// A number of no pattern in (-1, 1), exact in double: 53 bits of a mixed counter.
double number(std::uint64_t i) {
  i = (i ^ (i >> 30)) * 0xbf58476d1ce4e5b9ULL;
  i = (i ^ (i >> 27)) * 0x94d049bb133111ebULL;
  i ^= i >> 31;
  return static_cast<double>(static_cast<std::int64_t>(i)) * 0x1p-63;
}

/// Reads value n of a site from [n][column][site].
template <int N>
struct Read {
  const double* values;
  std::int64_t sites;
  int columns;
  HALOCLINE_HOST_DEVICE void operator()(std::int64_t site, int column, double (&out)[N]) const {
    for (int n = 0; n < N; ++n) out[n] = values[(std::int64_t{n} * columns + column) * sites + site];
  }
};

/// The same for C columns a thread.
template <int N, int C>
struct ReadColumns {
  Read<N> read;
  HALOCLINE_HOST_DEVICE void operator()(std::int64_t site, int group, double (&out)[C][N]) const {
    for (int c = 0; c < C; ++c)
      if (C * group + c < read.columns) read(site, C * group + c, out[c]);
  }
};

/// The halving tree of a vector of 2^k values, by its definition.
double tree(const std::vector<double>& values) {
  const std::size_t half = values.size() / 2;
  if (half == 0) return values[0];
  std::vector<double> sums(half);
  for (std::size_t i = 0; i < half; ++i) sums[i] = values[i] + values[i + half];
  return tree(sums);
}

/// The pair tree of a vector of 2^k values, by its definition.
double pairs(const std::vector<double>& values) {
  if (values.size() == 1) return values[0];
  std::vector<double> sums;
  for (std::size_t i = 0; i < values.size(); i += 2) sums.push_back(values[i] + values[i + 1]);
  return pairs(sums);
}

double of_group(const std::vector<double>& values) {
  std::vector<double> eight;
  for (std::size_t i = 0; i < 256; i += 32)
    eight.push_back(
        tree({values.begin() + static_cast<std::ptrdiff_t>(i), values.begin() + static_cast<std::ptrdiff_t>(i) + 32}));
  return pairs(eight);
}

/// The order of sum.cuh, written down a second time.
double ordered_sum(std::vector<double> values) {
  values.resize((values.size() + 255) / 256 * 256);
  std::vector<double> last(256);
  for (std::size_t group = 0; 256 * group < values.size(); ++group) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(256 * group);
    last[group % 256] += of_group({begin, begin + 256});
  }
  return of_group(last);
}

template <int N>
struct Sums {
  Sums(const gpu::Device& device, std::int64_t count, int wide)
      : sites(count), columns(wide), stream(device), values(device, N * count * wide) {
    for (std::int64_t i = 0; i < values.size(); ++i) host.push_back(number(static_cast<std::uint64_t>(i + 1)));
    values.upload(stream, host);
  }
  template <int C = 1>
  std::vector<double> add(gpu::SumBuffer& buffer, int first, const gpu::Block& block = {256, 1, 1}) {
    const Read<N> read{values.data(), sites, columns};
    if constexpr (C == 1)
      gpu::launch_sum<N>(stream, "read", sites, columns, buffer, first, read, block);
    else
      gpu::launch_sum<N, C>(stream, "read columns", sites, columns, buffer, first, ReadColumns<N, C>{read}, block);
    buffer.fetch(stream, first + N);
    const auto all = buffer.wait();
    CHECK(all.size() == static_cast<std::size_t>((first + N) * columns));
    return {all.begin() + first * columns, all.end()};
  }
  std::vector<double> of(int n, int column) const {
    const auto begin = host.begin() + (n * columns + column) * sites;
    return {begin, begin + sites};
  }

  std::int64_t sites;
  int columns;
  gpu::Stream stream;
  gpu::DeviceArray<double> values;
  std::vector<double> host;
};

template <int N>
void check_sums(const gpu::Device& device, std::int64_t sites, int columns) {
  CAPTURE(device.describe());
  CAPTURE(N);
  CAPTURE(sites);
  CAPTURE(columns);
  Sums<N> sums(device, sites, columns);
  gpu::SumBuffer buffer(device, N + 1, sites, columns), larger(device, 16, 2 * sites + 1000, columns);
  const auto got = sums.add(buffer, 1);
  for (int n = 0; n < N; ++n)
    for (int column = 0; column < columns; ++column) {
      const auto values = sums.of(n, column);
      const double sum = got[static_cast<std::size_t>(n * columns + column)];
      long double exact = 0, magnitude = 0;
      for (const double value : values) {
        exact += value;
        magnitude += std::fabs(value);
      }
      CHECK(std::fabs(static_cast<double>(sum - exact)) <= 1e-15 * static_cast<double>(magnitude));
      CHECK(std::bit_cast<std::uint64_t>(sum) == std::bit_cast<std::uint64_t>(ordered_sum(values)));
    }
  for (int repeat = 0; repeat < 3; ++repeat) CHECK(sums.add(buffer, 0) == got);
  CHECK(sums.add(larger, 16 - N) == got);
}

}  // namespace

TEST_CASE("sum: equals the sum of more digits, and the documented order bit by bit, every time") {
  for (const gpu::Device& device : testing::all_devices()) {
    for (const std::int64_t sites : {1, 31, 32, 33, 255, 256, 257, 1000, 4097}) {
      check_sums<1>(device, sites, 1);
      check_sums<3>(device, sites, 5);
    }
    check_sums<8>(device, 600, 2);
    check_sums<1>(device, 777, 32);
    check_sums<1>(device, 256 * 256, 1);
    check_sums<1>(device, 256 * 257 + 3, 1);  // more blocks than threads
  }
}

TEST_CASE("sum: no shape of blocks and no number of columns a thread changes a bit") {
  for (const gpu::Device& device : testing::all_devices()) {
    CAPTURE(device.describe());
    for (const std::int64_t sites : {0, 1, 100, 777, 256 * 300 + 40})
      for (const int columns : {1, 4, 7}) {
        CAPTURE(sites);
        CAPTURE(columns);
        Sums<2> sums(device, sites, columns);
        gpu::SumBuffer buffer(device, 3, sites, columns);
        const auto expected = sums.add(buffer, 0);
        for (const int x : {32, 64, 128, 256})
          for (const int y : {1, 2, 3, 4, 8}) {
            if (x * y > 256) continue;
            CAPTURE(x);
            CAPTURE(y);
            CHECK(sums.add(buffer, 1, {x, y, 1}) == expected);
            CHECK(sums.add<2>(buffer, 0, {x, y, 1}) == expected);
            CHECK(sums.add<4>(buffer, 1, {x, y, 1}) == expected);
          }
      }
  }
}

namespace {
/// Leaves the sums of each column on the device, and their product for the host.
struct Keep {
  double* kept = nullptr;  ///< [column][2]
  double* told = nullptr;  ///< [column], pinned
  HALOCLINE_INLINE explicit operator bool() const { return kept != nullptr; }
  template <class Publish>
  HALOCLINE_INLINE void run(int column, const double* sums, const Publish& publish) const {
    for (int n = 0; n < 2; ++n) kept[2 * column + n] += sums[n];
    publish(told + column, sums[0] * sums[1]);
  }
};
}  // namespace

TEST_CASE("sum: a step gets the sums of each column once, in place of the host") {
  for (const gpu::Device& device : testing::all_devices()) {
    CAPTURE(device.describe());
    for (const int columns : {1, 5, 7}) {
      CAPTURE(columns);
      Sums<2> sums(device, 777, columns);
      gpu::SumBuffer buffer(device, 2, 777, columns);
      const auto expected = sums.add(buffer, 0);
      const auto shapes = std::vector<gpu::Block>{{256, 1, 1}, {32, 4, 1}, {64, 2, 1}, {128, 2, 1}, {32, 8, 1}};
      gpu::DeviceArray<double> kept(device, 2 * columns);
      gpu::PinnedArray<double> told(device, columns);
      sums.stream.set_zero(kept.data(), kept.bytes());
      const Keep keep{kept.data(), told.data()};
      for (const gpu::Block& block : shapes) {
        const Read<2> read{sums.values.data(), sums.sites, columns};
        gpu::launch_sum<2>(sums.stream, "kept sums", sums.sites, columns, buffer, 0, read, block, keep);
        gpu::launch_sum<2, 2>(sums.stream, "kept sums", sums.sites, columns, buffer, 0, ReadColumns<2, 2>{read}, block,
                              keep);
      }
      std::vector<double> got(static_cast<std::size_t>(2 * columns));
      kept.download(sums.stream, got);
      sums.stream.synchronize();
      const auto times = static_cast<double>(2 * shapes.size());
      for (int c = 0; c < columns; ++c) {
        const auto at = [&](int n) { return expected[static_cast<std::size_t>(n * columns + c)]; };
        for (int n = 0; n < 2; ++n) {
          double sum = 0;
          for (int i = 0; i < static_cast<int>(times); ++i) sum += at(n);
          CHECK(got[static_cast<std::size_t>(2 * c + n)] == sum);
        }
        CHECK(told.data()[c] == at(0) * at(1));
      }
      CHECK(sums.add(buffer, 0) == expected);
    }
  }
}

TEST_CASE("sum: over no sites it is zero") {
  for (const gpu::Device& device : testing::all_devices()) {
    Sums<3> sums(device, 0, 2);
    gpu::SumBuffer buffer(device, 3, 0, 2);
    CHECK(sums.add(buffer, 0) == std::vector<double>(6, 0.0));
  }
}

TEST_CASE("sum: the order of a block does not depend on how many sites follow") {
  // Zeros behind the last site leave the sum as it is, to the bit, within the blocks that are there.
  for (const gpu::Device& device : testing::all_devices()) {
    Sums<1> all(device, 512, 1);
    gpu::SumBuffer buffer(device, 1, 512, 1);
    std::vector<double> with_zeros = all.host;
    for (std::size_t i = 300; i < 512; ++i) with_zeros[i] = 0;
    all.values.upload(all.stream, with_zeros);
    const double padded = all.add(buffer, 0)[0];
    all.sites = 300;
    CHECK(all.add(buffer, 0)[0] == padded);
  }
}

TEST_CASE("sum: several launches fill one buffer, and a graph makes them again") {
  for (const gpu::Device& device : testing::all_devices()) {
    CAPTURE(device.describe());
    Sums<1> one(device, 700, 3);
    gpu::SumBuffer buffer(device, 2, 700, 3);
    gpu::Stream& stream = one.stream;
    stream.synchronize();
    stream.begin_capture();
    gpu::launch_sum<1>(stream, "first", 700, 3, buffer, 0, Read<1>{one.values.data(), 700, 3});
    gpu::launch_sum<1>(stream, "second", 350, 3, buffer, 1, Read<1>{one.values.data(), 350, 3});
    buffer.fetch(stream, 2);
    const gpu::Graph graph = stream.end_capture();
    std::vector<double> before;
    for (const double factor : {1.0, -2.0, 4.0}) {
      std::vector<double> scaled = one.host;
      for (double& value : scaled) value *= factor;
      one.values.upload(stream, scaled);
      stream.launch(graph);
      const auto got = buffer.wait();
      CHECK(got.size() == 6);
      if (before.empty()) before.assign(got.begin(), got.end());
      for (std::size_t i = 0; i < 6; ++i) CHECK(got[i] == factor * before[i]);  // powers of 2
      CHECK(got[0] == factor * ordered_sum(one.of(0, 0)));
    }
  }
}

TEST_CASE("sum: the host sees it while later work is still held back") {
  const gpu::Device device = gpu::Device::deferred_host_executor();
  Sums<2> sums(device, 500, 3);
  sums.stream.synchronize();
  gpu::SumBuffer buffer(device, 2, 500, 3);
  bool later = false;
  gpu::launch_sum<2>(sums.stream, "read", 500, 3, buffer, 0, Read<2>{sums.values.data(), 500, 3});
  sums.stream.call_on_host([&] { later = true; });
  buffer.fetch(sums.stream, 2);
  const auto got = buffer.wait();
  CHECK(!later);
  for (int n = 0; n < 2; ++n)
    for (int column = 0; column < 3; ++column)
      CHECK(got[static_cast<std::size_t>(3 * n + column)] == ordered_sum(sums.of(n, column)));
  sums.stream.synchronize();
  CHECK(later);
}

TEST_CASE("sum: a place never shows the sum of an earlier launch") {
  std::vector<gpu::Device> devices = testing::all_devices();
  devices.push_back(gpu::Device::deferred_host_executor());
  for (const gpu::Device& device : devices) {
    CAPTURE(device.describe());
    Sums<1> one(device, 300, 2);
    Sums<1> other(device, 300, 2);
    gpu::Stream& stream = one.stream;
    other.stream.synchronize();
    for (double& value : one.host) value = 1;
    one.values.upload(stream, one.host);
    stream.synchronize();
    gpu::SumBuffer buffer(device, 3, 300, 2);
    const auto launch = [&](Sums<1>& of, int first) {
      gpu::launch_sum<1>(stream, "read", 300, 2, buffer, first, Read<1>{of.values.data(), 300, 2});
    };
    const auto expected = [&](int column) { return ordered_sum(other.of(0, column)); };
    launch(one, 0);  // twice, as when the tuner measures
    stream.synchronize();
    launch(other, 0);
    buffer.fetch(stream, 1);
    CHECK(buffer.wait()[0] == expected(0));
    CHECK(buffer.wait()[1] == expected(1));  // nothing new
    launch(one, 0);                          // fetched, and nobody waits
    buffer.fetch(stream, 1);
    stream.synchronize();
    launch(other, 0);
    buffer.fetch(stream, 1);
    CHECK(buffer.wait()[1] == expected(1));
    launch(other, 0);
    launch(one, 2);  // more than is fetched
    buffer.fetch(stream, 1);
    CHECK(buffer.wait()[0] == expected(0));
    launch(other, 1);
    launch(other, 2);
    buffer.fetch(stream, 3);
    const auto all = buffer.wait();
    CHECK(all[0] == expected(0));  // as before
    CHECK(all[3] == expected(1));
    CHECK(all[4] == expected(0));
  }
}

TEST_CASE("sum: sums that are no numbers arrive as such") {
  for (const gpu::Device& device : testing::all_devices()) {
    Sums<1> one(device, 300, 1);
    for (double& value : one.host) value = std::numeric_limits<double>::signaling_NaN();
    one.values.upload(one.stream, one.host);
    gpu::SumBuffer buffer(device, 1, 300, 1);
    for (int repeat = 0; repeat < 3; ++repeat) CHECK(std::isnan(one.add(buffer, 0)[0]));
    for (double& value : one.host) value = 2;
    one.values.upload(one.stream, one.host);
    CHECK(one.add(buffer, 0)[0] == 600);
  }
}

TEST_CASE("sum: a buffer moves, and comes back to nothing") {
  for (const gpu::Device& device : testing::all_devices()) {
    {
      Sums<1> one(device, 100, 1);
      gpu::SumBuffer buffer(device, 1, 100, 1);
      const double sum = one.add(buffer, 0)[0];
      gpu::SumBuffer moved(std::move(buffer));
      CHECK(moved.wait()[0] == sum);
      buffer = gpu::SumBuffer(device, 1, 100, 1);
      CHECK(one.add(buffer, 0)[0] == sum);
    }
    CHECK(device.memory().ours == 0);
  }
}

TEST_CASE("sum: what does not fit the buffer is refused") {
  for (const gpu::Device& device : testing::all_devices()) {
    gpu::Stream stream(device);
    gpu::SumBuffer buffer(device, 2, 256, 3);
    const Read<1> functor{nullptr, 256, 3};
    const auto refused = [&](std::int64_t sites, int columns, int first) {
      CHECK_THROWS_AS(gpu::launch_sum<1>(stream, "read", sites, columns, buffer, first, functor),
                      core::InvalidArgument);
    };
    refused(257, 3, 0);
    for (const gpu::Block& block :
         {gpu::Block{16, 1, 1}, {96, 1, 1}, {512, 1, 1}, {0, 1, 1}, {64, 0, 1}, {64, 1, 2}, {128, 3, 1}})
      CHECK_THROWS_AS(gpu::launch_sum<1>(stream, "read", 256, 3, buffer, 0, functor, block), core::InvalidArgument);
    refused(-1, 3, 0);
    refused(256, 2, 0);
    refused(256, 4, 0);
    refused(256, 3, 2);
    refused(256, 3, -1);
    CHECK_THROWS_AS(buffer.fetch(stream, 3), core::InvalidArgument);
    CHECK_THROWS_AS(buffer.fetch(stream, 0), core::InvalidArgument);
    CHECK_THROWS_AS(gpu::SumBuffer(device, 17, 1, 1), core::InvalidArgument);
    CHECK_THROWS_AS(gpu::SumBuffer(device, 1, -1, 1), core::InvalidArgument);
    CHECK_THROWS_AS(gpu::SumBuffer(device, 1, 1, 33), core::InvalidArgument);
  }
}
