// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pulses in closed form; tables by the trapezoidal rule, which is exact for the piecewise linear field.

#include "halocline/tddft/propagate/field.hpp"

#include "halocline/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include <fmt/core.h>

namespace halocline::tddft {
namespace {

using core::InvalidArgument;
using std::numbers::pi;

/// Value and slope of the envelope.
struct Envelope {
  double value = 0, slope = 0;
};

Envelope envelope(const Pulse& pulse, double tau) {
  if (pulse.shape == "cos2") {
    if (std::abs(tau) >= 0.5 * pulse.duration) return {};
    const double angle = pi * tau / pulse.duration;
    return {std::cos(angle) * std::cos(angle), -(pi / pulse.duration) * std::sin(2 * angle)};
  }
  // The intensity is the square of exp(-c tau^2) and halves at tau = duration / 2.
  const double c = 2 * std::numbers::ln2 / (pulse.duration * pulse.duration);
  const double value = std::exp(-c * tau * tau);
  return {value, -2 * c * tau * value};
}

/// Angle of the carrier, and its rate.
struct Carrier {
  double angle = 0, rate = 0;
};

Carrier carrier(const Pulse& pulse, double tau) {
  return {(pulse.frequency + 0.5 * pulse.chirp * tau) * tau + pulse.phase, pulse.frequency + pulse.chirp * tau};
}

/// Of d1 and d2.
using Along = std::array<double, 2>;

Along raw_potential(const Pulse& pulse, double t) {
  const double tau = t - pulse.centre, angle = carrier(pulse, tau).angle;
  const double size = pulse.amplitude / pulse.frequency * envelope(pulse, tau).value;
  return {-size * std::sin(angle), size * std::cos(angle)};
}

Along field_of(const Pulse& pulse, double t) {
  const double tau = t - pulse.centre;
  const auto [angle, rate] = carrier(pulse, tau);
  const Envelope e = envelope(pulse, tau);
  const double size = pulse.amplitude / pulse.frequency, sine = std::sin(angle), cosine = std::cos(angle);
  return {size * (e.value * rate * cosine + e.slope * sine), size * (e.value * rate * sine - e.slope * cosine)};
}

/// The largest distance from the centre at which a pulse counts: a Gaussian is 4e-6 of its peak there.
double reach(const Pulse& pulse) { return (pulse.shape == "cos2" ? 0.5 : 3.0) * pulse.duration; }

Vec3 unit(const Vec3& direction) {
  const double length = std::hypot(direction[0], direction[1], direction[2]);
  return {direction[0] / length, direction[1] / length, direction[2] / length};
}

void add(Vec3& sum, double factor, const Vec3& v) {
  for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += factor * v[axis];
}

/// Field at time t on the straight line between the table's points i and i + 1.
Vec3 on_line(const Field& field, std::size_t i, double t) {
  const double from = field.table_times[i], to = field.table_times[i + 1], s = (t - from) / (to - from);
  Vec3 value{};
  add(value, 1 - s, field.table_fields[i]);
  add(value, s, field.table_fields[i + 1]);
  return value;
}

/// Integral of the table's field from 0 to t.
Vec3 table_integral(const Field& field, double t) {
  const double low = std::min(0.0, t), high = std::max(0.0, t);
  Vec3 sum{};
  for (std::size_t i = 0; i + 1 < field.table_times.size(); ++i) {
    const double from = std::max(low, field.table_times[i]), to = std::min(high, field.table_times[i + 1]);
    if (from >= to) continue;
    add(sum, 0.5 * (to - from), on_line(field, i, from));
    add(sum, 0.5 * (to - from), on_line(field, i, to));
  }
  if (t < 0)
    for (double& s : sum) s = -s;
  return sum;
}

bool finite(const Vec3& v) { return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]); }

void add(Vec3& sum, const Along& factors, const std::array<Vec3, 2>& vectors) {
  for (std::size_t i = 0; i < 2; ++i) add(sum, factors[i], vectors[i]);
}

