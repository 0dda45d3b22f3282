// SPDX-License-Identifier: Apache-2.0
//
// Spinor fields on the host executor: every storage gives back what was put in, to its rounding, on the sites and
// columns it was put in, and no others; what is not finite stays so.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/spinor_array.cuh"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using Numbers = std::vector<std::complex<double>>;
using lattice::Subset;

ContextPtr context(const gpu::Device& device, const lattice::Coordinates<4>& extents, int origin_parity = 0) {
  auto made = std::make_shared<Context>(device, test::one_process(extents));
  made->box.origin_parity = origin_parity;  // as another process of a grid would have it
  return made;
}

/// Parity of a canonical site.
int parity_of(const Box& box, std::int64_t site) {
  std::int64_t sum = box.origin_parity;
  for (int extent : box.extent) {
    sum += site % extent;
    site /= extent;
  }
  return static_cast<int>(sum % 2);
}
bool holds(Subset subset, int parity) { return subset == Subset::full || static_cast<int>(subset) == parity; }

/// The largest real of a canonical site.
double largest(const Numbers& psi, std::int64_t site) {
  double value = 0;
  for (int k = 0; k < 12; ++k)
    value = std::max({value, std::abs(psi[12 * site + k].real()), std::abs(psi[12 * site + k].imag())});
  return value;
}

/// How far a number may be from where it was, in parts of the largest of its site.
template <class S>
double rounding() {
  if (std::is_same_v<S, double>) return 0;
  if (std::is_same_v<S, float>) return 0x1p-24;
  // Half a unit. The scale is known to 2^-22 where its reciprocal is approximate, and read to 2^-23: 0.012 units of
  // 32767.
  return 0.515 / (std::is_same_v<S, Fixed16> ? 32767 : 127);
}

/// The largest |a - b| over the site's largest |b|; an element that is not finite counts as infinitely far.
double distance(const Numbers& a, const Numbers& b, std::int64_t site) {
  const double size = largest(b, site);
  double worst = 0;
  for (int k = 0; k < 12; ++k) {
    const auto difference = a[12 * site + k] - b[12 * site + k];
    const double far = std::max(std::abs(difference.real()), std::abs(difference.imag()));
    worst = far >= worst ? far : (far < worst ? worst : std::numeric_limits<double>::infinity());
  }
  return size > 0 ? worst / size : worst;
}

#define STORAGES double, float, Fixed16, Fixed8

}  // namespace

TEST_CASE_TEMPLATE("device spinors: canonical order comes back, site by site and column by column", S, STORAGES) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}})
      for (int origin = 0; origin < 2; ++origin)
        for (Subset subset : {Subset::even, Subset::odd, Subset::full})
          for (int columns : {1, 3, 12}) {
            const ContextPtr here = context(device, extents, origin);
            const std::int64_t volume = here->geometry->local_volume();
            DeviceSpinor<S> field(here, subset, columns);
            std::vector<Numbers> in;
            for (int column = 0; column < columns; ++column) {
              in.push_back(test::random_numbers(12 * volume, 7 * columns + column));
              from_canonical(field, column, in.back());
            }
            const std::complex<double> mark(17.25, -3);
            int wrong = 0;
            for (int column = 0; column < columns; ++column) {
              Numbers out(12 * volume, mark);
              to_canonical(out, field, column);
              for (std::int64_t site = 0; site < volume; ++site) {
                if (holds(subset, parity_of(here->box, site))) {
                  if (!(distance(out, in[column], site) <= rounding<S>())) ++wrong;
                } else {
                  for (int k = 0; k < 12; ++k)
                    if (out[12 * site + k] != mark) ++wrong;
                }
              }
            }
            CHECK(wrong == 0);
          }
  }
}

TEST_CASE("device spinors: an array of several pieces arrives whole") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {16, 16, 16, 16});
    const auto in = test::random_numbers(12 * 65536, 3);
    DeviceSpinor<double> field(here, Subset::full, 2);
    from_canonical(field, 1, in);
    Numbers out(in.size());
    to_canonical(out, field, 1);
    CHECK(out == in);
  }
}

namespace {
/// What a kernel sees of a spinor, against the place of its site.
struct Look {
  SpinorReader<double> in[2];
  Box box;
  int* wrong;  ///< of every site
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const int site = static_cast<int>(p.x);
    const Coordinates c = box.coordinates(p.y, site);
    const Spinor<double> psi = in[p.y].load(site, 0);
    int count = 0;
    for (int colour = 0; colour < 3; ++colour)
      for (int spin = 0; spin < 4; ++spin) {
        const double place = c.x[0] + 100 * (c.x[1] + 100 * (c.x[2] + 100.0 * c.x[3]));
        if (psi.at[colour][spin].re != place || psi.at[colour][spin].im != 3 * spin + colour) ++count;
      }
    wrong[p.y * box.sites + site] = count;
  }
};
}  // namespace

