// SPDX-License-Identifier: Apache-2.0
//
// Whole runs, ground state and propagation, against another code's numbers (../shared/data/electrons). They take
// minutes and are skipped unless asked for:
//   test_tddft_propagate --no-skip --test-case="slow: *"

#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/propagate/propagator.hpp"
#include "halocline/tddft/propagate/spectrum.hpp"
#include "halocline/tddft/pseudopotential/ky.hpp"
#include "tddft/propagate/reference_values.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace halocline;
using namespace halocline::tddft;
namespace ref = reference_values;

namespace {

constexpr double angstrom = 1 / 0.52917721067, femtosecond = 1 / 0.02418884326505, electronvolt = 1 / 27.21138505;

System silicon(int states) {
  System system;
  system.grid = {{12, 12, 12}, {0.855, 0.855, 0.855}, Boundary::periodic};
  system.species = {read_ky(ref::folder + "Si_rps.dat", "Si", 2)};
  const double a = 10.26;
  for (const Vec3& r : {Vec3{0, 0, 0}, Vec3{.25, .25, .25}, Vec3{.5, 0, .5}, Vec3{0, .5, .5}, Vec3{.5, .5, 0},
                        Vec3{.75, .25, .75}, Vec3{.25, .75, .75}, Vec3{.75, .75, .25}})
    system.atoms.push_back({0, {a * r[0], a * r[1], a * r[2]}});
  system.channels = monkhorst_pack(system.grid, {2, 2, 2});
  system.electrons = 32;
  system.states = states;
  return system;
}

Field kick_along_z(Gauge gauge, double kick) {
  Field field;
  field.gauge = gauge;
  field.kick = {0, 0, kick};
  return field;
}

}  // namespace

TEST_CASE("slow: silicon's current after a kick is the reference's" * doctest::skip()) {
  const auto text = ref::text();
  REQUIRE_MESSAGE(text.has_value(), "no reference.json in " << ref::folder);
  Model model(silicon(20), comm::Communicator::self(), {}, {.xc = "pz"});
  State state = model.empty_state();
  ScfOptions scf;
  scf.tolerance = 1e-11;
  scf.energy_tolerance = 1e-11;
  scf.eigen_tolerance = 1e-8;
  scf.max_iterations = 300;
  const GroundState ground = solve_ground_state(model, state, scf);
  MESSAGE("ground state: " << ground.reason << " after " << ground.history.size() << " iterations, total "
                           << ground.energy.total);
  REQUIRE(ground.converged);
  // The reference's scheme, whose potential lags half a step.
  Propagator run(model, state, kick_along_z(Gauge::velocity, 0.01),
                 {.time_step = 0.16, .scheme = "taylor4", .energy_every = 100});
  MESSAGE("step limit " << run.step_limit());
  run.kick();
  const Record start = run.observe();
  std::vector<double> times{0}, current{start.current[2]};
  Record first, last;
  for (int step = 1; step <= 1500; ++step) {
    const Record r = run.step();
    times.push_back(r.time);
    current.push_back(r.current[2]);
    const auto at = [&](const std::string& time, double tolerance) {
      const double expected = ref::number(*text, "Jz_au", time);
      MESSAGE("t = " << time << ": J_z = " << r.current[2] << ", off by " << r.current[2] - expected);
      CHECK(std::abs(r.current[2] - expected) < tolerance);
    };
    if (step == 1) at("0.16", 1e-7);
    if (step == 10) at("1.60", 1e-7);
    if (step == 50) at("8.00", 1e-7);
    if (step == 100) at("16.00", 1e-7);
    if (step == 150) at("24.00", 1e-7);
    if (step == 160) at("25.60", 1e-7);
    if (step == 180) at("28.80", 1e-7);
    if (step == 500) at("80.00", 1e-6);
    if (step == 1000) at("160.00", 1e-6);
    if (step == 1500) at("240.00", 1e-6);
    if (step == 100) first = r;
    last = r;
  }
  MESSAGE("energy gained by the kick " << start.energy.total - ground.energy.total << ", drift from step 100 to 1500 "
                                       << last.energy.total - first.energy.total << ", norm lost "
                                       << start.norm - last.norm);
  CHECK(std::abs(start.energy.total - ground.energy.total - ref::number(*text, "Si8_rt_impulse", "dE_Ha")) < 1e-5);
  CHECK(std::abs(last.energy.total - first.energy.total) < 1e-5);
  CHECK(std::abs(last.norm - start.norm) < 1e-6 * start.norm);

  std::vector<double> energies;
  for (double e = 0.4; e < 12; e += 0.01) energies.push_back(e * electronvolt);
  current[0] = 0;  // the reference's sum begins with the first step, without half of what is there at t = 0
  const auto epsilon = dielectric(times, current, 0.01, energies);
  std::vector<double> imaginary;
  for (const auto& value : epsilon) imaginary.push_back(value.imag());
  const std::vector<Peak> found = peaks(energies, imaginary, 0.02);
  const std::vector<double> expected = ref::numbers(*text, "Si8_rt_impulse", "Im_eps_z_peaks_eV");
  for (std::size_t i = 0; i < expected.size(); i += 2) {
    const auto near = std::min_element(found.begin(), found.end(), [&](const Peak& a, const Peak& b) {
      return std::abs(a.energy / electronvolt - expected[i]) < std::abs(b.energy / electronvolt - expected[i]);
    });
    REQUIRE(near != found.end());
    MESSAGE("peak of Im epsilon: " << near->energy / electronvolt << " eV, " << near->height << "; reference "
                                   << expected[i] << " eV, " << expected[i + 1]);
    CHECK(std::abs(near->energy / electronvolt - expected[i]) < 0.05);
    CHECK(std::abs(near->height - expected[i + 1]) < 0.03 * expected[i + 1]);
  }
}