void validate_polarisation(const Pulse& pulse) {
  if (!(std::abs(pulse.ellipticity) <= 1))
    throw InvalidArgument(fmt::format(
        "pulse ellipticity {} given, from -1 to 1 expected; give the longer axis as the direction", pulse.ellipticity));
  if (pulse.ellipticity == 0) return;
  if (!finite(pulse.around) || pulse.around == Vec3{})
    throw InvalidArgument("an elliptic pulse was given without the direction in which it travels; give it");
  const double along = dot(unit(pulse.around), unit(pulse.direction));
  if (std::abs(along) > 1e-8)
    throw InvalidArgument(
        fmt::format("an elliptic pulse was given that travels at {:.4g} degrees to its field; 90 expected",
                    std::acos(std::clamp(along, -1.0, 1.0)) * 180 / pi));
}

void validate(const Pulse& pulse) {
  if (pulse.shape != "cos2" && pulse.shape != "gaussian")
    throw InvalidArgument(fmt::format(
        "pulse shape '{}' given, 'cos2' or 'gaussian' expected; other shapes can be given as a table", pulse.shape));
  if (!(pulse.duration > 0) || !std::isfinite(pulse.duration))
    throw InvalidArgument(fmt::format("pulse duration {} a.u. given, a positive time expected", pulse.duration));
  if (!(pulse.frequency > 0) || !std::isfinite(pulse.frequency))
    throw InvalidArgument(fmt::format(
        "pulse frequency {} hartree given, a positive one expected; give a static field as a table", pulse.frequency));
  if (!std::isfinite(pulse.amplitude) || !std::isfinite(pulse.centre) || !std::isfinite(pulse.phase))
    throw InvalidArgument("pulse amplitude, centre and phase must be finite numbers");
  if (!finite(pulse.direction) || pulse.direction == Vec3{})
    throw InvalidArgument("pulse direction of length zero given, a vector along the electric field expected");
  validate_polarisation(pulse);
  if (!(std::abs(pulse.chirp) * reach(pulse) < pulse.frequency))
    throw InvalidArgument(
        fmt::format("a chirp of {} a.u. given; below {:.4g} expected, since the frequency of {:.4g} hartree must not "
                    "pass zero within the pulse",
                    pulse.chirp, pulse.frequency / reach(pulse), pulse.frequency));
}

void validate_response(const Field& field, Boundary boundary) {
  const Response& response = field.response;
  if (response.geometry == Response::Geometry::transverse) return;
  if (boundary != Boundary::periodic)
    throw InvalidArgument("an induced field given for an isolated box; it is that of a crystal's current, and a "
                          "molecule's own field is in its Hartree potential: take the transverse response");
  if (field.spin_kick)
    throw InvalidArgument("an induced field given with a spin kick, which drives no current; take the transverse "
                          "response");
  if (response.geometry != Response::Geometry::film) return;
  if (!(response.thickness > 0) || !std::isfinite(response.thickness))
    throw InvalidArgument(fmt::format("a film of {} bohr given, a positive thickness expected", response.thickness));
  for (const double index : {response.front, response.behind})
    if (!(index > 0) || !std::isfinite(index))
      throw InvalidArgument(
          fmt::format("a refractive index of {} given beside a film, a positive one expected", index));
}

}  // namespace

std::array<Vec3, 2> polarisation(const Pulse& pulse) {
  const Vec3 first = unit(pulse.direction);
  if (pulse.ellipticity == 0) return {first, Vec3{}};
  Vec3 second{};
  add(second, pulse.ellipticity, cross(unit(pulse.around), first));
  return {first, second};
}

Vec3 Field::smooth_potential(double t) const {
  Vec3 a{};
  if (t == 0) return a;  // exactly zero, independent of the rounding of the two terms below
  for (const Pulse& pulse : pulses) {
    const Along now = raw_potential(pulse, t), first = raw_potential(pulse, 0);
    add(a, {now[0] - first[0], now[1] - first[1]}, polarisation(pulse));
  }
  add(a, -1, table_integral(*this, t));
  return a;
}

Vec3 Field::vector_potential(double t) const {
  Vec3 a = smooth_potential(t);
  if (gauge == Gauge::velocity && t > 0) add(a, 1, kick);
  return a;
}

