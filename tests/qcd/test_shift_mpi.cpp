// SPDX-License-Identifier: Apache-2.0
//
// Shifts and covariant derivatives on every process grid of the ranks, against plain loops over the whole lattice.

#include <doctest/doctest.h>

#include <cstring>
#include <vector>

#include "halocline/comm/group/world.hpp"
#include "halocline/core/error.hpp"
#include "halocline/qcd/field/shift.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

using Numbers = std::vector<std::complex<double>>;
using Site = lattice::Coordinates<4>;
constexpr Site extents{4, 6, 8, 12};
constexpr std::int64_t volume = 4 * 6 * 8 * 12;

std::vector<std::shared_ptr<const lattice::Geometry4>> geometries() {
  const auto world = comm::world();
  std::vector<std::shared_ptr<const lattice::Geometry4>> all;
  for (int x = 1; x <= 4; ++x)
    for (int y = 1; y <= 6; ++y)
      for (int z = 1; z <= 8; ++z)
        for (int t = 1; t <= 12; ++t)
          if (x * y * z * t == world.size() && 4 % (2 * x) == 0 && 6 % y == 0 && 8 % z == 0 && 12 % t == 0)
            all.push_back(std::make_shared<const lattice::Geometry4>(
                extents, comm::ProcessGrid(world, std::vector<int>{x, y, z, t})));
  return all;
}

/// in(x + steps mu), times the phase once for each time around.
Numbers moved(const Numbers& in, int numbers, int axis, std::int64_t steps, std::complex<double> phase) {
  Numbers out(in.size());
  for (std::int64_t i = 0; i < volume; ++i) {
    Site x = lattice::coordinates_of<4>(i, extents);
    x[axis] += steps;
    std::complex<double> factor = 1;
    for (; x[axis] >= extents[axis]; x[axis] -= extents[axis]) factor *= phase;
    for (; x[axis] < 0; x[axis] += extents[axis]) factor *= std::conj(phase);
    for (int k = 0; k < numbers; ++k)
      out[static_cast<std::size_t>(i * numbers + k)] =
          factor * in[static_cast<std::size_t>(lattice::linear_index<4>(x, extents) * numbers + k)];
  }
  return out;
}

/// matrix (or its adjoint) at a site times the colour index of [outer][3][inner].
Numbers times_links(const Numbers& links, const Numbers& v, int axis, const ColourIndex& colour, bool dagger) {
  Numbers out(v.size());
  for (std::int64_t i = 0; i < volume; ++i)
    for (int o = 0; o < colour.outer; ++o)
      for (int a = 0; a < 3; ++a)
        for (int k = 0; k < colour.inner; ++k)
          for (int b = 0; b < 3; ++b) {
            const auto at = (i * colour.outer + o) * 3;
            const auto u = dagger ? std::conj(links[static_cast<std::size_t>(36 * i + 9 * axis + 3 * b + a)])
                                  : links[static_cast<std::size_t>(36 * i + 9 * axis + 3 * a + b)];
            out[static_cast<std::size_t>((at + a) * colour.inner + k)] +=
                u * v[static_cast<std::size_t>((at + b) * colour.inner + k)];
          }
  return out;
}

}  // namespace

TEST_CASE("shift: every site has the bits of the site that it asks for, on any grid and over any distance") {
  const Numbers whole = test::random_numbers(volume * 5, 1);
  for (const auto& geometry : geometries()) {
    const Numbers in = test::local_part(*geometry, whole, 5);
    Numbers out(in.size());
    for (int axis = 0; axis < 4; ++axis)
      for (const std::int64_t steps : {0, 1, -1, 3, -5, 7, 12, 25}) {
        shift(std::as_writable_bytes(std::span(out)), std::as_bytes(std::span<const std::complex<double>>(in)),
              *geometry, 80, axis, steps);
        CHECK(out == test::local_part(*geometry, moved(whole, 5, axis, steps, 1), 5));
      }
  }
}