TEST_CASE("slow: silicon by etrs keeps its norm and its energy, and is reversible" * doctest::skip()) {
  Model model(silicon(16), comm::Communicator::self(), {}, {.xc = "pz"});
  State state = model.empty_state();
  ScfOptions scf;
  scf.max_iterations = 300;
  REQUIRE(solve_ground_state(model, state, scf).converged);
  const PropagateOptions options{.time_step = 0.16,
                                 .scheme = "etrs",
                                 .energy_every = 100,
                                 .exponential_tolerance = 1e-15,
                                 .correction_tolerance = 1e-12};
  Propagator run(model, state, kick_along_z(Gauge::velocity, 0.01), options);
  run.kick();
  const Record start = run.observe();
  for (int step = 1; step <= 1000; ++step) {
    const Record r = run.step();
    if (!r.has_energy) continue;
    MESSAGE("t = " << r.time << ": J_z = " << r.current[2] << ", norm off by " << r.norm / start.norm - 1
                   << ", energy by " << r.energy.total - start.energy.total);
    CHECK(std::abs(r.norm / start.norm - 1) < 1e-10);
    CHECK(std::abs(r.energy.total - start.energy.total) < 1e-6);
  }
  // Backwards: conjugate orbitals, with opposite k (each k-point stands for -k too) and opposite A.
  for (std::size_t i = 1; i < state.orbitals.values().size(); i += 2) state.orbitals.values()[i] *= -1;
  const std::int64_t channels = state.orbitals.channels(),
                     doubles = state.orbitals.blocks() * state.orbitals.block_doubles();
  for (std::int64_t c = 0; c < channels / 2; ++c)  // k of channel c is minus that of channel 7 - c
    std::swap_ranges(state.orbitals.block(c, 0), state.orbitals.block(c, 0) + doubles,
                     state.orbitals.block(channels - 1 - c, 0));
  Propagator back(model, state, kick_along_z(Gauge::velocity, -0.01), options);
  back.kick();
  for (int step = 1; step <= 1000; ++step) back.step();
  const Record end = back.observe();
  MESSAGE("back at the start: J_z off by " << end.current[2] + start.current[2] << ", energy by "
                                           << end.energy.total - start.energy.total);
  CHECK(std::abs(end.current[2] + start.current[2]) < 1e-10);
  CHECK(std::abs(end.energy.total - start.energy.total) < 1e-9);
}

TEST_CASE("slow: the current of a jellium sphere is the reference's" * doctest::skip()) {
  const auto text = ref::text();
  REQUIRE_MESSAGE(text.has_value(), "no reference.json in " << ref::folder);
  System system;
  const double h = 0.25 * angstrom, centre = 7.75 * angstrom;
  system.grid = {{64, 64, 64}, {h, h, h}, Boundary::periodic};
  system.jellium = JelliumSphere{1.0, 10, {centre, centre, centre}};
  system.channels = monkhorst_pack(system.grid, {1, 1, 2});
  system.electrons = 10;
  system.states = 6;
  Model model(system, comm::Communicator::self(), {}, {.xc = "pz"});
  State state = model.empty_state();
  ScfOptions scf;
  scf.tolerance = 1e-9;
  scf.energy_tolerance = 1e-10;
  scf.eigen_tolerance = 1e-6;
  scf.max_iterations = 300;
  const GroundState ground = solve_ground_state(model, state, scf);
  MESSAGE("ground state: " << ground.reason << " after " << ground.history.size() << " iterations");
  REQUIRE(ground.converged);
  const std::vector<double> eigenvalues = ref::numbers(*text, "Jellium_periodic_gs", "eigen_eV");
  for (std::size_t i = 0; i < 5; ++i) CHECK(std::abs(state.eigenvalues[i] / electronvolt - eigenvalues[i]) < 1e-4);
  Propagator run(model, state, kick_along_z(Gauge::velocity, 0.01),
                 {.time_step = 0.00125 * femtosecond, .scheme = "taylor4", .energy_every = 0});
  const double unit = femtosecond * angstrom * angstrom;  // of a current density, to 1/(fs angstrom^2)
  for (int step = 1; step <= 30; ++step) {
    const Record r = run.step();
    const auto at = [&](const std::string& time) {
      const double expected = ref::number(*text, "Jz", time), found = r.current[2] * unit;
      MESSAGE("t = " << time << " fs: J_z = " << found << ", off by " << found - expected);
      CHECK(std::abs(found - expected) < 1e-8);
    };
    if (step == 1) at("0.00125");
    if (step == 10) at("0.01250");
    if (step == 20) at("0.02500");
    if (step == 30) at("0.03750");
  }
}

