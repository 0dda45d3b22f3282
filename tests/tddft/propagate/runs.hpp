// SPDX-License-Identifier: Apache-2.0
#pragma once
// Ground states that runs start from, and runs that go on from a file.

#include "halocline/tddft/ground_state/ground_state.hpp"
#include "halocline/tddft/io/orbital_file.hpp"
#include "halocline/tddft/propagate/propagator.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <string>

#include <unistd.h>

namespace soft {

namespace tddft = halocline::tddft;

inline tddft::State converged_state(tddft::Model& model) {
  tddft::State state = model.empty_state();
  tddft::ScfOptions options;
  options.tolerance = 1e-10;
  options.energy_tolerance = 1e-12;
  options.eigen_tolerance = 1e-8;
  REQUIRE(solve_ground_state(model, state, options).converged);
  return state;
}

/// Eight steps, and four with four more from a file in another model: the same bits.
inline void check_restart(const std::function<tddft::Model()>& make_model, const tddft::State& start,
                          const tddft::Field& field, const tddft::PropagateOptions& options) {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("halocline-restart-" + std::to_string(::getpid()) + ".orbitals");
  tddft::Model model = make_model();
  tddft::State whole = start, part = start;
  tddft::Record straight, interrupted;
  {
    tddft::Propagator run(model, whole, field, options);
    for (int i = 0; i < 8; ++i) straight = run.step();
  }
  {
    tddft::Propagator run(model, part, field, options);
    for (int i = 0; i < 4; ++i) run.step();
    write_orbitals(file.string(), model, part, {4, 4 * run.time_step(), run.time_step(), true, {}});
  }
  tddft::Model other = make_model();
  tddft::State resumed = other.empty_state();
  read_orbitals(file.string(), other, resumed);
  std::filesystem::remove(file);
  CHECK(resumed.earlier_potentials.size() == 2 * other.potential_numbers(true));
  {
    tddft::Propagator run(other, resumed, field, options);
    run.resume(4);
    for (int i = 0; i < 4; ++i) interrupted = run.step();
  }
  CHECK(std::ranges::equal(whole.orbitals.values(), resumed.orbitals.values()));
  CHECK(straight.energy.total == interrupted.energy.total);
  CHECK(straight.current == interrupted.current);
}

}  // namespace soft
