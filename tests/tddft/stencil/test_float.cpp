// SPDX-License-Identifier: Apache-2.0
//
// Blocks of eight orbitals in float against two of four in double.

#include "halocline/core/error.hpp"
#include "tddft/base/skew_grids.hpp"
#include "tddft/stencil/cases.hpp"

#include <doctest/doctest.h>
#include <limits>

namespace halocline::tddft {
namespace {

using namespace stencil_tests;

constexpr double epsilon = std::numeric_limits<float>::epsilon();

Decomposition alone(const Grid& grid) { return {comm::Communicator::self(), system_of(grid), ProcessCounts{}}; }

/// Blocks in float, and the same numbers in double.
struct Both {
  Both(const Grid& grid, std::int64_t blocks, std::uint32_t seed) : points(grid.points()) {
    const std::int64_t doubles = points * doubles_per_point;
    single = core::AlignedArray<float>(2 * doubles * blocks);
    twice = random_values(2 * doubles * blocks, seed);
    for (double& value : twice.span()) value = static_cast<double>(static_cast<float>(value));
    for (std::int64_t b = 0; b < blocks; ++b)
      to_floats(single.data() + 2 * b * doubles, twice.data() + 2 * b * doubles, twice.data() + (2 * b + 1) * doubles,
                points);
  }
  /// The numbers in float as doubles, in the order of `twice`.
  Values widened() const {
    Values values(twice.size());
    const std::int64_t doubles = points * doubles_per_point;
    for (std::int64_t b = 0; 2 * b * doubles < values.size(); ++b)
      to_doubles(values.data() + 2 * b * doubles, values.data() + (2 * b + 1) * doubles,
                 single.data() + 2 * b * doubles, points);
    return values;
  }

