// SPDX-License-Identifier: Apache-2.0
// Light that answers the current: against closed forms of free electrons, the dielectric function and the balance of
// energies.

#include "halocline/core/error.hpp"
#include "halocline/tddft/propagate/induced_field.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "tddft/propagate/runs.hpp"
#include "tddft/propagate/soft_systems.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;

namespace {

using std::numbers::pi;
using Geometry = Response::Geometry;

constexpr double c = 137.035999177;

/// A of free electrons of a density after a kick of 1, J = n A, at a time.
double kicked(const Response& response, double density, double dt, double time) {
  InducedField induced(response, dt);
  const auto total = [&](const Vec3& own) { return induced.transmission() + own[1]; };
  const auto steps = std::lround(time / dt);
  for (long i = 0; i < steps; ++i) {
    induced.begin_step({0, density * total(induced.now()), 0});
    induced.end_step();
  }
  return total(induced.now());
}

System crystal() { return soft::periodic(std::make_shared<soft::SoftIon>(2.0, 0.9, 0.4), 4, 4, {2, 1, 1}); }

PropagateOptions steps_of(double dt, const char* scheme = "midpoint") {
  PropagateOptions options;
  options.time_step = dt;
  options.scheme = scheme;
  options.energy_every = 1;
  return options;
}

std::vector<Record> run(const System& system, const State& start, const Field& field, const PropagateOptions& options,
                        int steps) {
  Model model = soft::model_of(system);
  State state = start;
  Propagator propagator(model, state, field, options);
  if (field.has_kick()) propagator.kick();
  std::vector<Record> records{propagator.observe()};
  for (int i = 0; i < steps; ++i) records.push_back(propagator.step());
  return records;
}

State ground(const System& system) {
  Model model = soft::model_of(system);
  return soft::converged_state(model);
}

/// integral of J exp(i omega t) along z by the trapezoidal rule.
std::complex<double> transform(const std::vector<Record>& records, std::complex<double> omega) {
  const double dt = records[1].time - records[0].time;
  std::complex<double> sum = 0.5 * dt * records[0].current[2];
  for (std::size_t i = 1; i < records.size(); ++i)
    sum += dt * records[i].current[2] * std::exp(std::complex<double>(0, 1) * omega * records[i].time);
  return sum;
}

}  // namespace

TEST_CASE("induced field: free electrons oscillate with the plasma frequency in a longitudinal field") {
  const double density = 0.03, plasma = std::sqrt(4 * pi * density);
  std::vector<double> error;
  for (const double dt : {0.1, 0.05}) {
    error.push_back(0);
    for (double time = 1; time <= 30; time += 1)
      error.back() = std::max(error.back(),
                              std::abs(kicked({Geometry::longitudinal}, density, dt, time) - std::cos(plasma * time)));
  }
  CHECK(error[0] < 1e-2);
  CHECK(error[1] < error[0] / 3.8);
}

TEST_CASE("induced field: a film lets free electrons come to rest, and glass behind it takes light away") {
  const double density = 0.03;
  for (const double behind : {1.0, 1.5}) {
    const Response film{Geometry::film, 200, 1, behind};
    const double rate = 4 * pi * film.thickness * density / (c * (1 + behind)), first = 2 / (1 + behind);
    std::vector<double> error;
    for (const double dt : {0.1, 0.05})
      error.push_back(std::abs(kicked(film, density, dt, 10) - first * std::exp(-rate * 10)));
    CHECK(error[0] < 1e-4);
    CHECK(error[1] < error[0] / 3.5);
  }
}

TEST_CASE("induced field: the longitudinal current is the transverse one over the dielectric function") {
  const System system = crystal();
  const State start = ground(system);
  Field field;
  field.kick = {0, 0, 0.002};
  const double dt = 0.08;
  const std::vector<Record> transverse = run(system, start, field, steps_of(dt), 1500);
  field.response.geometry = Geometry::longitudinal;
  const std::vector<Record> longitudinal = run(system, start, field, steps_of(dt), 1500);
  for (const double energy : {0.2, 0.4, 0.6, 0.9}) {
    const std::complex<double> omega(energy, 0.1);  // exp(-0.1 t) is 6e-6 at the end
    const std::complex<double> j = transform(transverse, omega),
                               epsilon = 1.0 + 4 * pi * std::complex<double>(0, 1) * j / (0.002 * omega);
    CHECK(std::abs(epsilon - 1.0) > 0.1);
    CHECK(std::abs(transform(longitudinal, omega) * epsilon / j - 1.0) < 1e-3);
  }
}

TEST_CASE("induced field: electrons and the field between the surfaces keep their energy") {
  const System system = crystal();
  const State start = ground(system);
  Field field;
  field.kick = {0.02, 0.03, 0.1};
  field.response.geometry = Geometry::longitudinal;
  for (const char* scheme : {"midpoint", "etrs"}) {
    std::vector<double> change;
    for (const double dt : {0.08, 0.04}) {
      const auto records = run(system, start, field, steps_of(dt, scheme), static_cast<int>(std::lround(16 / dt)));
      double largest = 0, most = 0;
      for (const Record& r : records) {
        most = std::max(most, r.field_energy);
        largest = std::max(largest, std::abs(r.energy.total + r.field_energy - records[0].energy.total));
      }
      CHECK(most > 1e-3);
      change.push_back(largest / most);
    }
    CAPTURE(change[0]);
    CAPTURE(change[1]);
    CHECK(change[0] < 5e-3);
    CHECK(change[1] < change[0] / 3);
  }
}

