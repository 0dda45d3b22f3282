// SPDX-License-Identifier: Apache-2.0
//
// Clover blocks in 72 and 56 reals of every storage: the product with a spinor against the same in double, and what has
// not the structure of 56 is refused.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "gpu/devices.hpp"
#include "halocline/core/error.hpp"
#include "halocline/gpu/launch.cuh"
#include "halocline/qcd/device/clover_array.cuh"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using lattice::Subset;
using Numbers = std::vector<std::complex<double>>;

ContextPtr context(const gpu::Device& device, const lattice::Coordinates<4>& extents) {
  return std::make_shared<Context>(device, test::one_process(extents));
}

/// Hermitian blocks [parity][site][72] of any kind, around a diagonal.
std::vector<double> any_blocks(std::int64_t sites, unsigned seed, double diagonal) {
  std::vector<double> blocks;
  for (const auto& z : test::random_numbers(36 * sites, seed))
    blocks.insert(blocks.end(), {0.1 * z.real(), 0.1 * z.imag()});
  for (std::int64_t site = 0; site < sites; ++site)
    for (int chirality = 0; chirality < 2; ++chirality)
      for (int i = 0; i < 6; ++i) blocks[72 * site + 36 * chirality + i] += diagonal;
  return blocks;
}
/// The same with diagonal colour blocks c + M and c - M.
std::vector<double> clover_blocks(std::int64_t sites, unsigned seed, double diagonal) {
  std::vector<double> blocks = any_blocks(sites, seed, 0);
  for (std::int64_t chirality = 0; chirality < 2 * sites; ++chirality) {
    double* a = blocks.data() + 36 * chirality;
    for (int i = 0; i < 3; ++i) {
      a[3 + i] = diagonal - a[i];
      a[i] += diagonal;
    }
    for (int row = 1; row < 3; ++row)
      for (int column = 0; column < row; ++column)
        for (int part = 0; part < 2; ++part)
          a[clover::below_diagonal(row + 3, column + 3) + part] = -a[clover::below_diagonal(row, column) + part];
  }
  return blocks;
}

/// A psi in double on the sites of one parity, canonical.
Numbers product(const Box& box, const std::vector<double>& blocks, const Numbers& in, int parity) {
  Numbers out(in.size());
  for (int site = 0; site < box.sites; ++site) {
    const Coordinates c = box.coordinates(parity, site);
    const std::int64_t place =
        12 * (c.x[0] + box.extent[0] * (c.x[1] + box.extent[1] * (c.x[2] + std::int64_t{box.extent[2]} * c.x[3])));
    Spinor<double> psi;
    for (int k = 0; k < 12; ++k) psi.at[k % 3][k / 3] = {in[place + k].real(), in[place + k].imag()};
    const double* block = blocks.data() + 72 * (std::int64_t{parity} * box.sites + site);
    psi = clover::multiply_block([&](int i) { return block[i]; }, psi);
    for (int k = 0; k < 12; ++k) out[place + k] = {psi.at[k % 3][k / 3].re, psi.at[k % 3][k / 3].im};
  }
  return out;
}

/// The largest difference over the largest of `b`.
double distance(const Numbers& a, const Numbers& b) {
  double far = 0, size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double d = std::abs(a[i] - b[i]);
    far = d >= far ? d : (d < far ? far : HUGE_VAL);
    size = std::max(size, std::abs(b[i]));
  }
  return far / size;
}

/// What the storage may cost: twelve terms a component, of a block and a spinor with the rounding of the storage, and
/// the product rounded once more; of the largest of the site, or of the whole field.
template <class S>
constexpr double bound() {
  if (std::is_same_v<S, double>) return 2e-15;
  if (std::is_same_v<S, float>) return 1e-6;
  return std::is_same_v<S, Fixed16> ? 1e-4 : 3e-2;
}

#define STORAGES double, float, Fixed16, Fixed8