TEST_CASE("shift: the boundary phase counts the times around the lattice") {
  const Numbers whole = test::random_numbers(volume, 2);
  const auto turn = std::polar(1.0, 0.4);
  for (const auto& geometry : geometries()) {
    const Numbers in = test::local_part(*geometry, whole, 1);
    Numbers out(in.size());
    for (int axis = 0; axis < 4; ++axis)
      for (const std::int64_t steps : {1, -1, 5, -30}) {
        shift(out, in, *geometry, axis, steps, -1.0);
        CHECK(out == test::local_part(*geometry, moved(whole, 1, axis, steps, -1.0), 1));
        shift(out, in, *geometry, axis, steps, turn);
        const Numbers expected = test::local_part(*geometry, moved(whole, 1, axis, steps, turn), 1);
        CHECK(test::relative_distance(out, expected) < 1e-15 * 30);  // a product of at most eight phases
      }
  }
}

TEST_CASE("covariant derivative: is that of plain loops for spinors, propagators and adjoint fields") {
  const Numbers links = test::random_links(volume, 3);
  for (const auto& geometry : geometries()) {
    const GaugeField u = GaugeField::from_canonical(geometry, test::local_part(*geometry, links, 36));
    for (const ColourIndex& colour : {ColourIndex{4, 1}, ColourIndex{1, 4}}) {
      const auto numbers = static_cast<int>(colour.numbers());
      const Numbers psi = test::random_numbers(volume * numbers, 4), in = test::local_part(*geometry, psi, numbers);
      Numbers out(in.size());
      for (int axis = 0; axis < 4; ++axis) {
        const Numbers ahead = times_links(links, moved(psi, numbers, axis, 1, -1.0), axis, colour, false);
        const Numbers behind = moved(times_links(links, psi, axis, colour, true), numbers, axis, -1, -1.0);
        for (const auto kind : {Difference::symmetric, Difference::forward, Difference::backward}) {
          Numbers expected(psi.size());
          for (std::size_t i = 0; i < psi.size(); ++i)
            expected[i] = kind == Difference::symmetric ? 0.5 * (ahead[i] - behind[i])
                          : kind == Difference::forward ? ahead[i] - psi[i]
                                                        : psi[i] - behind[i];
          covariant_derivative(out, in, u, axis, colour, -1.0, kind);
          // Eight sums of three products.
          CHECK(test::relative_distance(out, test::local_part(*geometry, expected, numbers)) < 1e-15);
        }
      }
    }
    // X = psi psi^dagger transforms as an adjoint field, and so does each of its two factors.
    const Numbers psi = test::random_numbers(volume * 3, 5);
    const auto outer_product = [](const Numbers& v) {
      Numbers x;
      for (std::size_t site = 0; site < v.size() / 3; ++site)
        for (std::size_t a = 0; a < 3; ++a)
          for (std::size_t b = 0; b < 3; ++b) x.push_back(v[3 * site + a] * std::conj(v[3 * site + b]));
      return x;
    };
    const Numbers field = test::local_part(*geometry, outer_product(psi), 9);
    Numbers out(field.size());
    const Numbers ahead = times_links(links, moved(psi, 3, 2, 1, 1), 2, {1, 1}, false);
    Numbers expected = test::local_part(*geometry, outer_product(ahead), 9);
    for (std::size_t i = 0; i < field.size(); ++i) expected[i] -= field[i];
    covariant_derivative(out, field, u, 2, {1, 1, true}, 1, Difference::forward);
    CHECK(test::relative_distance(out, expected) < 1e-14);  // relative to a difference of two fields
  }
}

TEST_CASE("shift: what one rank alone does wrong is refused on all, and none waits") {
  const auto world = comm::world();
  for (const auto& geometry : geometries()) {
    Numbers in(static_cast<std::size_t>(geometry->local_volume())), out(in.size());
    const bool last = world.rank() == world.size() - 1;
    Numbers shorter(in.size() - 1);
    CHECK_THROWS_AS(shift(last ? shorter : out, in, *geometry, 0, 1, 1), core::InvalidArgument);
    CHECK_THROWS_AS(shift(out, in, *geometry, 4, 1, 1), core::InvalidArgument);
    if (world.size() > 1) CHECK_THROWS_AS(shift(out, in, *geometry, last ? 1 : 0, 1, 1), core::InvalidArgument);
  }
}

}  // namespace halocline::qcd
