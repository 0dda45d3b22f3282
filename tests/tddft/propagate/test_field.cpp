// SPDX-License-Identifier: Apache-2.0
#include "halocline/tddft/propagate/field.hpp"

#include "halocline/core/error.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

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

/// An elliptic pulse that travels along y.
Pulse turning(double ellipticity) {
  Pulse p = pulse("cos2", 30);
  p.direction = {0, 0, 2};
  p.ellipticity = ellipticity;
  p.around = {0, 0.5, 0};
  return p;
}

Field everything() {
  Field field;
  field.pulses = {pulse("cos2"), pulse("gaussian", 10), turning(0.6), turning(-1)};  // the second began before t = 0
  field.pulses[1].chirp = 0.003;
  field.pulses[2].chirp = -0.01;
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

TEST_CASE("field: the field of a circular pulse turns at constant size, the other way round for the other sign") {
  for (const double sign : {1.0, -1.0}) {
    Field field;
    field.pulses = {turning(sign)};
    field.pulses[0].frequency = 50;  // so that the slope of the envelope does not count
    field.pulses[0].phase = 0;
    const double quarter = std::acos(-1.0) / 100;
    const Vec3 start = field.electric_field(30), later = field.electric_field(30 + quarter);
    CHECK(start[2] == doctest::Approx(0.03).epsilon(1e-4));
    CHECK(std::abs(start[0]) < 0.03 * 1e-2);
    // around x direction = y x z = x
    CHECK(later[0] == doctest::Approx(sign * 0.03).epsilon(1e-4));
    CHECK(std::abs(later[2]) < 0.03 * 1e-2);
    for (double t = 25; t < 35; t += 0.0137) {
      const double envelope = std::pow(std::cos(std::acos(-1.0) * (t - 30) / 30), 2);
      CHECK(norm(field.electric_field(t)) == doctest::Approx(0.03 * envelope).epsilon(1e-4));
    }
  }
}

TEST_CASE("field: a chirped pulse crosses zero faster and faster") {
  Field field;
  field.pulses = {pulse("cos2", 100)};
  Pulse& p = field.pulses[0];
  p.duration = 200;
  p.phase = 0;
  p.chirp = 0.002;
  std::vector<double> crossings;
  double before = field.electric_field(40)[2];
  for (double t = 40; t < 160; t += 0.002) {
    const double now = field.electric_field(t)[2];
    if ((now > 0) != (before > 0)) crossings.push_back(t);
    before = now;
  }
  REQUIRE(crossings.size() > 10);
  for (std::size_t i = 0; i + 1 < crossings.size(); ++i) {
    const double middle = 0.5 * (crossings[i] + crossings[i + 1]) - 100;
    CHECK(std::acos(-1.0) / (crossings[i + 1] - crossings[i]) == doctest::Approx(0.4 + 0.002 * middle).epsilon(0.02));
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
  refused([](Field& f) { f.pulses[2].ellipticity = 1.1; });
  refused([](Field& f) { f.pulses[2].around = {}; });
  refused([](Field& f) { f.pulses[2].around = {0, 1, 0.1}; });
  refused([](Field& f) { f.pulses[0].chirp = 0.03; });  // 0.4 at the centre, below 0 before 13 a.u.
  refused([](Field& f) { f.table_times.pop_back(); });
  refused([](Field& f) { f.table_times[2] = f.table_times[1]; });
  refused([](Field& f) { f.table_times = {1}, f.table_fields = {Vec3{}}; });
  refused([](Field& f) { f.kick[1] = std::numeric_limits<double>::infinity(); });
  refused([](Field& f) { f.gauge = Gauge::length; }, Boundary::periodic);
}