TEST_CASE("slow: the dipole and the spectrum of acetylene are the reference's" * doctest::skip()) {
  const auto text = ref::text();
  REQUIRE_MESSAGE(text.has_value(), "no reference.json in " << ref::folder);
  System system;
  const double h = 0.25 * angstrom;
  system.grid = {{40, 40, 40}, {h, h, h}, Boundary::isolated};
  system.filtered = false;  // as the reference
  system.species = {read_ky(ref::folder + "C_rps.dat", "C", 1), read_ky(ref::folder + "H_rps.dat", "H", 0, 0)};
  for (const double sign : {1.0, -1.0}) {
    system.atoms.push_back({0, {0, 0, sign * 0.599672 * angstrom}});
    system.atoms.push_back({1, {0, 0, sign * 1.662257 * angstrom}});
  }
  system.electrons = 10;
  system.states = 6;
  Model model(system, comm::Communicator::self(), {}, {.xc = "pz"});
  State state = model.empty_state();
  ScfOptions scf;
  scf.tolerance = 1e-9;
  scf.energy_tolerance = 1e-9;
  scf.eigen_tolerance = 1e-6;
  scf.max_iterations = 300;
  const GroundState ground = solve_ground_state(model, state, scf);
  MESSAGE("ground state: " << ground.reason << " after " << ground.history.size() << " iterations, total "
                           << ground.energy.total / electronvolt << " eV");
  REQUIRE(ground.converged);
  // The reference solves Poisson's equation with the stencil, which moves these levels by up to 5 meV.
  const std::vector<double> eigenvalues = ref::numbers(*text, "C2H2_small_gs", "eigen_eV");
  for (std::size_t i = 0; i < 6; ++i) {
    MESSAGE("state " << i + 1 << ": " << state.eigenvalues[i] / electronvolt << " eV; reference " << eigenvalues[i]);
    CHECK(std::abs(state.eigenvalues[i] / electronvolt - eigenvalues[i]) < 0.01);
  }
  Propagator run(model, state, kick_along_z(Gauge::length, 0.01),
                 {.time_step = 0.00125 * femtosecond, .scheme = "taylor4"});
  run.kick();
  const double before = run.observe().dipole[2];
  std::vector<double> times{0}, dipole{before};
  for (int step = 1; step <= 1200; ++step) {
    const Record r = run.step();
    times.push_back(r.time);
    dipole.push_back(r.dipole[2]);
    // The reference counts the electron's charge. It solves Poisson's equation by finite differences, with the edge of
    // the box from a multipole expansion: levels within 5 meV of ours, of which 1 fs makes phases of 0.008 and dipoles
    // of a few 1e-4 angstrom (the same happens here between two Poisson solvers).
    const auto at = [&](const std::string& time, double tolerance) {
      const double expected = ref::number(*text, "dm_z_A", time), found = -(r.dipole[2] - before) / angstrom;
      MESSAGE("t = " << time << " fs: dipole " << found << " angstrom, off by " << found - expected);
      CHECK(std::abs(found - expected) < tolerance);
    };
    if (step == 1) at("0.00125", 1e-6);
    if (step == 10) at("0.01250", 1e-5);
    if (step == 50) at("0.06250", 1e-4);
    if (step == 100) at("0.12500", 1e-4);
    if (step == 200) at("0.25000", 1e-4);
    if (step == 400) at("0.50000", 1e-4);
    if (step == 600) at("0.75000", 1e-4);
    if (step == 800) at("1.00000", 5e-4);
    if (step == 1000) at("1.25000", 5e-4);
    if (step == 1200) at("1.50000", 5e-4);
  }
  std::vector<double> energies;
  for (double e = 0.2; e < 30; e += 0.02) energies.push_back(e * electronvolt);
  const auto alpha = polarisability(times, dipole, 0.01, energies);
  std::vector<double> imaginary;
  for (const auto& value : alpha) imaginary.push_back(value.imag());
  const auto found = peaks(energies, imaginary);
  const auto highest =
      std::max_element(found.begin(), found.end(), [](const Peak& a, const Peak& b) { return a.height < b.height; });
  REQUIRE(highest != found.end());
  MESSAGE("main peak at " << highest->energy / electronvolt << " eV");
  CHECK(std::abs(highest->energy / electronvolt - 9.37) < 0.1);
}