TEST_CASE("induced field: light on a film is reflected, transmitted, or in the electrons") {
  const System system = crystal();
  const State start = ground(system);
  Field field;
  Pulse pulse;
  pulse.amplitude = 0.02;
  pulse.frequency = 0.5;
  pulse.duration = 60;
  pulse.centre = 30;
  pulse.direction = {0, 1, 2};
  field.pulses = {pulse};
  const Response film{Geometry::film, 400, 1.0, 1.5};
  field.response = film;
  const double dt = 0.08;
  const auto records = run(system, start, field, steps_of(dt), static_cast<int>(std::lround(80 / dt)));
  double incident = 0, reflected = 0, transmitted = 0;  // energies that pass an area
  for (const Record& r : records) {
    const Vec3 in = field.electric_field(r.time), out = r.electric_field;
    const Vec3 back{out[0] - in[0], out[1] - in[1], out[2] - in[2]};
    incident += dt * c / (4 * pi) * film.front * dot(in, in);
    reflected += dt * c / (4 * pi) * film.front * dot(back, back);
    transmitted += dt * c / (4 * pi) * film.behind * dot(out, out);
  }
  const double absorbed =
      film.thickness / system.grid.volume() * (records.back().energy.total - records.front().energy.total);
  CHECK(reflected > 0.02 * incident);
  CHECK(absorbed > 1e-3 * incident);
  CHECK((reflected + transmitted + absorbed) / incident == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE("induced field: a run that is continued has the same bits, with moving ions too") {
  const System system = crystal();
  const State start = ground(system);
  Field field;
  field.kick = {0.02, 0.0, 0.05};
  for (const Response& response : {Response{Geometry::longitudinal}, Response{Geometry::film, 300, 1, 2}})
    for (const bool move : {false, true}) {
      field.response = response;
      const std::optional<IonOptions> ions =
          move ? std::optional(IonOptions{{20, 30}, {{0, 0.1, 0}, {0.2, 0, 0.1}}, 2}) : std::nullopt;
      Model model = soft::model_of(system);
      State whole = start, kept;
      Propagator propagator(model, whole, field, steps_of(0.06), ions);
      Record at, last;
      for (int i = 1; i <= 12; ++i) {
        last = propagator.step();
        if (i == 6) {
          kept = whole;
          at = last;
        }
      }
      REQUIRE(at.induced.has_value());
      CHECK(norm(at.induced->potential) > 1e-6);
      Model fresh = soft::model_of(system);
      Propagator again(fresh, kept, field, steps_of(0.06), ions);
      again.resume(6, 0, move ? &*at.ions : nullptr, &*at.induced);
      Record found;
      for (int i = 7; i <= 12; ++i) found = again.step();
      CHECK(found.vector_potential == last.vector_potential);
      CHECK(found.electric_field == last.electric_field);
      CHECK(found.energy.total == last.energy.total);
      CHECK(found.field_energy == last.field_energy);
      if (move) CHECK(found.ions->positions == last.ions->positions);
    }
}

TEST_CASE("induced field: a charge that moves with its electrons drives nothing") {
  // Ions and electrons fly together: the currents of both cancel.
  System system = crystal();
  Model model = soft::model_of(system);
  State state = ground(system);
  Field field;
  field.kick = {0, 0, 0.05};
  field.response.geometry = Geometry::longitudinal;
  // The kick gives +0.05 to the electrons, and takes as much from each charge of the ions.
  IonOptions ions{{1e9, 1e9}, {{0, 0, 0.05}, {0, 0, 0.05}}, 1};
  Propagator propagator(model, state, field, steps_of(0.05), ions);
  propagator.kick();
  const Record first = propagator.observe();
  CHECK(norm(first.current) > 1e-4);
  CHECK(norm(first.induced->current) < 0.02 * norm(first.current));
}

TEST_CASE("induced field: what cannot be is refused") {
  Field field;
  field.response = {Geometry::film, 100, 1, 1.5};
  CHECK_NOTHROW(validate(field, Boundary::periodic));
  CHECK_THROWS_AS(validate(field, Boundary::isolated), core::InvalidArgument);
  for (const Response& wrong :
       {Response{Geometry::film, 0, 1, 1}, Response{Geometry::film, 10, 0, 1}, Response{Geometry::film, 10, 1, -1}}) {
    field.response = wrong;
    CHECK_THROWS_AS(validate(field, Boundary::periodic), core::InvalidArgument);
  }
  field.response = {Geometry::longitudinal};
  field.spin_kick = true;
  CHECK_THROWS_AS(validate(field, Boundary::periodic), core::InvalidArgument);
  const System system = crystal();
  Model model = soft::model_of(system);
  State state = ground(system);
  Propagator transverse(model, state, {}, steps_of(0.05));
  const InducedRecord record{};
  CHECK_THROWS_WITH_AS(transverse.resume(1, 0, nullptr, &record), doctest::Contains("does not answer"),
                       core::InvalidArgument);
}