template <class S>
double measure(const ContextPtr& here, const std::vector<double>& blocks, int reals, Subset subset, int columns) {
  const std::int64_t volume = here->geometry->local_volume();
  const DeviceClover<S> clover(here, blocks, reals);
  double worst = 0;
  for (int parity = 0; parity < 2; ++parity) {
    if (subset != Subset::full && static_cast<int>(subset) != parity) continue;
    DeviceSpinor<S> in(here, subset, columns), out(here, subset, columns);
    std::vector<Numbers> psi;
    for (int column = 0; column < columns; ++column) {
      psi.push_back(test::random_numbers(12 * volume, 40 + column));
      from_canonical(in, column, psi.back());
    }
    multiply(out, in, clover, parity);
    multiply(in, in, clover, parity);  // in place
    for (int column = 0; column < columns; ++column) {
      const Numbers expected = product(here->box, blocks, psi[column], parity);
      Numbers found(12 * volume), place(12 * volume);
      to_canonical(found, out, column);
      to_canonical(place, in, column);
      for (std::int64_t site = 0; site < volume; ++site) {
        const auto x = lattice::coordinates_of<4>(site, here->geometry->local());
        if ((x[0] + x[1] + x[2] + x[3]) % 2 != parity) {
          std::fill_n(found.begin() + 12 * site, 12, 0);
          std::fill_n(place.begin() + 12 * site, 12, 0);
        }
      }
      CHECK(found == place);
      worst = std::max(worst, distance(found, expected));
    }
  }
  return worst;
}

}  // namespace

TEST_CASE_TEMPLATE("device clover: 72 reals multiply as the block in double does", S, STORAGES) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}}) {
      const ContextPtr here = context(device, extents);
      const auto blocks = any_blocks(2 * here->box.sites, 3, 4.1);
      CHECK(measure<S>(here, blocks, 72, Subset::full, 1) <= bound<S>());
      CHECK(measure<S>(here, blocks, 72, Subset::odd, 3) <= bound<S>());
    }
    const ContextPtr here = context(device, {4, 4, 4, 4});
    const double far = measure<S>(here, any_blocks(256, 5, 4.1), 72, Subset::even, 12);
    CHECK(far <= bound<S>());
  }
}

TEST_CASE_TEMPLATE("device clover: 56 reals give back a block of the clover term's structure", S, STORAGES) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}}) {
      const ContextPtr here = context(device, extents);
      const auto blocks = clover_blocks(2 * here->box.sites, 3, 4.1);
      CHECK(measure<S>(here, blocks, 56, Subset::full, 1) <= bound<S>());
      CHECK(measure<S>(here, blocks, 56, Subset::even, 5) <= bound<S>());
      const double far = measure<S>(here, blocks, 56, Subset::odd, 1);
      CHECK(far <= bound<S>());
    }
  }
}

namespace {
/// Column k of every block: A e_k, of the sites of a parity, 24 doubles each.
struct ReadColumns {
  CloverReader<Fixed16, 56> in;
  double* to;
  HALOCLINE_HOST_DEVICE void operator()(const gpu::Point& p) const {
    Spinor<float> psi{};
    for (int k = 0; k < 12; ++k) psi.at[k % 3][k / 3] = {p.y == k ? 1.0f : 0.0f, 0.0f};
    const Spinor<float> out = in.multiply(static_cast<int>(p.x), psi);
    double* place = to + 24 * (12 * p.x + p.y);
    for (int j = 0; j < 12; ++j) {
      place[2 * j] = out.at[j % 3][j / 3].re;
      place[2 * j + 1] = out.at[j % 3][j / 3].im;
    }
  }
};
}  // namespace

TEST_CASE("device clover: fixed point keeps the common diagonal in float") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4});
    std::vector<double> blocks = clover_blocks(256, 9, 0);
    for (double& a : blocks) a *= 1e-4;
    for (int chirality = 0; chirality < 512; ++chirality)
      for (int i = 0; i < 6; ++i) blocks[36 * chirality + i] += 4;
    // Rounded as a whole the block would be off by 4 / 65534 an entry; spinors are rounded to that all the same.
    const DeviceClover<Fixed16> clover(here, blocks, 56);
    const int sites = here->box.sites;
    gpu::DeviceArray<double> columns(device, std::int64_t{288} * sites);
    gpu::launch(here->stream, "read_columns", {sites, 12, 1}, {64, 1, 1},
                ReadColumns{clover.reader<56>(1), columns.data()});
    std::vector<double> found(static_cast<std::size_t>(columns.size()));
    columns.download(here->stream, found);
    here->stream.synchronize();
    double worst = 0;
    for (int site = 0; site < sites; ++site)
      for (int k = 0; k < 12; ++k) {
        Spinor<double> in{};
        in.at[k % 3][k / 3] = {1, 0};
        const double* block = blocks.data() + 72 * (sites + site);
        const Spinor<double> expected = clover::multiply_block([&](int i) { return block[i]; }, in);
        const double* column = found.data() + 24 * (12 * site + k);
        for (int j = 0; j < 12; ++j)
          worst = std::max(worst, std::hypot(column[2 * j] - expected.at[j % 3][j / 3].re,
                                             column[2 * j + 1] - expected.at[j % 3][j / 3].im));
      }
    CHECK(worst <= 4 * 0x1p-23);
  }
}

