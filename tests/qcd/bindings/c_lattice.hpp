// SPDX-License-Identifier: Apache-2.0
#pragma once
//
// A lattice, links and arrays for the tests of the C interface.

#include <doctest/doctest.h>

#include "halocline/comm/bindings/guard.hpp"
#include "halocline/comm/group/world.hpp"
#include "halocline/qcd/bindings/c.h"

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace halocline::test {

/// The last error of this thread contains the words.
inline bool last_error_says(const std::string& words) {
  return std::string(halocline_last_error()).find(words) != std::string::npos;
}

/// On every rank: the status and the words.
inline void refused(int status, const std::string& words) {
  CAPTURE(words);
  CHECK_MESSAGE(status == HALOCLINE_INVALID_ARGUMENT, halocline_last_error());
  CHECK_MESSAGE(last_error_says(words), halocline_last_error());
}

inline bool on_last_rank() { return comm::world().rank() == comm::world().size() - 1; }

/// All the ranks of the test on a lattice with weak links.
class CLattice {
public:
  static constexpr std::array<std::int64_t, 4> extents{4, 4, 4, 12};

  explicit CLattice(const comm::Communicator& world, std::uint64_t seed = 5) {
    halocline_communicator group{world};
    REQUIRE_MESSAGE(halocline_lattice_create(&group, extents.data(), nullptr, nullptr, &lattice) == HALOCLINE_OK,
                    halocline_last_error());
    REQUIRE(halocline_gauge_create(lattice, &gauge) == HALOCLINE_OK);
    REQUIRE(halocline_gauge_start(gauge, "weak", 0.25, seed) == HALOCLINE_OK);
    std::array<std::int64_t, 4> local{};
    REQUIRE(halocline_lattice_geometry(lattice, nullptr, local.data(), offset.data(), nullptr) == HALOCLINE_OK);
    sites = static_cast<std::size_t>(local[0] * local[1] * local[2] * local[3]);
  }
  CLattice(const CLattice&) = delete;
  CLattice& operator=(const CLattice&) = delete;
  ~CLattice() {
    halocline_gauge_destroy(gauge);
    halocline_lattice_destroy(lattice);
  }

  halocline_action action(const char* kind = "wilson-clover", double mass = 0.3, double csw = 1) const {
    halocline_action made;
    REQUIRE(halocline_action_init(&made, sizeof made) == HALOCLINE_OK);
    made.kind = kind;
    made.mass = mass;
    made.csw = csw;
    return made;
  }
  static halocline_solver_parameters parameters(const char* kind = "bicgstab") {
    halocline_solver_parameters made;
    REQUIRE(halocline_solver_parameters_init(&made, sizeof made) == HALOCLINE_OK);
    made.kind = kind;
    return made;
  }
  static halocline_format format(const char* order, int bits = 64, const char* basis = "") {
    halocline_format made;
    REQUIRE(halocline_format_init(&made, sizeof made) == HALOCLINE_OK);
    made.order = order;
    made.bits = bits;
    made.basis = basis;
    return made;
  }

  /// Rough numbers, others on each rank.
  std::vector<double> numbers(std::size_t per_site, unsigned seed) const {
    std::seed_seq seeds{static_cast<std::int64_t>(seed), offset[0], offset[1], offset[2], offset[3]};
    std::mt19937_64 engine(seeds);
    std::normal_distribution<double> normal;
    std::vector<double> all(per_site * sites);
    for (double& one : all) one = normal(engine);
    return all;
  }

  halocline_lattice* lattice = nullptr;
  halocline_gauge* gauge = nullptr;
  std::array<std::int64_t, 4> offset{};
  std::size_t sites = 0;
};

/// A solver that ends with its scope.
class CSolver {
public:
  CSolver(const CLattice& on, const halocline_action& action,
          const halocline_solver_parameters& parameters = CLattice::parameters()) {
    REQUIRE_MESSAGE(halocline_solver_create(on.gauge, &action, &parameters, &solver) == HALOCLINE_OK,
                    halocline_last_error());
  }
  CSolver(const CSolver&) = delete;
  CSolver& operator=(const CSolver&) = delete;
  ~CSolver() { halocline_solver_destroy(solver); }
  operator halocline_solver*() const { return solver; }  // NOLINT: a handle in the place of a handle
  halocline_solver* solver = nullptr;
};

}  // namespace halocline::test
