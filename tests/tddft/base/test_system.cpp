// SPDX-License-Identifier: Apache-2.0

#include "halocline/core/error.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/base/elements.hpp"
#include "halocline/tddft/base/system.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <numbers>
#include <numeric>
#include <string>

namespace halocline::tddft {
namespace {

System jellium(Boundary boundary = Boundary::periodic) {
  System system;
  system.grid = {{12, 10, 9}, {0.5, 0.6, 0.7}, boundary};
  system.jellium = JelliumSphere{1.0, 2.0, {}};
  system.electrons = 2;
  system.states = 4;
  return system;
}

System with_atoms(std::vector<Atom> atoms, Boundary boundary) {
  System system = jellium(boundary);
  system.jellium.reset();
  system.species.resize(1);
  system.atoms = std::move(atoms);
  return system;
}

/// The sentence of the InvalidArgument that `action` throws; empty when it throws none.
std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const core::InvalidArgument& error) {
    return error.what();
  }
  return {};
}

TEST_CASE("grid: points of an isolated box stand symmetrically, those of a cell begin at zero") {
  for (const std::int64_t n : {10, 11}) {
    const Grid box{{n, n, n}, {0.3, 0.3, 0.3}, Boundary::isolated};
    for (std::int64_t i = 0; i < n; ++i) CHECK(box.position(0, i) == doctest::Approx(-box.position(0, n - 1 - i)));
    const Grid cell{{n, n, n}, {0.3, 0.3, 0.3}, Boundary::periodic};
    CHECK(cell.position(2, 0) == 0.0);
    CHECK(cell.position(2, 3) == doctest::Approx(0.9));
  }
}

TEST_CASE("grid: parts cover everything once and differ by at most one") {
  for (const std::int64_t count : {4, 7, 16, 81})
    for (int parts = 1; parts <= 4; ++parts) {
      std::int64_t next = 0;
      for (int part = 0; part < parts; ++part) {
        const Range range = part_of(count, parts, part);
        CHECK(range.begin == next);
        CHECK(range.size() >= count / parts);
        CHECK(range.size() <= (count + parts - 1) / parts);
        next = range.end;
      }
      CHECK(next == count);
    }
}

TEST_CASE("k-points: the 2x2x2 mesh is at quarters of the reciprocal vectors, weights add up to one") {
  const Grid grid{{12, 12, 12}, {0.855, 0.855, 0.855}, Boundary::periodic};
  const double b = 2 * std::numbers::pi / 10.26;
  const auto mesh = monkhorst_pack(grid, {2, 2, 2});
  REQUIRE(mesh.size() == 8);
  double sum = 0;
  for (const Channel& channel : mesh) {
    sum += channel.weight;
    for (const double k : channel.k) CHECK(std::abs(k) == doctest::Approx(b / 4).epsilon(1e-13));
  }
  CHECK(sum == doctest::Approx(1).epsilon(1e-14));
  CHECK(mesh[1].k[0] > 0);  // x runs fastest
  CHECK(mesh[1].k[1] < 0);
}

TEST_CASE("k-points: a mesh has zero when its counts are odd or it is centred, and its mean is the shift otherwise") {
  const Grid grid{{12, 12, 12}, {0.855, 0.855, 0.855}, Boundary::periodic};
  const auto has_zero = [](const std::vector<Channel>& mesh) {
    return std::any_of(mesh.begin(), mesh.end(),
                       [](const Channel& c) { return std::abs(c.k[0]) + std::abs(c.k[1]) + std::abs(c.k[2]) < 1e-14; });
  };
  CHECK(has_zero(monkhorst_pack(grid, {3, 1, 5})));
  CHECK_FALSE(has_zero(monkhorst_pack(grid, {2, 2, 2})));
  CHECK(has_zero(monkhorst_pack(grid, {2, 4, 3}, {}, true)));
  const auto shifted = monkhorst_pack(grid, {4, 1, 1}, {0.25, 0, 0});
  double mean = 0;
  for (const Channel& channel : shifted) mean += channel.k[0] / 4;
  CHECK(mean == doctest::Approx(0.25 / 4 * 2 * std::numbers::pi / 10.26));
}

TEST_CASE("k-points: two spins have the mesh twice, spin 0 first") {
  const Grid grid{{12, 12, 12}, {0.855, 0.855, 0.855}, Boundary::periodic};
  const auto mesh = monkhorst_pack(grid, {2, 1, 1}, {}, false, 2);
  REQUIRE(mesh.size() == 4);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(mesh[i].spin == 0);
    CHECK(mesh[i + 2].spin == 1);
    CHECK(mesh[i].k == mesh[i + 2].k);
  }
}

