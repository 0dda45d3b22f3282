// SPDX-License-Identifier: Apache-2.0
//
// Symmetries on a grid: means over images, and what is refused.

#include "halocline/tddft/base/symmetry.hpp"

#include "halocline/core/error.hpp"
#include "halocline/tddft/pseudopotential/goedecker.hpp"
#include "tddft/base/diamond.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace halocline::tddft {
namespace {

using namespace test;

Decomposition alone(const System& system) { return {comm::Communicator::self(), system, ProcessCounts{}}; }

}  // namespace

TEST_CASE("symmetry: the mean over images keeps the sum, is the same at images, and again the same") {
  const System system = diamond(8);
  const Decomposition decomposition = alone(system);
  std::vector<double> field = uneven(system.grid, decomposition.box());
  double before = 0, after = 0;
  for (const double value : field) before += value;
  symmetrise(field, decomposition, system.symmetries);
  for (const double value : field) after += value;
  CHECK(after == doctest::Approx(before).epsilon(1e-13));
  const Box& box = decomposition.box();
  for (const Symmetry& s : system.symmetries) {
    const std::array<std::int64_t, 3> point{3, 1, 6};
    std::array<std::int64_t, 3> image{};
    for (std::size_t a = 0; a < 3; ++a) {
      image[a] = s.shift[a];
      for (std::size_t b = 0; b < 3; ++b) image[a] += s.rotation[a][b] * point[b];
      image[a] = (image[a] % 8 + 8) % 8;
    }
    CHECK(field[static_cast<std::size_t>(box.index(image[0], image[1], image[2]))] ==
          doctest::Approx(field[static_cast<std::size_t>(box.index(3, 1, 6))]).epsilon(1e-13));
  }
  std::vector<double> again = field;
  symmetrise(again, decomposition, system.symmetries);
  for (std::size_t i = 0; i < field.size(); ++i) CHECK(std::abs(again[i] - field[i]) < 1e-14);
}

TEST_CASE("symmetry: atoms, rotations and vectors go where they belong") {
  const System system = diamond(8);
  REQUIRE(system.symmetries.size() == 6);
  CHECK(system.symmetries[3].atoms == std::vector<int>{1, 0});  // the inversion between the atoms
  CHECK(keep(std::span(system.symmetries).first(1), {0.1, 0.2, 0.3}));
  CHECK_FALSE(keep(system.symmetries, {0, 0, 1}));
  std::vector<Vec3> forces{{1, 0, 0}, {0, 2, 0}};
  symmetrise(forces, system.symmetries);
  for (std::size_t c = 0; c < 3; ++c) CHECK(forces[0][c] == doctest::Approx(-forces[1][c]));
  const Vec3 mean = symmetrised({0.3, -0.2, 0.9}, system.symmetries);
  CHECK(norm(mean) < 1e-15);
  CHECK(symmetrised({1, 2, 3}, {}) == Vec3{1, 2, 3});
}

TEST_CASE("symmetry: what does not keep lengths, and what moves an atom to no atom, is refused") {
  const System system = diamond(8);
  CHECK_THROWS_WITH_AS(symmetry_of(system, {{{1, 1, 0}, {0, 1, 0}, {0, 0, 1}}}, {0, 0, 0}),
                       doctest::Contains("lengths"), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(symmetry_of(system, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, {1, 0, 0}),
                       doctest::Contains("maps atom 0"), core::InvalidArgument);
}

}  // namespace halocline::tddft