  std::int64_t points;
  core::AlignedArray<float> single;
  Values twice;
};

std::vector<Grid> grids() {
  return {{{12, 9, 10}, {0.5, 0.7, 0.6}, Boundary::periodic},
          {{17, 6, 11}, {0.5, 0.7, 0.6}, Boundary::isolated},
          {{33, 40, 34}, {0.5, 0.45, 0.6}, Boundary::periodic},  // nine planes of it do not stay in the cache
          test::skew_grid(test::Lattice::triclinic, {11, 9, 10}, {0.5, 0.7, 0.6}),
          test::skew_grid(test::Lattice::face_centred, {9, 9, 9}, {0.5, 0.5, 0.5})};
}

TEST_CASE("stencil in float: the same as in double, with and without gradient, base and factor") {
  constexpr std::int64_t blocks = 3;
  for (const Grid& grid : grids()) {
    CAPTURE(grid.extent[0]);
    Stencil stencil(alone(grid));
    const Both in(grid, blocks, 1);
    std::vector<double> v(static_cast<std::size_t>(grid.points()));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = 0.3 - 0.01 * static_cast<double>(i % 71);
    for (const Vec3& q : {Vec3{}, Vec3{0, 0.2, 0}, Vec3{0.3, -0.2, 0.7}})
      for (const std::complex<double> factor : {std::complex<double>{1, 0}, {0, -0.04}})
        for (const bool with_base : {false, true}) {
          Both out(grid, blocks, 2);
          Combination what{factor, 0.1, with_base ? out.twice.data() : nullptr, 0.5};
          stencil.apply(out.twice.data(), in.twice.data(), 2 * blocks, v, q, what);
          CombinationOf<float> in_float{factor, 0.1, with_base ? out.single.data() : nullptr, 0.5};
          stencil.apply(out.single.data(), in.single.data(), blocks, v, q, in_float);
          CHECK(difference(out.widened().span(), out.twice.span()) <
                10 * epsilon * std::abs(factor) * scale(grid, q) + epsilon);
          CHECK(difference(out.widened().span(), out.twice.span()) > 0);
        }
  }
}

TEST_CASE("stencil in float: currents are sums in double over rows in float") {
  constexpr std::int64_t blocks = 2;
  for (const Grid& grid : grids()) {
    CAPTURE(grid.extent[0]);
    Stencil stencil(alone(grid));
    const Both in(grid, blocks, 1);
    std::vector<double> expected(2 * blocks * orbital_lanes * 3), found(expected.size()), beside(expected.size());
    stencil.current(in.twice.data(), 2 * blocks, expected);
    stencil.current(in.single.data(), blocks, found);
    // Each of the products in a row of up to 40 points is rounded, at random.
    const double tolerance = 5 * epsilon * std::sqrt(static_cast<double>(grid.points()));
    CHECK(difference(found, expected) < tolerance);
    CHECK(largest(expected) > 100 * tolerance);

    Both out(grid, blocks, 2);
    const std::vector<double> v(static_cast<std::size_t>(grid.points()), 0.25);
    stencil.apply_with_current(out.single.data(), in.single.data(), blocks, v, {0.1, 0, 0}, {}, beside);
    CHECK(difference(beside, expected) < tolerance);
  }
}

TEST_CASE("stencil in float: the density is summed in double") {
  const Grid grid = grids().front();
  const Both in(grid, 1, 1);
  std::vector<double> expected(static_cast<std::size_t>(grid.points()), 0.5), found = expected, factors;
  for (int lane = 0; lane < lanes_of<float>; ++lane) factors.push_back(0.3 + 0.1 * lane);
  add_density(found, in.single.data(), factors);
  for (const std::int64_t half : {0, 1})
    add_density(
        expected, in.twice.data() + half * grid.points() * doubles_per_point,
        std::span<const double>(factors).subspan(static_cast<std::size_t>(half) * orbital_lanes, orbital_lanes));
  CHECK(difference(found, expected) < 1e-14);
}

TEST_CASE("orbitals: held in float they are rounded once, and read back in double") {
  System system = system_of({{8, 9, 10}, {0.5, 0.5, 0.5}, Boundary::periodic}, 11);  // three blocks: one and a half
  system.channels = monkhorst_pack(system.grid, {2, 1, 1});
  const Decomposition decomposition(comm::Communicator::self(), system, ProcessCounts{});
  Orbitals orbitals(decomposition);
  const Values numbers = random_values(static_cast<std::int64_t>(orbitals.values().size()), 4);
  std::ranges::copy(numbers.span(), orbitals.values().begin());
  const Orbitals before = orbitals;
  orbitals.convert(Precision::float32);
  CHECK(orbitals.blocks<float>() == 2);
  CHECK(orbitals.blocks() == 3);
  CHECK_THROWS_WITH_AS(static_cast<void>(orbitals.block(0, 0)), doctest::Contains("precision"), core::Error);
  DoubleBlocks reader(orbitals);
  for (std::int64_t channel = 0; channel < 2; ++channel) {
    const std::span<const double> all(reader.read(channel, 0, 3),
                                      static_cast<std::size_t>(3 * orbitals.block_doubles()));
    for (std::size_t i = 0; i < all.size(); ++i)
      CHECK_EQ(all[i], static_cast<double>(static_cast<float>(before.block(channel, 0)[i])));
    const std::vector<double> last(all.end() - orbitals.block_doubles(), all.end());
    CHECK(std::ranges::equal(last, std::span(reader.read(channel, 2), last.size())));
  }
  const float* empty = orbitals.block<float>(1, 1);  // its second half belongs to no block
  for (std::int64_t p = 0; p < orbitals.points(); ++p)
    for (std::int64_t i = 8; i < 16; ++i) REQUIRE(empty[16 * p + i] == 0);
  const Orbitals in_float = orbitals;
  orbitals.convert(Precision::float64);
  CHECK(difference(orbitals.values(), before.values()) < 0.5001 * epsilon);
  orbitals.convert(Precision::float32);  // nothing is lost a second time
  CHECK(std::equal(orbitals.block<float>(0, 0), orbitals.block<float>(0, 0) + 4 * orbitals.block_numbers<float>(),
                   in_float.block<float>(0, 0)));
}

}  // namespace
}  // namespace halocline::tddft