TEST_CASE("device spinors: a kernel finds at a site what canonical order has there") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {8, 4, 6, 2}, 1);
    Numbers in(12 * 384);
    for (std::int64_t site = 0; site < 384; ++site)
      for (int k = 0; k < 12; ++k) {
        const auto x = lattice::coordinates_of<4>(site, here->geometry->local());
        in[12 * site + k] = {static_cast<double>(x[0] + 100 * (x[1] + 100 * (x[2] + 100 * x[3]))), 1.0 * k};
      }
    DeviceSpinor<double> field(here, Subset::full);
    from_canonical(field, 0, in);
    gpu::DeviceArray<int> wrong(device, 2 * here->box.sites);
    gpu::launch(here->stream, "look", {here->box.sites, 2, 1}, {64, 1, 1},
                Look{{field.reader(0), field.reader(1)}, here->box, wrong.data()});
    std::vector<int> found(static_cast<std::size_t>(wrong.size()), -1);
    wrong.download(here->stream, found);
    here->stream.synchronize();
    CHECK(std::count(found.begin(), found.end(), 0) == wrong.size());
  }
}

TEST_CASE_TEMPLATE("device spinors: a fixed-point record keeps its scale, zeros, and what is not finite", S, Fixed16,
                   Fixed8) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4});
    const std::int64_t volume = 256;
    auto in = test::random_numbers(12 * volume, 5);
    const auto fill = [&](std::int64_t site, std::complex<double> value) {
      std::fill_n(in.begin() + 12 * site, 12, value);
    };
    const double infinity = std::numeric_limits<double>::infinity();
    fill(0, 0);                          // zero
    fill(1, {3e-34, -1e-34});            // below 2^-110: zero
    fill(2, {3e38, -2e38});              // the largest floats
    fill(3, {1e-33, 2e-33});             // just above
    fill(4, {1e300, 0});                 // beyond float: infinite
    in[12 * 5 + 7] = {0, std::nan("")};  // one NaN among numbers
    in[12 * 6 + 11] = {-infinity, 1};
    fill(7, {-0.0, -0.0});
    DeviceSpinor<S> field(here, Subset::full);
    from_canonical(field, 0, in);
    Numbers out(12 * volume);
    to_canonical(out, field);
    for (std::int64_t site = 0; site < volume; ++site) {
      CAPTURE(site);
      if (site == 0 || site == 1 || site == 7) {
        for (int k = 0; k < 12; ++k) CHECK(out[12 * site + k] == 0.0);
      } else if (site >= 4 && site <= 6) {
        for (int k = 0; k < 12; ++k) {
          CHECK_FALSE(std::isfinite(out[12 * site + k].real()));
          CHECK_FALSE(std::isfinite(out[12 * site + k].imag()));
        }
      } else {
        CHECK(distance(out, in, site) <= rounding<S>());
      }
    }
  }
}

TEST_CASE_TEMPLATE("device spinors: fixed point keeps the largest number exactly", S, Fixed16, Fixed8) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 2, 2, 2});
    Numbers in(12 * 32);
    for (std::int64_t site = 0; site < 32; ++site)
      for (int k = 0; k < 12; ++k) {
        const float size = std::ldexp(1.0f + static_cast<float>(site) / 32, static_cast<int>(site) - 16);
        in[12 * site + k] = {k % 2 == 0 ? size : -size, 0.0};
      }
    DeviceSpinor<S> field(here, Subset::full);
    from_canonical(field, 0, in);
    Numbers out(in.size());
    to_canonical(out, field);
    // integer x (kept / largest): two roundings
    for (std::size_t i = 0; i < in.size(); ++i) CHECK(std::abs(out[i] - in[i]) <= 0x1p-23 * std::abs(in[i]));
  }
}

