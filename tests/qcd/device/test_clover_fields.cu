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

#include "halocline/core/error.hpp"
#include "halocline/qcd/device/clover_array.cuh"
#include "qcd/random_fields.hpp"

namespace halocline::qcd::device {
namespace {

using lattice::Subset;
using Numbers = std::vector<std::complex<double>>;

ContextPtr context(const lattice::Coordinates<4>& extents) {
  return std::make_shared<Context>(gpu::Device::host_executor(), test::one_process(extents));
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
  for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}}) {
    const ContextPtr here = context(extents);
    const auto blocks = any_blocks(2 * here->box.sites, 3, 4.1);
    CHECK(measure<S>(here, blocks, 72, Subset::full, 1) <= bound<S>());
    CHECK(measure<S>(here, blocks, 72, Subset::odd, 3) <= bound<S>());
  }
  const ContextPtr here = context({4, 4, 4, 4});
  const double far = measure<S>(here, any_blocks(256, 5, 4.1), 72, Subset::even, 12);
  MESSAGE(std::string(Storage<S>::name) << ", 72 reals: " << far);
  CHECK(far <= bound<S>());
}

TEST_CASE_TEMPLATE("device clover: 56 reals give back a block of the clover term's structure", S, STORAGES) {
  for (const lattice::Coordinates<4>& extents : {lattice::Coordinates<4>{4, 4, 4, 4}, {8, 4, 6, 2}}) {
    const ContextPtr here = context(extents);
    const auto blocks = clover_blocks(2 * here->box.sites, 3, 4.1);
    CHECK(measure<S>(here, blocks, 56, Subset::full, 1) <= bound<S>());
    CHECK(measure<S>(here, blocks, 56, Subset::even, 5) <= bound<S>());
    const double far = measure<S>(here, blocks, 56, Subset::odd, 1);
    MESSAGE(std::string(Storage<S>::name) << ", 56 reals: " << far);
    CHECK(far <= bound<S>());
  }
}

TEST_CASE("device clover: fixed point keeps the common diagonal in float") {
  const ContextPtr here = context({4, 4, 4, 4});
  std::vector<double> blocks = clover_blocks(256, 9, 0);
  for (double& a : blocks) a *= 1e-4;
  for (int chirality = 0; chirality < 512; ++chirality)
    for (int i = 0; i < 6; ++i) blocks[36 * chirality + i] += 4;
  // Rounded as a whole the block would be off by 4 / 65534 an entry; spinors are rounded to that all the same.
  const DeviceClover<Fixed16> clover(here, blocks, 56);
  const auto reader = clover.reader<56>(1);
  Spinor<float> psi{};
  double worst = 0;
  for (int site = 0; site < here->box.sites; ++site)
    for (int k = 0; k < 12; ++k) {
      psi.at[k % 3][k / 3] = {1, 0};
      const Spinor<float> out = reader.multiply(site, psi);
      Spinor<double> in{};
      in.at[k % 3][k / 3] = {1, 0};
      const double* block = blocks.data() + 72 * (here->box.sites + site);
      const Spinor<double> expected = clover::multiply_block([&](int i) { return block[i]; }, in);
      for (int j = 0; j < 12; ++j)
        worst = std::max(worst, std::hypot(out.at[j % 3][j / 3].re - expected.at[j % 3][j / 3].re,
                                           out.at[j % 3][j / 3].im - expected.at[j % 3][j / 3].im));
      psi.at[k % 3][k / 3] = {0, 0};
    }
  CHECK(worst <= 4 * 0x1p-23);
}

TEST_CASE("device clover: what is not finite stays so") {
  const ContextPtr here = context({4, 2, 2, 2});
  for (double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (int place : {0, 17, 36, 71}) {
      auto blocks = any_blocks(32, 1, 4);
      blocks[72 * 3 + place] = bad;
      const DeviceClover<Fixed16> clover(here, blocks, 72);
      Spinor<float> psi;
      for (auto& colour : psi.at)
        for (auto& z : colour) z = {1, 1};
      const auto bad_site = clover.reader<72>(0).multiply(3, psi), good = clover.reader<72>(0).multiply(4, psi);
      int finite = 0, broken = 0;
      for (int k = 0; k < 12; ++k) {
        if (std::isfinite(bad_site.at[k % 3][k / 3].re)) ++finite;
        if (!std::isfinite(good.at[k % 3][k / 3].re)) ++broken;
      }
      CHECK(finite == 0);
      CHECK(broken == 0);
    }
}

TEST_CASE_TEMPLATE("device clover: memory is what was predicted", S, STORAGES) {
  const ContextPtr here = context({2, 2, 6, 2});
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

TEST_CASE("device clover: what does not fit is refused") {
  const ContextPtr here = context({4, 4, 4, 4}), there = context({4, 4, 4, 8});
  const auto blocks = clover_blocks(256, 3, 4.1);
  CHECK_THROWS_WITH_AS(DeviceClover<float>(here, blocks, 64), doctest::Contains("64 reals"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DeviceClover<float>(there, blocks, 72), doctest::Contains("needs 36864"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(DeviceClover<float>(here, any_blocks(256, 3, 4.1), 56), doctest::Contains("an inverse needs 72"),
                       core::InvalidArgument);
  auto spoilt = blocks;
  spoilt[72 * 255 + 36 + clover::below_diagonal(5, 4) + 1] += 1e-9;
  CHECK_THROWS_WITH_AS(DeviceClover<float>(here, spoilt, 56), doctest::Contains("e-10"), core::InvalidArgument);
  const DeviceClover<float> clover(here, blocks, 56);
  DeviceSpinor<float> full(here, Subset::full), even(here, Subset::even), two(here, Subset::full, 2),
      other(there, Subset::full);
  CHECK_THROWS_WITH_AS(multiply(full, even, clover, 1), doctest::Contains("must hold parity 1"), core::InvalidArgument);
  CHECK_NOTHROW(multiply(full, even, clover, 0));
  CHECK_THROWS_WITH_AS(multiply(full, two, clover, 0), doctest::Contains("columns"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(multiply(other, other, clover, 0), doctest::Contains("clover blocks"), core::InvalidArgument);
}

}  // namespace halocline::qcd::device