TEST_CASE("device clover: what is not finite stays so") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 2, 2, 2});
    for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
      for (int place : {0, 17, 36, 71}) {
        auto blocks = any_blocks(32, 1, 4);
        blocks[72 * 3 + place] = bad;
        const DeviceClover<Fixed16> clover(here, blocks, 72);
        DeviceSpinor<Fixed16> in(here, Subset::full), out(here, Subset::full);
        from_canonical(in, 0, Numbers(12 * 32, {1, 1}));
        multiply(out, in, clover, 0);
        Numbers found(12 * 32);
        to_canonical(found, out);
        int wrong = 0;
        for (int site = 0; site < here->box.sites; ++site) {
          const int canonical = 2 * site + here->box.coordinates(0, site).x[0] % 2;
          for (int k = 0; k < 12; ++k)
            if (std::isfinite(found[12 * canonical + k].real()) != (site != 3)) ++wrong;
        }
        CHECK(wrong == 0);
      }
  }
}

TEST_CASE_TEMPLATE("device clover: memory is what was predicted", S, STORAGES) {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {2, 2, 6, 2});
    const auto blocks = clover_blocks(48, 3, 4.1);
    {
      const DeviceClover<S> first(here, blocks, 72);
    }  // makes the staging buffers
    for (int reals : {72, 56}) {
      const auto before = here->device.memory().ours;
      const DeviceClover<S> clover(here, blocks, reals);
      CHECK(clover.reals() == reals);
      CHECK(here->device.memory().ours - before == DeviceClover<S>::bytes(here->box, reals));
    }
  }
}

TEST_CASE("device clover: what does not fit is refused") {
  for (const gpu::Device& device : testing::test_devices()) {
    CAPTURE(device.describe());
    const ContextPtr here = context(device, {4, 4, 4, 4}), there = context(device, {4, 4, 4, 8});
    const auto blocks = clover_blocks(256, 3, 4.1);
    CHECK_THROWS_WITH_AS(DeviceClover<float>(here, blocks, 64), doctest::Contains("64 reals"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(DeviceClover<float>(there, blocks, 72), doctest::Contains("needs 36864"),
                         core::InvalidArgument);
    CHECK_THROWS_WITH_AS(DeviceClover<float>(here, any_blocks(256, 3, 4.1), 56),
                         doctest::Contains("an inverse needs 72"), core::InvalidArgument);
    auto spoilt = blocks;
    spoilt[72 * 255 + 36 + clover::below_diagonal(5, 4) + 1] += 1e-9;
    CHECK_THROWS_WITH_AS(DeviceClover<float>(here, spoilt, 56), doctest::Contains("e-10"), core::InvalidArgument);
    const DeviceClover<float> clover(here, blocks, 56);
    DeviceSpinor<float> full(here, Subset::full), even(here, Subset::even), two(here, Subset::full, 2),
        other(there, Subset::full);
    CHECK_THROWS_WITH_AS(multiply(full, even, clover, 1), doctest::Contains("must hold parity 1"),
                         core::InvalidArgument);
    CHECK_NOTHROW(multiply(full, even, clover, 0));
    CHECK_THROWS_WITH_AS(multiply(full, two, clover, 0), doctest::Contains("columns"), core::InvalidArgument);
    CHECK_THROWS_WITH_AS(multiply(other, other, clover, 0), doctest::Contains("clover blocks"), core::InvalidArgument);
  }
}

}  // namespace halocline::qcd::device
