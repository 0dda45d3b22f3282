// SPDX-License-Identifier: Apache-2.0
//
// Links in 18, 12 and 8 reals of every storage: they come back to the rounding of the storage, as matrices of SU(3),
// from wherever in the group; what is not of SU(3) is refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/link_array.cuh"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using Matrix = Su3<double>;
using Z = std::complex<double>;

Matrix matrix_of(const Z* entries) {
  Matrix u;
  for (int i = 0; i < 9; ++i) u.e[i / 3][i % 3] = {entries[i].real(), entries[i].imag()};
  return u;
}
Matrix diagonal(Z a, Z b, Z c) {
  const Z entries[9] = {a, 0, 0, 0, b, 0, 0, 0, c};
  return matrix_of(entries);
}
std::vector<Matrix> random_matrices(int count, unsigned seed) {
  const auto numbers = test::random_links(count / 4, seed);
  std::vector<Matrix> all;
  for (std::size_t i = 0; i < numbers.size(); i += 9) all.push_back(matrix_of(&numbers[i]));
  return all;
}
/// exp of a rotation by a small angle: a matrix `epsilon` away from one.
Matrix near_unit(double epsilon, int plane) {
  Matrix u = Matrix::unit();
  const int a = plane, b = (plane + 1) % 3;
  u.e[a][a] = u.e[b][b] = {std::cos(epsilon), 0};
  u.e[a][b] = {0, std::sin(epsilon)};
  u.e[b][a] = {0, std::sin(epsilon)};
  return u;
}

/// Where a chart could fail: the centre, the poles and what is next to them, matrices with zeros, the equator at which
/// the pole changes.
std::vector<Matrix> corners() {
  std::vector<Matrix> all{Matrix::unit()};
  const Z third = std::polar(1.0, 2 * std::acos(-1.0) / 3), i{0, 1};
  all.push_back(diagonal(third, third, third));
  all.push_back(diagonal(std::conj(third), std::conj(third), std::conj(third)));
  all.push_back(diagonal(-1, -1, 1));
  all.push_back(diagonal(-1, 1, -1));
  all.push_back(diagonal(1, -1, -1));
  all.push_back(diagonal(i, -i, 1));
  all.push_back(diagonal(-i, 1, i));
  all.push_back(diagonal(1, i, -i));
  all.push_back(diagonal(1, -i, i));
  // Permutations of axes, with all signs of two rows: row 0 and row 1 at every pole and on every equator.
  for (int first = 0; first < 3; ++first)
    for (int second = 0; second < 3; ++second)
      for (int phases = 0; phases < 16 && second != first; ++phases) {
        Z rows[9] = {};
        rows[first] = std::pow(i, phases % 4);
        rows[3 + second] = std::pow(i, phases / 4);
        Matrix u = matrix_of(rows);
        for (auto& row : u.e)
          for (auto& z : row) z = {std::round(z.re), std::round(z.im)};
        reconstruct_third_row(u);
        all.push_back(u);
      }
  for (double epsilon : {1e-300, 1e-18, 1e-16, 1e-12, 1e-8, 1e-4, 1e-2})
    for (int plane = 0; plane < 3; ++plane) {
      all.push_back(near_unit(epsilon, plane));
      all.push_back(near_unit(-epsilon, plane));
      all.push_back(near_unit(epsilon + std::acos(0.0), plane));  // Re u_0 passes zero
      all.push_back(near_unit(-epsilon + std::acos(-1.0), plane));
      all.push_back(diagonal(third, third, third) * near_unit(epsilon, plane));
    }
  return all;
}

std::vector<Matrix> all_matrices() {
  std::vector<Matrix> all = corners();
  const auto random = random_matrices(4000, 11);
  all.insert(all.end(), random.begin(), random.end());
  return all;
}

/// The largest difference of a real or imaginary part.
template <class Real>
double distance(const Su3<Real>& a, const Matrix& b) {
  double worst = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      worst = std::max({worst, std::abs(a.e[i][j].re - b.e[i][j].re), std::abs(a.e[i][j].im - b.e[i][j].im)});
  return worst;
}
/// The largest element of U U^dagger - 1, and |det U - 1|.
template <class Real>
double violation(const Su3<Real>& given) {
  Matrix u;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) u.e[i][j] = {given.e[i][j].re, given.e[i][j].im};
  const auto det = determinant(u);
  return std::max(distance(times_adjoint(u, u), Matrix::unit()), std::hypot(det.re - 1, det.im));
}

