// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/field.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace halocline;
using namespace halocline::tddft;

namespace {

Pulse pulse(const char* shape, double centre = 40) {
  Pulse p;
  p.shape = shape;
  p.amplitude = 0.03;
  p.frequency = 0.4;
  p.duration = 30;
  p.centre = centre;
  p.phase = 0.7;
  p.direction = {0, 3, 4};
  return p;
}

Field everything() {
  Field field;
  field.pulses = {pulse("cos2"), pulse("gaussian", 10)};  // the second one has begun before t = 0
  field.table_times = {-3, 2, 5.5, 20, 21};
  field.table_fields = {{1, 0, -1}, {0.5, 0.2, 0.3}, {-0.7, 0.1, 0}, {0.2, 0, 0.4}, {0, 0, 0}};
  return field;
}

}  // namespace

TEST_CASE("field: E is minus the slope of A, pulses and table together") {
  const Field field = everything();
  for (double t = 0.3; t < 70; t += 0.37) {
    const double d = 1e-4;
    const Vec3 e = field.electric_field(t), after = field.vector_potential(t + d),
               before = field.vector_potential(t - d);
    // Second-order differences of pulses: d^2 |A'''| / 6 < 1e-10; a kink of the table is not met.
    for (std::size_t axis = 0; axis < 3; ++axis)
      CHECK(e[axis] == doctest::Approx(-(after[axis] - before[axis]) / (2 * d)).epsilon(1e-7).scale(1));
  }
}

TEST_CASE("field: A is zero at the start, whatever has begun before, and bounded by what is promised") {
  const Field field = everything();
  CHECK(field.vector_potential(0) == Vec3{});
  const Vec3 a = field.largest_potential(), e = field.largest_field();
  for (double t = 0; t < 80; t += 0.11)
    for (std::size_t axis = 0; axis < 3; ++axis) {
      CHECK(std::abs(field.smooth_potential(t)[axis]) <= a[axis] * (1 + 1e-12));
      CHECK(std::abs(field.electric_field(t)[axis]) <= e[axis] * (1 + 1e-12));
    }
}

TEST_CASE("field: a pulse has its amplitude at its centre, is over in the end, and leaves no field behind") {
  Field field;
  field.pulses = {pulse("cos2")};
  field.pulses[0].phase = 0;
  const Vec3 e = field.electric_field(40);
  CHECK(e[0] == 0);
  CHECK(e[1] == doctest::Approx(0.6 * 0.03).epsilon(1e-14));
  CHECK(e[2] == doctest::Approx(0.8 * 0.03).epsilon(1e-14));
  for (const double t : {24.9, 55.1, 1000.0}) {
    CHECK(field.electric_field(t) == Vec3{});
    CHECK(field.vector_potential(t) == Vec3{});
  }
}

TEST_CASE("field: a Gaussian pulse has half its intensity at half its duration from the centre") {
  Field field;
  field.pulses = {pulse("gaussian", 200)};
  field.pulses[0].frequency = 1000;  // so that the slope of the envelope does not count
  field.pulses[0].phase = -1000.0 * 15;
  const double e = field.electric_field(215)[2];
  CHECK(e * e == doctest::Approx(0.5 * 0.64 * 0.03 * 0.03).epsilon(1e-3));
}

TEST_CASE("field: the kick is in A after t = 0 in the velocity gauge, and never in the length gauge") {
  Field field;
  field.kick = {0.01, 0, -0.02};
  CHECK(field.vector_potential(0) == Vec3{});
  CHECK(field.vector_potential(1e-9) == field.kick);
  CHECK(field.electric_field(1) == Vec3{});
  field.gauge = Gauge::length;
  CHECK(field.vector_potential(5) == Vec3{});
}

TEST_CASE("field: what cannot be is refused") {
  const auto refused = [](auto&& change, Boundary boundary = Boundary::isolated) {
    Field field = everything();
    change(field);
    CHECK_THROWS_AS(validate(field, boundary), core::InvalidArgument);
  };
  CHECK_NOTHROW(validate(everything(), Boundary::periodic));
  refused([](Field& f) { f.pulses[0].shape = "square"; });
  refused([](Field& f) { f.pulses[0].duration = 0; });
  refused([](Field& f) { f.pulses[1].frequency = -1; });
  refused([](Field& f) { f.pulses[1].direction = {}; });
  refused([](Field& f) { f.pulses[1].amplitude = std::numeric_limits<double>::quiet_NaN(); });
  refused([](Field& f) { f.table_times.pop_back(); });
  refused([](Field& f) { f.table_times[2] = f.table_times[1]; });
  refused([](Field& f) { f.table_times = {1}, f.table_fields = {Vec3{}}; });
  refused([](Field& f) { f.kick[1] = std::numeric_limits<double>::infinity(); });
  refused([](Field& f) { f.gauge = Gauge::length; }, Boundary::periodic);
}