TEST_CASE_TEMPLATE("device spinors: conversion is what import and export do", S, STORAGES) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {8, 4, 6, 2});
    const std::int64_t volume = here->geometry->local_volume();
    for (Subset subset : {Subset::odd, Subset::full}) {
      DeviceSpinor<double> exact(here, subset, 3), back(here, subset, 3);
      DeviceSpinor<float> single(here, subset, 3);
      DeviceSpinor<Fixed16> half(here, subset, 3);
      DeviceSpinor<S> stored(here, subset, 3), imported(here, subset, 3), again(here, subset, 3);
      for (int column = 0; column < 3; ++column) {
        const auto in = test::random_numbers(12 * volume, 90 + column);
        from_canonical(exact, column, in);
        from_canonical(imported, column, in);
      }
      convert(stored, exact);
      convert(back, stored);
      convert(again, back);  // what a storage can hold passes, but for the roundings of a scale
      convert(single, stored);
      convert(half, stored);
      for (int column = 0; column < 3; ++column) {
        Numbers a(12 * volume), b(12 * volume), c(12 * volume), d(12 * volume), e(12 * volume), f(12 * volume);
        to_canonical(a, stored, column);
        to_canonical(b, imported, column);
        to_canonical(c, back, column);
        to_canonical(d, again, column);
        to_canonical(e, single, column);
        to_canonical(f, half, column);
        CHECK(a == b);
        CHECK(c == a);
        int wrong = 0;
        for (std::int64_t site = 0; site < volume; ++site)
          if (!(distance(d, a, site) <= (Storage<S>::scaled ? 0x1p-22 : 0))) ++wrong;
        CHECK(wrong == 0);
        for (std::int64_t site = 0; site < volume; ++site)
          if (!(distance(e, a, site) <= rounding<float>()) || !(distance(f, a, site) <= rounding<Fixed16>())) ++wrong;
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE_TEMPLATE("device spinors: rows begin at whole lines, and memory is what was predicted", S, STORAGES) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {2, 2, 6, 2}}) {
      const ContextPtr here = context(device, extents);
      for (Subset subset : {Subset::even, Subset::full})
        for (int columns : {1, 5, 32}) {
          const auto before = here->device.memory().ours;
          DeviceSpinor<S> field(here, subset, columns);
          CHECK(static_cast<std::int64_t>(field.memory().bytes()) ==
                DeviceSpinor<S>::bytes(here->box, subset, columns));
          CHECK(here->device.memory().ours - before == DeviceSpinor<S>::bytes(here->box, subset, columns));
          const auto* begin = field.memory().data();
          const auto reader = field.reader(0);
          CHECK(reader.stride % 64 == 0);
          CHECK(reader.stride >= here->box.sites);
          CHECK((reinterpret_cast<const std::byte*>(reader.data) - begin) % 128 == 0);
          if (Storage<S>::scaled) CHECK((reinterpret_cast<const std::byte*>(reader.scale) - begin) % 128 == 0);
        }
    }
  }
}

TEST_CASE("device spinors: a field may be destroyed while work on it is enqueued") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4});
    const Numbers first = test::random_numbers(12 * 256, 1), second = test::random_numbers(12 * 256, 2);
    DeviceSpinor<double> kept(here, Subset::full);
    const std::byte* place = nullptr;
    {
      DeviceSpinor<double> field(here, Subset::full);
      place = field.memory().data();
      from_canonical(field, 0, first);
      convert(kept, field);
    }
    DeviceSpinor<double> next(here, Subset::full);
    CHECK(next.memory().data() == place);
    from_canonical(next, 0, second);
    Numbers read(first.size());
    to_canonical(read, kept);
    CHECK(read == first);
    to_canonical(read, next);
    CHECK(read == second);
  }
}

TEST_CASE("device spinors: a field that is assigned keeps the context of its memory alive") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    {
      DeviceSpinor<float> a(context(device, {4, 4, 4, 4}), Subset::full),
          b(context(device, {4, 4, 4, 8}), Subset::even);
      const auto* const place = b.memory().data();
      a = std::move(b);
      CHECK(a.memory().data() == place);
      CHECK(a.sites() == 256);
      CHECK(a.subset() == Subset::even);
      a = DeviceSpinor<float>();
      CHECK(a.context() == nullptr);
    }
    CHECK(device.memory().ours == 0);
  }
}

TEST_CASE("device spinors: what does not fit is refused") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4}), there = context(device, {4, 4, 4, 8});
    DeviceSpinor<float> field(here, Subset::full, 2), even(here, Subset::even, 2), one(here, Subset::full, 1),
        other(there, Subset::full, 2);
    Numbers numbers(12 * 256), few(12 * 128);
    CHECK_THROWS_WITH_AS(DeviceSpinor<float>(here, Subset::full, 0), doctest::Contains("1 to 2048"),
                         core::InvalidArgument);
    CHECK_THROWS_WITH_AS(DeviceSpinor<float>(here, Subset::full, 2049), doctest::Contains("1 to 2048"),
                         core::InvalidArgument);
    CHECK_THROWS_WITH_AS(from_canonical(field, 2, numbers), doctest::Contains("column 2"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(from_canonical(field, 0, few), doctest::Contains("needs 3072"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(to_canonical(few, field, 0), doctest::Contains("needs 3072"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(convert(field, even), doctest::Contains("same sites"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(convert(field, one), doctest::Contains("2 and 1 columns"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(convert(field, other), doctest::Contains("4x4x4x8"), core::InvalidArgument);
    DeviceSpinor<float> elsewhere(context(device, {4, 4, 4, 4}), Subset::full, 2);
    CHECK_THROWS_WITH_AS(convert(field, elsewhere), doctest::Contains("two contexts"), core::InvalidArgument);
  }
}

TEST_CASE("device fields: on a GPU too") {
  if (const auto why = testing::why_no_gpu(); !why.empty()) MESSAGE("skipped on this machine: " << why);
  int gpus = 0;
  for (const gpu::Device& device : testing::test_devices()) gpus += device.on_gpu() ? 1 : 0;
  CHECK(gpus == (testing::why_no_gpu().empty() ? 1 : 0));
}

}  // namespace halocline::qcd::device
