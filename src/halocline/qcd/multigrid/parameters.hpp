// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Parameters of the multigrid solver. The defaults suit light quarks on common lattices; none must be set.

#include <cstdint>
#include <span>
#include <string>

#include "halocline/lattice/geometry.hpp"

namespace halocline::qcd::multigrid {

struct Parameters {
  int vectors = 24;                               ///< N: test vectors; a multiple of 8
  int setup_vectors = 0;                          ///< that the set-up makes, and reduces to N on each aggregate; 0: N
  lattice::Coordinates<4> aggregate{4, 4, 4, 4};  ///< sites of an aggregate; the nearest size that fits is taken
  int setup_iterations = -1;                      ///< rounds of inverse iteration with the cycle; -1: as many as pay
  int right_hand_sides = 12;          ///< that the set-up is for; with -1 above, more of them get more rounds
  int smoother_sweeps = 4;            ///< sweeps of the Schwarz smoother in a cycle
  int smoother_steps = 2;             ///< steps of the solver inside a domain
  std::string smoother = "even-odd";  ///< the solver inside a domain: "even-odd", "jacobi" or "minres"
  int levels = 0;           ///< the fine one and the coarse ones; 0: two for small lattices, more for larger ones
  std::string cycle = "K";  ///< on the levels between: "K" or "V"
  lattice::Coordinates<4> coarse_aggregate{2, 2, 2, 2};  ///< in coarse sites; even extents first
  int coarse_vectors = 0;         ///< test vectors of the coarse levels, at most N; a multiple of 8; 0: N
  int coarse_smoother_steps = 2;  ///< steps of the smoother on a coarse level
  double coarse_tolerance = 0.1;  ///< of a coarse solve
  int coarse_iterations = 100;    ///< most iterations of a coarse solve
  int gather_below = 16;          ///< coarse sites of a process, below which few processes take over; 1: never
  int coarse_eigenvectors = 0;    ///< that deflate the coarsest level where it has no dense inverse; 0: test vectors
  std::string storage = "half";   ///< of test vectors and coarse blocks: "half" (fp16) or "float"
  std::uint64_t seed = 1;         ///< of the random vectors of the set-up

  /// Test vectors of a coarse level.
  int vectors_below() const noexcept { return coarse_vectors == 0 ? vectors : coarse_vectors; }
  /// Test vectors that the set-up makes.
  int made_vectors() const noexcept { return setup_vectors == 0 ? vectors : setup_vectors; }
  /// @throws InvalidArgument  for an unknown name (the known ones are listed) or an impossible number
  void validate() const;
  bool operator==(const Parameters&) const = default;
};

/// Names that Parameters take, the default first.
std::span<const char* const> storages() noexcept;
std::span<const char* const> cycles() noexcept;

}  // namespace halocline::qcd::multigrid
