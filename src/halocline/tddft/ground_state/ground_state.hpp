// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The self-consistent ground state.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace halocline::tddft {

struct ScfOptions {
  double tolerance = 1e-8;         ///< on the density: integral |n_out - n_in| / electrons
  double energy_tolerance = 1e-9;  ///< on the change of the total energy between iterations [hartree]
  double eigen_tolerance = 1e-6;   ///< on the largest residual |H psi - e psi| of an occupied state [hartree]
  int max_iterations = 100;
  std::string eigensolver = "chebyshev";  ///< or "lobpcg"
  std::string dense = "auto";             ///< of the chebyshev: who solves the dense eigenproblem (dense_problem.hpp)
  int filter_degree = 0;                  ///< of the Chebyshev polynomial; or iterations of lobpcg; 0: automatic
  std::string mixing = "pulay";           ///< "pulay", "broyden" or "linear"
  double mixing_weight = 0.3;
  int mixing_history = 8;
  double mixing_screening = 0;  ///< wave number below which changes of the density are damped [1/bohr] (mixing.hpp);
                                ///< for metals in long periodic cells, 0.5 to 1
  double temperature = 0;       ///< Fermi-Dirac smearing [hartree]; 0: the lowest states are filled
  bool fixed_spin = false;      ///< keep `spin_moment`, instead of one Fermi level for both spins
  /// Electrons of spin 0 minus electrons of spin 1: the start value, or the value to keep. A start value of 0 with an
  /// odd number of electrons becomes 1.
  double spin_moment = 0;
  std::uint64_t seed = 1;  ///< of the random orbitals
};

/// One line of the convergence table.
struct ScfStep {
  int iteration = 0;
  Energies energy;
  double energy_change = 0, density_residual = 0, eigen_residual = 0, gap = 0, seconds = 0;
};

struct GroundState {
  bool converged = false;
  std::string reason;  ///< "converged", "most iterations reached", "stopped", "the density is not finite",
                       ///< "the orbitals are not finite or not independent"
  Energies energy;
  double fermi_level = 0;  ///< [hartree]
  double gap = 0;          ///< lowest empty minus highest occupied eigenvalue [hartree]; 0 for a metal, -1 if there is
                           ///< no empty state
  std::vector<ScfStep> history;
};

/// @param state     on entry the start; zero orbitals are replaced by random ones, with the atoms' densities. On return
///                  the orbitals are eigenstates, sorted in each channel
/// @param progress  called on every rank after each iteration; returning false stops the cycle
/// @throws InvalidArgument  on every rank: invalid options
/// Collective over the world. Results depend on the division only by rounding.
GroundState solve_ground_state(Model& model, State& state, const ScfOptions& options,
                               const std::function<bool(const ScfStep&)>& progress = {});

}  // namespace halocline::tddft