/// The unit in the last place of a number near one.
template <class S>
constexpr double unit() {
  if (std::is_same_v<S, double>) return 0x1p-53;
  if (std::is_same_v<S, float>) return 0x1p-24;
  return 0.5 / (std::is_same_v<S, Fixed16> ? 32767 : 127);
}

template <class S, int reals>
void measure(double& far, double& broken) {
  far = broken = 0;
  for (const Matrix& u : all_matrices()) {
    const auto read = detail::decode_link<S, reals>(detail::encode_link<S, reals>(u));
    const double d = distance(read, u), v = violation(read);
    far = d >= far ? d : (d < far ? far : HUGE_VAL);
    broken = v >= broken ? v : (v < broken ? broken : HUGE_VAL);
  }
}

}  // namespace

// Bounds in units of the storage's rounding (half of its last place at one). 18 reals are rounded once. The third row
// of 12 is made of two products a component, each with the rounding of both rows. Stereographic numbers are doubled
// when read, the two that carry a sign are rounded to the next but one, and rows 1 and 2 see the errors of all eight.
TEST_CASE_TEMPLATE("device links: every matrix of SU(3) comes back to the rounding of the storage", S, double, float,
                   Fixed16, Fixed8) {
  double far = 0, broken = 0;
  measure<S, 18>(far, broken);
  CHECK(far <= 1.01 * unit<S>());
  measure<S, 12>(far, broken);
  CHECK(far <= 6 * unit<S>());
  CHECK(broken <= 16 * unit<S>());
  measure<S, 8>(far, broken);
  CHECK(far <= 16 * unit<S>());
  // Whatever the eight numbers are, they are a matrix of SU(3) but for the rounding of the arithmetic that reads them.
  CHECK(broken <= 24 * unit<RealOf<S>>());
}

namespace {

ContextPtr context(const gpu::Device& device, const lattice::Coordinates<4>& extents) {
  return std::make_shared<Context>(device, test::one_process(extents));
}

HostLinks random_host_links(const Box& box, unsigned seed) {
  HostLinks links;
  links.box = box;
  const auto numbers = test::random_links(std::int64_t{4} * box.sites, seed);
  for (const auto& z : numbers) links.matrices.insert(links.matrices.end(), {z.real(), z.imag()});
  double* first = links.matrices.data();
  for (const Matrix& u : corners()) {
    for (int i = 0; i < 9; ++i) {
      first[2 * i] = u.e[i / 3][i % 3].re;
      first[2 * i + 1] = u.e[i / 3][i % 3].im;
    }
    first += 18;
  }
  links.coefficient = {0.5, 0.5, 0.5, 1};
  links.edge.fill(1);
  links.edge[3] = -1;
  links.edge[7] = -1;
  links.edge[1] = std::polar(1.0, 0.25);
  links.edge[5] = std::conj(links.edge[1]);
  links.unitarity_violation = 1e-15;
  return links;
}

/// What a kernel reads, 18 doubles a link: x the site, y the direction.
template <class S, int reals>
struct ReadLinks {
  LinkReader<S, reals> in;
  double* to;
  int sites;
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    const Su3<RealOf<S>> u = in.load(static_cast<int>(p.x), p.y);
    double* place = to + 18 * (std::int64_t{sites} * p.y + p.x);
    for (int i = 0; i < 9; ++i) {
      place[2 * i] = u.e[i / 3][i % 3].re;
      place[2 * i + 1] = u.e[i / 3][i % 3].im;
    }
  }
};

template <class S, int reals>
void check_field(const ContextPtr& here, const HostLinks& links, double bound) {
  CAPTURE(Storage<S>::name);
  CAPTURE(reals);
  const auto before = here->device.memory().ours;
  const DeviceLinks<S> field(here, links, reals);
  if (here->staging) {
    const DeviceLinks<S> second(here, links, reals);
    const auto both = here->device.memory().ours;
    CHECK(both - before >= 2 * DeviceLinks<S>::bytes(here->box, reals));
  }
  CHECK(field.reals() == reals);
  here->stream.synchronize();
  const int sites = here->box.sites;
  int wrong = 0;
  for (int parity = 0; parity < 2; ++parity) {
    const auto reader = field.template reader<reals>(parity);
    CHECK(reader.stride % 64 == 0);
    gpu::DeviceArray<double> read(here->device, std::int64_t{8} * 18 * sites);
    gpu::launch(here->stream, "read_links", {sites, 8, 1}, {64, 1, 1}, ReadLinks<S, reals>{reader, read.data(), sites});
    std::vector<double> found(static_cast<std::size_t>(read.size()));
    read.download(here->stream, found);
    here->stream.synchronize();
    const double* expected = links.matrices.data() + parity * read.size();
    for (std::size_t i = 0; i < found.size(); ++i)
      if (!(std::abs(found[i] - expected[i]) <= bound)) ++wrong;
  }
  CHECK(wrong == 0);
}

