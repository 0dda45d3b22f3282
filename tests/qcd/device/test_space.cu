// SPDX-License-Identifier: Apache-2.0
//
// The vector space of device fields against plain complex arithmetic: lists of updates and dot products of any length,
// in every storage, on boxes whose rows are padded and others whose are not.

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/device/spinor_space.cuh"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using solve::Scalar;
using solve::Scalars;
using Numbers = std::vector<std::complex<double>>;

ContextPtr context_on(const gpu::Device& device, const lattice::Coordinates<4>& extents) {
  return std::make_shared<Context>(device, test::one_process(extents), 0u, HaloChoice{},
                                   std::make_shared<gpu::TuneCache>("", gpu::TuneCache::Mode::off));
}

/// Of one number, against the largest of its spinor.
template <class S>
constexpr double rounding() {
  if (std::is_same_v<S, double>) return 4e-15;
  if (std::is_same_v<S, float>) return 2e-6;
  return std::is_same_v<S, Fixed16> ? 2e-4 : 5e-2;
}

/// Numbers as the storage keeps them: what goes in and comes out.
template <class S>
Numbers kept(DeviceSpinor<S>& v, int column, unsigned seed) {
  const std::int64_t volume = 2 * std::int64_t{v.sites()};
  from_canonical(v, column, test::random_numbers(volume * 12, seed));
  Numbers out(static_cast<std::size_t>(volume * 12));
  to_canonical<S>(out, v, column);
  return out;
}
template <class S>
Numbers read(const DeviceSpinor<S>& v, int column) {
  Numbers out(static_cast<std::size_t>(v.sites()) * 24);
  to_canonical<S>(out, v, column);
  return out;
}
std::complex<double> product(const Numbers& a, const Numbers& b) {
  std::complex<double> sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::conj(a[i]) * b[i];
  return sum;
}
double size(const Numbers& a) { return std::sqrt(product(a, a).real()); }
double distance(const Numbers& a, const Numbers& b) {
  double most = 0, largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::abs(a[i] - b[i]));
    largest = std::max(largest, std::abs(b[i]));
  }
  return most / largest;
}

template <class S>
void check_lists(const gpu::Device& device, const lattice::Coordinates<4>& extents, lattice::Subset subset) {
  CAPTURE(device.describe());
  CAPTURE(Storage<S>::name);
  CAPTURE(extents[1]);
  CAPTURE(static_cast<int>(subset));
  constexpr int columns = 3;
  const SpinorSpace<S> space(context_on(device, extents), subset, columns);
  auto x = space.create(), y = space.create(), z = space.create(), w = space.create();
  std::vector<Numbers> xs, ys, zs;
  for (int c = 0; c < columns; ++c) {
    xs.push_back(kept(x, c, 10 + c));
    ys.push_back(kept(y, c, 20 + c));
    zs.push_back(kept(z, c, 30 + c));
    if (c == 2) from_canonical(w, c, Numbers(xs[0].size(), std::numeric_limits<double>::quiet_NaN()));
  }
  // Column 1 is frozen in y and z.
  const Scalars a{{0.5, -1.5}, 0.0, {2.0, 0.25}}, b{{-0.75, 0.5}, 0.0, 1.0}, s{{0.0, 1.0}, 1.0, -0.5};
  const auto before_y = read(y, 1), before_z = read(z, 1);
  const std::array updates{solve::scale_add(y, s, a, x, b, z), solve::add(z, b, y), solve::assign(w, {}, z, a, x),
                           solve::add(w, b, y)};
  const std::array dots{solve::Dot<DeviceSpinor<S>>{&w, &y}, solve::Dot<DeviceSpinor<S>>{&w, &w},
                        solve::Dot<DeviceSpinor<S>>{&x, &z}};
  const auto sums = space.update_and_reduce(updates, dots);
  const double small = rounding<S>();
  for (std::size_t c = 0; c < columns; ++c) {
    CAPTURE(c);
    Numbers yy(ys[c].size()), zz(yy.size()), ww(yy.size());
    for (std::size_t i = 0; i < yy.size(); ++i) {
      yy[i] = s[c] * ys[c][i] + a[c] * xs[c][i] + b[c] * zs[c][i];
      zz[i] = zs[c][i] + b[c] * yy[i];
      ww[i] = zz[i] + a[c] * xs[c][i] + b[c] * yy[i];
    }
    const auto got_y = read(y, static_cast<int>(c)), got_z = read(z, static_cast<int>(c)),
               got_w = read(w, static_cast<int>(c));
    CHECK(distance(got_y, yy) < small);
    CHECK(distance(got_z, zz) < small);
    CHECK(distance(got_w, ww) < small);
    // Sums are those of what is stored, to the rounding of double.
    const auto of = [&](int dot) { return sums.wait()[static_cast<std::size_t>(dot * columns) + c]; };
    CHECK(std::abs(of(0) - product(got_w, got_y)) < 1e-13 * size(got_w) * size(got_y));
    CHECK(std::abs(of(1) - product(got_w, got_w)) < 1e-13 * size(got_w) * size(got_w));
    CHECK(std::abs(of(2) - product(xs[c], got_z)) < 1e-13 * size(xs[c]) * size(got_z));
  }
  CHECK(read(y, 1) == before_y);
  CHECK(read(z, 1) == before_z);
}

