// SPDX-License-Identifier: Apache-2.0

#include "halocline/comm/group/world.hpp"
#include "halocline/tddft/base/orbitals.hpp"
#include "halocline/tddft/ground_state/subspace.hpp"

#include <array>
#include <cmath>
#include <doctest/doctest.h>

namespace halocline::tddft {
namespace {

using Complex = std::complex<double>;

System system_of() {
  System system;
  system.grid = {{9, 8, 17}, {0.5, 0.4, 0.3}, Boundary::periodic};
  system.jellium = JelliumSphere{1.0, 2.0, {}};
  system.electrons = 2;
  system.states = 10;  // three blocks, the last one not full
  return system;
}

/// Value of a vector at a point of the whole grid: any function will do.
Complex value(int set, std::int64_t vector, std::int64_t x, std::int64_t y, std::int64_t z) {
  const double phase = 0.37 * static_cast<double>((set + 1) * (3 * x + 5 * y * (vector + 1) + 7 * z * z)) +
                       1.1 * static_cast<double>(vector);
  return {std::cos(phase), std::sin(1.3 * phase + set)};
}

core::AlignedArray<double> filled(const Subspace& subspace, const Box& box, int set) {
  core::AlignedArray<double> values(subspace.set_doubles());
  for (std::int64_t i = 0; i < subspace.blocks() * orbital_lanes; ++i)
    for (std::int64_t z = 0; z < box.extent[2]; ++z)
      for (std::int64_t y = 0; y < box.extent[1]; ++y)
        for (std::int64_t x = 0; x < box.extent[0]; ++x) {
          const Complex v =
              value(set, subspace.first_vector() + i, x + box.offset[0], y + box.offset[1], z + box.offset[2]);
          const std::int64_t at = (i / 4 * box.points() + box.index(x, y, z)) * doubles_per_point + 2 * (i % 4);
          values[at] = v.real();
          values[at + 1] = v.imag();
        }
  return values;
}

/// <l|r> by the definition, on the whole grid.
Complex product(const Grid& grid, int left_set, std::int64_t l, int right_set, std::int64_t r) {
  Complex sum = 0;
  for (std::int64_t z = 0; z < grid.extent[2]; ++z)
    for (std::int64_t y = 0; y < grid.extent[1]; ++y)
      for (std::int64_t x = 0; x < grid.extent[0]; ++x)
        sum += std::conj(value(left_set, l, x, y, z)) * value(right_set, r, x, y, z);
  return sum * grid.point_volume();
}

std::vector<ProcessCounts> divisions(int ranks) {
  std::vector<ProcessCounts> all;
  for (int o = 1; o <= 3; ++o)
    for (int x = 1; x <= 2; ++x)
      for (int z = 1; z <= 4; ++z)
        if (o * x * z == ranks) all.push_back({1, o, {x, 1, z}});
  return all;
}

}  // namespace

TEST_CASE("subspace: products are sums over the grid, whichever way vectors and points are divided") {
  const System system = system_of();
  const auto all = divisions(comm::world().size());
  REQUIRE(!all.empty());
  for (const ProcessCounts& counts : all)
    for (const std::int64_t guards : {0, 2}) {
      CAPTURE(counts.text());
      const Decomposition decomposition(comm::world(), system, counts);
      const Subspace subspace(decomposition, guards);
      const int n = subspace.vectors();
      REQUIRE(n == 4 * (3 + guards));
      const auto a = filled(subspace, decomposition.box(), 0), b = filled(subspace, decomposition.box(), 1);
      const std::array<const double*, 2> left{a.data(), b.data()};
      const std::array<const double*, 1> right{b.data()};
      const Matrix products = subspace.products(left, right);
      REQUIRE(products.rows() == 2 * n);
      REQUIRE(products.columns() == n);
      double worst = 0;
      for (int set = 0; set < 2; ++set)
        for (int l = 0; l < n; l += 3)
          for (int r = 0; r < n; r += 2)
            worst = std::max(worst, std::abs(products(set * n + l, r) - product(system.grid, set, l, 1, r)));
      CHECK(worst < 1e-10);  // 1224 terms of order one
    }
}

TEST_CASE("subspace: products of some blocks are entries of the products of all") {
  const System system = system_of();
  for (const ProcessCounts& counts : divisions(comm::world().size()))
    for (const std::int64_t guards : {0, 2}) {
      CAPTURE(counts.text());
      const Decomposition decomposition(comm::world(), system, counts);
      const Subspace subspace(decomposition, guards);
      const std::int64_t doubles = decomposition.box().points() * doubles_per_point;
      auto a = filled(subspace, decomposition.box(), 0), b = filled(subspace, decomposition.box(), 1);
      const std::array<const double*, 1> left{a.data()}, right{b.data()};
      const Matrix all = subspace.products(left, right);
      // The last blocks of a stand elsewhere.
      const std::int64_t own = subspace.blocks() - subspace.guard_blocks();
      core::AlignedArray<double> elsewhere(std::max<std::int64_t>(1, subspace.guard_blocks() * doubles));
      std::copy(a.data() + own * doubles, a.data() + a.size(), elsewhere.data());
      const VectorSet split(a.data(), own, elsewhere.data(), doubles);
      std::vector<int> seen(static_cast<std::size_t>(subspace.vectors()), 0);
      double worst = 0;
      for (int part = 0; part < 3; ++part) {
        const Subspace::Selection rows = subspace.selected(part, 3, true), columns = subspace.selected(part, 3);
        const Range mine = columns[static_cast<std::size_t>(decomposition.orbitals().rank())];
        core::AlignedArray<double> some(std::max<std::int64_t>(1, mine.size() * doubles));
        std::copy_n(b.data() + mine.begin * doubles, mine.size() * doubles, some.data());
        const Matrix found = subspace.products(split, rows, {some.data(), doubles, mine.begin}, columns);
        const std::vector<int> row = subspace.numbers(rows), column = subspace.numbers(columns);
        REQUIRE(found.rows() == static_cast<int>(row.size()));
        REQUIRE(found.columns() == static_cast<int>(column.size()));
        for (int j = 0; j < found.columns(); ++j) {
          ++seen[static_cast<std::size_t>(column[static_cast<std::size_t>(j)])];
          for (int i = 0; i < found.rows(); ++i)
            worst = std::max(worst, std::abs(found(i, j) - all(row[static_cast<std::size_t>(i)],
                                                               column[static_cast<std::size_t>(j)])));
        }
      }
      CHECK(worst < 1e-11);
      CHECK(std::ranges::all_of(seen, [](int times) { return times == 1; }));
    }
}

TEST_CASE("subspace: combinations mix vectors of all processes, in place too") {
  const System system = system_of();
  for (const ProcessCounts& counts : divisions(comm::world().size())) {
    CAPTURE(counts.text());
    const Decomposition decomposition(comm::world(), system, counts);
    const Subspace subspace(decomposition, 1);
    const Box& box = decomposition.box();
    const int n = subspace.vectors();
    auto a = filled(subspace, box, 0);
    const auto b = filled(subspace, box, 1);
    core::AlignedArray<double> other(subspace.set_doubles());
    Matrix c(2 * n, 2 * n);
    for (int j = 0; j < 2 * n; ++j)
      for (int i = 0; i < 2 * n; ++i) c(i, j) = {std::sin(i + 2.0 * j), std::cos(3.0 * i - j)};
    const std::array<const double*, 2> in{a.data(), b.data()};
    const std::array<double*, 2> out{other.data(), a.data()};  // the second one overwrites what is read
    subspace.combine(out, in, c);
    double worst = 0;
    for (int set = 0; set < 2; ++set)
      for (std::int64_t i = 0; i < subspace.blocks() * orbital_lanes; i += 3)
        for (std::int64_t z = 0; z < box.extent[2]; z += 3)
          for (std::int64_t x = 0; x < box.extent[0]; ++x) {
            Complex expected = 0;
            for (int k = 0; k < 2 * n; ++k)
              expected += value(k / n, k % n, x + box.offset[0], box.offset[1], z + box.offset[2]) *
                          c(k, set * n + subspace.first_vector() + static_cast<int>(i));
            const double* got = (set == 0 ? other : a).data() +
                                (i / 4 * box.points() + box.index(x, 0, z)) * doubles_per_point + 2 * (i % 4);
            worst = std::max(worst, std::abs(Complex(got[0], got[1]) - expected));
          }
    CHECK(worst < 1e-12);
  }
}

}  // namespace halocline::tddft