template <class S>
void check_fields(const gpu::Device& device, const lattice::Coordinates<4>& extents) {
  const ContextPtr here = context(device, extents);
  const HostLinks links = random_host_links(here->box, 23);
  check_field<S, 18>(here, links, 1.01 * unit<S>());
  check_field<S, 12>(here, links, 6 * unit<S>());
  check_field<S, 8>(here, links, 16 * unit<S>());
}

}  // namespace

TEST_CASE_TEMPLATE("device links: a kernel finds the link of every site and direction", S, double, float, Fixed16,
                   Fixed8) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    check_fields<S>(device, {4, 4, 4, 4});
    check_fields<S>(device, {8, 4, 6, 2});
    check_fields<S>(device, {2, 6, 6, 2});
  }
}

TEST_CASE("device links: several pieces arrive whole") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {8, 8, 8, 8});  // 32768 matrices, 29127 a piece
    check_field<double, 18>(here, random_host_links(here->box, 29), 0);
  }
}

TEST_CASE("device links: memory is what was predicted") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {2, 2, 6, 2});
    const HostLinks links = random_host_links(here->box, 31);
    {
      const DeviceLinks<float> first(here, links, 18);
    }  // makes the staging buffers
    for (int reals : {18, 12, 8}) {
      const auto before = here->device.memory().ours;
      const DeviceLinks<Fixed16> field(here, links, reals);
      CHECK(here->device.memory().ours - before == DeviceLinks<Fixed16>::bytes(here->box, reals));
    }
  }
}

TEST_CASE("device links: coefficients and boundary phases") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4});
    const HostLinks links = random_host_links(here->box, 1);
    const DeviceLinks<float> field(here, links, 12);
    const auto& factors = field.factors();
    CHECK(factors.coefficient[0] == 0.5f);
    CHECK_FALSE(factors.unit[0]);
    CHECK(factors.unit[3]);
    CHECK(factors.trivial_edge[0]);
    CHECK_FALSE(factors.trivial_edge[3]);
    CHECK_FALSE(factors.trivial_edge[1]);
    CHECK(factors.edge[3].re == -1.0f);
    CHECK(factors.edge[1].re == doctest::Approx(0.5 * std::cos(0.25)));
    CHECK(factors.edge[5].im == doctest::Approx(-0.5 * std::sin(0.25)));
  }
}

TEST_CASE("device links: what is not unitary refuses compression and fixed point") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4});
    HostLinks links = random_host_links(here->box, 1);
    CHECK_THROWS_WITH_AS(DeviceLinks<float>(here, links, 16), doctest::Contains("16 reals"), core::InvalidArgument);
    links.unitarity_violation = 1e-9;
    CHECK_NOTHROW(DeviceLinks<float>(here, links, 12));
    CHECK_NOTHROW(DeviceLinks<Fixed16>(here, links, 8));
    CHECK_THROWS_WITH_AS(DeviceLinks<double>(here, links, 12), doctest::Contains("1.0e-09"), core::InvalidArgument);
    for (double violation : {1e-3, std::nan("")}) {
      links.unitarity_violation = violation;
      CHECK_NOTHROW(DeviceLinks<double>(here, links, 18));
      CHECK_NOTHROW(DeviceLinks<float>(here, links, 18));
      CHECK_THROWS_AS(DeviceLinks<float>(here, links, 12), core::InvalidArgument);
      CHECK_THROWS_AS(DeviceLinks<float>(here, links, 8), core::InvalidArgument);
      CHECK_THROWS_WITH_AS(DeviceLinks<Fixed16>(here, links, 18), doctest::Contains("1e-05"), core::InvalidArgument);
    }
    CHECK_THROWS_WITH_AS(DeviceLinks<float>(context(device, {4, 4, 4, 8}), links, 18), doctest::Contains("4x4x4x8"),
                         core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::device
