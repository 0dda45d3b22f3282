// SPDX-License-Identifier: Apache-2.0
//
// Ghost sites on one process: every ghost, corners included, repeats the site it stands for.

#include "halocline/lattice/ghost_field.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>

using namespace halocline;
using lattice::Coordinates;

namespace {

std::shared_ptr<const lattice::Geometry4> alone(const Coordinates<4>& extents) {
  return std::make_shared<lattice::Geometry4>(extents, comm::ProcessGrid(comm::Communicator::self(), {1, 1, 1, 1}));
}

template <class T>
void check_all_ghosts(const Coordinates<4>& extents, int components, int depth) {
  lattice::GhostField<T> field(alone(extents), components, depth);
  for (std::int64_t site = 0; site < lattice::product<4>(extents); ++site)
    for (int c = 0; c < components; ++c)
      field.at(lattice::coordinates_of<4>(site, extents), c) = static_cast<T>(1 + site * components + c);
  field.exchange_ghosts();
  std::int64_t wrong = 0;
  Coordinates<4> wide = extents;
  for (auto& extent : wide) extent += 2 * depth;
  for (std::int64_t index = 0; index < lattice::product<4>(wide); ++index) {
    Coordinates<4> x = lattice::coordinates_of<4>(index, wide), home;
    for (int axis = 0; axis < 4; ++axis) {
      x[axis] -= depth;
      home[axis] = (x[axis] + extents[axis]) % extents[axis];
    }
    for (int c = 0; c < components; ++c)
      wrong += field.at(x, c) != static_cast<T>(1 + lattice::linear_index<4>(home, extents) * components + c);
  }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("ghost field: every ghost is the periodic image of its site") {
  for (int depth = 1; depth <= 4; ++depth) {
    CAPTURE(depth);
    check_all_ghosts<double>({4, 6, 8, 10}, 3, depth);
    check_all_ghosts<float>({10, 4, 5, 7}, 2, depth);
  }
  check_all_ghosts<double>({2, 1, 1, 3}, 1, 1);
}

TEST_CASE("ghost field: rows begin on a 64-byte boundary and strides reach the neighbours") {
  lattice::GhostField<double> field(alone({6, 4, 4, 8}), 5, 2);
  for (std::int64_t t = -2; t < 10; ++t) {
    const auto address = reinterpret_cast<std::uintptr_t>(&field.at({0, 3, -1, t}, 4));
    CHECK(address % 64 == 0);
  }
  const Coordinates<4> x = {1, 2, 3, 4};
  for (int axis = 0; axis < 4; ++axis) {
    Coordinates<4> next = x;
    ++next[axis];
    CHECK(&field.at(next, 1) - &field.at(x, 1) == field.stride(axis));
  }
  CHECK(&field.at(x, 3) - &field.at(x, 1) == 2 * field.component_stride());
}

TEST_CASE("ghost field: exchanging some components leaves the ghosts of the others") {
  lattice::GhostField<double> field(alone({4, 4, 4, 4}), 3, 1);
  for (int c = 0; c < 3; ++c) field.at({0, 0, 0, 0}, c) = 7;
  field.exchange_ghosts(1, 1);
  CHECK(field.at({4, 4, 4, 4}, 0) == 0);
  CHECK(field.at({4, 4, 4, 4}, 1) == 7);
  CHECK(field.at({4, 4, 4, 4}, 2) == 0);
}

TEST_CASE("ghost field: a depth that does not fit is refused with the axis named") {
  CHECK_THROWS_AS(lattice::GhostField<double>(alone({4, 4, 4, 4}), 1, 0), core::InvalidArgument);
  CHECK_THROWS_AS(lattice::GhostField<double>(alone({8, 8, 8, 8}), 1, 5), core::InvalidArgument);
  CHECK_THROWS_AS(lattice::GhostField<double>(alone({4, 4, 4, 4}), 0, 1), core::InvalidArgument);
  CHECK_THROWS_WITH_AS(lattice::GhostField<double>(alone({4, 4, 2, 4}), 1, 3),
                       doctest::Contains("axis 2 with local extent 2"), core::InvalidArgument);
}