template <class S>
void check_long_lists(const gpu::Device& device) {
  CAPTURE(device.describe());
  CAPTURE(Storage<S>::name);
  constexpr int columns = 2;
  const SpinorSpace<S> space(context_on(device, {4, 4, 2, 6}), lattice::Subset::full, columns);
  constexpr int count = 11;
  std::vector<DeviceSpinor<S>> v, w;
  std::vector<Scalars> a;
  for (int i = 0; i < count; ++i) {
    v.push_back(space.create());
    w.push_back(space.create());
    for (int c = 0; c < columns; ++c) kept(v.back(), c, static_cast<unsigned>(7 * i + c + 1));
    space.copy(w.back(), v.back());
    a.push_back({{0.1 * i, -0.2}, {0.3, 0.05 * i}});
  }
  std::vector<solve::Update<DeviceSpinor<S>>> updates;
  std::vector<solve::Dot<DeviceSpinor<S>>> dots;
  for (int i = 1; i < count; ++i) {
    updates.push_back(solve::add(v[i], a[i], v[i - 1]));
    dots.push_back({&v[0], &v[i]});
    dots.push_back({&v[i], &v[i]});
  }
  const auto sums = space.update_and_reduce(updates, dots);
  // One by one through the parts that every space must offer.
  for (int i = 1; i < count; ++i) space.axpy(a[i], w[i - 1], w[i]);
  for (int i = 1; i < count; ++i)
    for (int c = 0; c < columns; ++c) CHECK(read(v[i], c) == read(w[i], c));
  std::size_t next = 0;
  for (const auto& dot : dots) {
    Scalars one(columns);
    space.dot(one, *dot.left, *dot.right);
    for (const Scalar& value : one) CHECK(sums.wait()[next++] == value);
  }
}

}  // namespace

TEST_CASE("device space: a list of updates and dot products is what plain arithmetic gives") {
  for (const auto& device : testing::test_devices())
    for (const auto subset : {lattice::Subset::even, lattice::Subset::odd, lattice::Subset::full}) {
      check_lists<double>(device, {4, 4, 4, 4}, subset);
      check_lists<double>(device, {4, 3 * 2, 2, 2}, subset);
      check_lists<float>(device, {6, 2, 2, 4}, subset);
      check_lists<Fixed16>(device, {4, 2, 6, 2}, subset);
      check_lists<Fixed8>(device, {4, 2, 2, 6}, subset);
    }
}

TEST_CASE("device space: a long list is what its parts are one by one, bit for bit") {
  for (const auto& device : testing::test_devices()) {
    check_long_lists<double>(device);
    check_long_lists<float>(device);
    check_long_lists<Fixed16>(device);
    check_long_lists<Fixed8>(device);
  }
}

TEST_CASE("device space: the bits of a column do not depend on its neighbours") {
  for (const auto& device : testing::test_devices()) {
    const auto context = context_on(device, {4, 4, 4, 6});
    const SpinorSpace<float> one(context, lattice::Subset::even, 1), many(context, lattice::Subset::even, 5);
    auto x = one.create(), y = one.create();
    auto xs = many.create(), ys = many.create();
    kept(x, 0, 3);
    kept(y, 0, 4);
    for (int c = 0; c < 5; ++c) {
      kept(xs, c, c == 3 ? 3u : 50u + static_cast<unsigned>(c));
      kept(ys, c, c == 3 ? 4u : 60u + static_cast<unsigned>(c));
    }
    const Scalars a{{0.3, 0.7}};
    Scalars as(5, Scalar(-1.25, 0.5));
    as[3] = a[0];
    const std::array update{solve::add(y, a, x)};
    const std::array updates{solve::add(ys, as, xs)};
    const std::array dot{solve::Dot<DeviceSpinor<float>>{&x, &y}};
    const std::array dots{solve::Dot<DeviceSpinor<float>>{&xs, &ys}};
    const auto sum = one.update_and_reduce(update, dot), sums = many.update_and_reduce(updates, dots);
    CHECK(sum.wait()[0] == sums.wait()[3]);
    CHECK(read(y, 0) == read(ys, 3));
  }
}

TEST_CASE("device space: vectors of another space are refused") {
  const auto device = gpu::Device::host_executor();
  const auto context = context_on(device, {4, 4, 4, 4});
  const SpinorSpace<double> even(context, lattice::Subset::even, 1), full(context, lattice::Subset::full, 1),
      two(context, lattice::Subset::even, 2);
  auto x = even.create(), y = full.create(), z = two.create();
  CHECK_THROWS_AS(even.copy(x, y), core::InvalidArgument);
  CHECK_THROWS_AS(even.axpy(Scalars{1.0}, y, x), core::InvalidArgument);
  CHECK_THROWS_AS(two.axpy(Scalars{1.0}, z, z), core::InvalidArgument);
  CHECK_THROWS_AS(even.axpy(Scalars{1.0}, z, x), core::InvalidArgument);
  CHECK_THROWS_AS(SpinorSpace<double>(context, lattice::Subset::even, 33), core::InvalidArgument);
}

TEST_CASE("device space: on a GPU too") {
  if (const auto why = testing::why_no_gpu(); !why.empty()) MESSAGE("skipped on this machine: " << why);
  CHECK(testing::test_devices().size() == (testing::why_no_gpu().empty() ? 2 : 1));
}

}  // namespace halocline::qcd::device
