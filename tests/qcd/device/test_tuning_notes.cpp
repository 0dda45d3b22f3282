// SPDX-License-Identifier: Apache-2.0
//
// What the tuner has to say about its files reaches whoever solves: as a note of the report, once, or as an error.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "halocline/core/error.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "qcd/random_fields.hpp"

namespace halocline::qcd {
namespace {

/// An environment variable for the length of a test.
class Variable {
public:
  Variable(const char* name, const std::string& value) : name_(name) { ::setenv(name, value.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { ::unsetenv(name_); }

private:
  const char* name_;
};

}  // namespace

TEST_CASE("device solver: a file of the tuner that cannot be used is a note of the next solve, once") {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("halocline_defaults_" + std::to_string(::getpid()))).string();
  std::ofstream(path) << "{\"format\": ";
  const Variable damaged("HALOCLINE_TUNE_DEFAULTS", path);
  auto gauge = GaugeField::from_canonical(test::one_process({4, 4, 4, 4}), test::random_links(256, 1));
  gauge.exchange_ghosts();
  SolverParameters parameters;
  parameters.device = "host-executor";
  parameters.kind = "bicgstab";
  parameters.tolerance = 1e-6;
  QuarkSolver solver(gauge, WilsonCloverAction{.mass = 0.5}, parameters);
  const auto source = test::random_numbers(256 * 12, 2);
  auto solution = source;
  const auto told = [&] {
    const auto notes = solver.solve(solution, source).notes;
    return std::count_if(notes.begin(), notes.end(), [&](const SolveNote& note) {
      return note.kind == SolveNote::Kind::tuning && note.text.starts_with(path);
    });
  };
  CHECK(told() == 1);
  CHECK(told() == 0);
  std::filesystem::remove(path);

  const Variable wrong("HALOCLINE_TUNE", "never");
  CHECK_THROWS_WITH_AS(QuarkSolver(gauge, WilsonCloverAction{.mass = 0.5}, parameters),
                       doctest::Contains("HALOCLINE_TUNE"), core::InvalidArgument);
}

}  // namespace halocline::qcd