Vec3 Field::electric_field(double t) const {
  Vec3 e{};
  for (const Pulse& pulse : pulses) add(e, field_of(pulse, t), polarisation(pulse));
  if (table_times.size() > 1 && t >= table_times.front() && t <= table_times.back()) {
    const auto after = std::upper_bound(table_times.begin(), table_times.end() - 1, t);
    add(e, 1,
        on_line(*this, static_cast<std::size_t>(std::max<std::ptrdiff_t>(after - table_times.begin() - 1, 0)), t));
  }
  return e;
}

Vec3 Field::largest_potential() const {
  Vec3 largest{};
  for (const Pulse& pulse : pulses) {
    const auto along = polarisation(pulse);
    const Along first = raw_potential(pulse, 0);
    const double peak = std::abs(pulse.amplitude / pulse.frequency);
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (std::size_t i = 0; i < 2; ++i) largest[axis] += (peak + std::abs(first[i])) * std::abs(along[i][axis]);
  }
  // A of the table is extreme at its times or where the field crosses zero. Between two times it changes by at most the
  // larger triangle under the line.
  Vec3 a{}, peak{}, triangle{};
  for (std::size_t i = 0; i + 1 < table_times.size(); ++i) {
    const double from = std::max(0.0, table_times[i]), length = table_times[i + 1] - from;
    if (length <= 0) continue;
    const Vec3 first = on_line(*this, i, from), second = table_fields[i + 1];
    for (std::size_t axis = 0; axis < 3; ++axis) {
      a[axis] += 0.5 * length * (first[axis] + second[axis]);
      peak[axis] = std::max(peak[axis], std::abs(a[axis]));
      triangle[axis] = std::max(triangle[axis], 0.5 * length * std::max(std::abs(first[axis]), std::abs(second[axis])));
    }
  }
  add(largest, 1, peak);
  add(largest, 1, triangle);
  return largest;
}

Vec3 Field::largest_field() const {
  Vec3 largest{};
  for (const Pulse& pulse : pulses) {
    const auto along = polarisation(pulse);
    // |envelope'| <= pi / duration (cos2) and below 1.5 / duration (gaussian). The envelope times |tau| is below half
    // of a duration for both.
    const double rate = pulse.frequency + 0.5 * std::abs(pulse.chirp) * pulse.duration + pi / pulse.duration;
    const double peak = std::abs(pulse.amplitude / pulse.frequency) * rate;
    for (std::size_t axis = 0; axis < 3; ++axis)
      for (const Vec3& vector : along) largest[axis] += peak * std::abs(vector[axis]);
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    double peak = 0;
    for (const Vec3& e : table_fields) peak = std::max(peak, std::abs(e[axis]));
    largest[axis] += peak;
  }
  return largest;
}

void validate(const Field& field, Boundary boundary) {
  if (field.gauge == Gauge::length && boundary == Boundary::periodic)
    throw InvalidArgument("length gauge given for a periodic cell, where the position has no meaning; use the velocity "
                          "gauge");
  validate_response(field, boundary);
  if (!finite(field.kick)) throw InvalidArgument("the kick must be three finite numbers [1/bohr]");
  for (const Pulse& pulse : field.pulses) validate(pulse);
  if (field.table_times.size() != field.table_fields.size())
    throw InvalidArgument(fmt::format("a field table of {} times and {} fields given, as many of each expected",
                                      field.table_times.size(), field.table_fields.size()));
  if (field.table_times.size() == 1) throw InvalidArgument("a field table of one line given, at least two expected");
  for (std::size_t i = 0; i < field.table_times.size(); ++i) {
    if (!std::isfinite(field.table_times[i]) || !finite(field.table_fields[i]))
      throw InvalidArgument(fmt::format("line {} of the field table has a number that is not finite", i + 1));
    if (i > 0 && !(field.table_times[i] > field.table_times[i - 1]))
      throw InvalidArgument(fmt::format("times of the field table must grow; line {} has {} after {}", i + 1,
                                        field.table_times[i], field.table_times[i - 1]));
  }
}

}  // namespace halocline::tddft