TEST_CASE("system: what cannot be computed is refused with the numbers in the sentence") {
  CHECK_NOTHROW(validate(jellium()));
  System system = jellium();
  system.grid.extent[1] = 4;
  CHECK(refusal([&] { validate(system); }).find("4 points along y") != std::string::npos);
  system = jellium();
  system.grid.spacing[2] = 0;
  CHECK(refusal([&] { validate(system); }).find("along z is 0") != std::string::npos);
  system = jellium();
  system.electrons = 9;
  CHECK(refusal([&] { validate(system); }).find("at least 5 states") != std::string::npos);
  system = jellium();
  system.electrons = 3;
  CHECK(refusal([&] { validate(system); }).find("3 electrons cannot be paired") != std::string::npos);
  CHECK_NOTHROW(validate(system, true));
  system.spins = 2;
  CHECK(refusal([&] { validate(system); }).find("1 channels") != std::string::npos);
  system.channels = monkhorst_pack(system.grid, {1, 1, 1}, {}, false, 2);
  CHECK_NOTHROW(validate(system));
  system = jellium();
  system.channels[0].weight = 0.5;
  CHECK(refusal([&] { validate(system); }).find("add up to 0.5") != std::string::npos);
  system = jellium();
  system.jellium.reset();
  CHECK(refusal([&] { validate(system); }).find("neither atoms nor a jellium") != std::string::npos);
}

TEST_CASE("system: atoms on top of each other or outside an isolated box are refused, images counted") {
  CHECK(refusal([] {
          validate(with_atoms({{0, {0, 0, 0}}, {0, {0.2, 0, 0}}}, Boundary::isolated));
        }).find("0.2000 bohr apart") != std::string::npos);
  CHECK(refusal([] {
          validate(with_atoms({{0, {0.1, 0, 0}}, {0, {5.9, 0, 0}}}, Boundary::periodic));
        }).find("0.2000 bohr apart") != std::string::npos);
  CHECK_NOTHROW(validate(with_atoms({{0, {0, 0, 0}}, {0, {1.4, 0, 0}}}, Boundary::periodic)));
  CHECK(refusal([] {
          validate(with_atoms({{0, {0, 0, 4.0}}}, Boundary::isolated));
        }).find("outside the isolated box") != std::string::npos);
  CHECK(refusal([] { validate(with_atoms({{1, {0, 0, 0}}}, Boundary::isolated)); }).find("of species 1") !=
        std::string::npos);
}

TEST_CASE("division: the automatic one takes k-points first, then blocks of orbitals, then the slowest axis") {
  System system = jellium();
  system.channels = monkhorst_pack(system.grid, {2, 2, 1});
  system.states = 32;
  CHECK(choose_counts(4, system).text() == "k 4 x orbitals 1 x space 1 1 1");
  CHECK(choose_counts(8, system).text() == "k 4 x orbitals 2 x space 1 1 1");
  system.channels = {Channel{}};
  system.states = 4;
  system.grid = {{16, 16, 16}, {0.5, 0.5, 0.5}, Boundary::periodic};
  CHECK(choose_counts(2, system).text() == "k 1 x orbitals 1 x space 1 1 2");
  CHECK(choose_counts(4, system).text() == "k 1 x orbitals 1 x space 1 1 4");
  CHECK(choose_counts(8, system).ranks() == 8);
}

TEST_CASE("division: a number of processes that has none names a smaller one that has") {
  System system = jellium();
  system.states = 1;
  system.grid = {{8, 8, 8}, {0.5, 0.5, 0.5}, Boundary::periodic};
  CHECK(refusal([&] { choose_counts(3, system); }).find("; 2 can") != std::string::npos);
  CHECK(refusal([&] { choose_counts(16, system); }).find("; 8 can") != std::string::npos);
}

TEST_CASE("elements: symbols and atomic numbers belong together") {
  for (int number = 1; number <= 103; ++number) CHECK(atomic_number_of(symbol_of(number)) == number);
  CHECK(atomic_number_of("H") == 1);
  CHECK(symbol_of(14) == "Si");
  CHECK(symbol_of(92) == "U");
  CHECK(symbol_of(0).empty());
  CHECK(symbol_of(104).empty());
  CHECK(atomic_number_of("X") == 0);
  CHECK(atomic_number_of("") == 0);
}

}  // namespace
}  // namespace halocline::tddft
