// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// `rt-step`: steps of real-time propagation of bulk silicon after a kick or in a pulse, split by region.
///
/// Cubic cells of eight atoms with 10.26 bohr, in the Pade pseudopotentials of Goedecker, Teter and Hutter, in two
/// shapes of the same size, 4.19 million points times orbitals: "silicon-8" is one cell on 16^3 points with 64 k-points
/// and 16 orbitals, "silicon-64" is eight cells on 32^3 points with 128 orbitals. Any other system can be given. The
/// orbitals are plane waves of increasing energy: they are orthonormal, and operators take the same time on them as on
/// any others.

#include <cstdint>
#include <optional>
#include <string>

#include "bench/result.hpp"
#include "halocline/tddft/base/system.hpp"

namespace halocline::bench {

struct RtStepCase {
  std::string system = "silicon-8";  ///< or "silicon-64", or a name for `other`
  std::optional<tddft::System> other;
  std::string xc = "pz";             ///< functional
  std::string over = "auto";         ///< what the processes divide: k, orbitals, space; or auto, as the library
  std::string scheme = "taylor4";    ///< or "midpoint" or "etrs"
  int energy_every = 10;             ///< steps of a timed run, one with energies; 0: one step, without energies
  int threads = 1;                   ///< of each process
  std::string precision = "double";  ///< of the orbitals, or "float"
  int ions_every = 0;                ///< steps of the electrons in one of the atoms, which move; 0: they rest
  /// "kick"; "uniform": a pulse that is the same everywhere; or "travelling": one that crosses the cell, and whose
  /// vector potential depends on the place. Both pulses are along x, in the velocity gauge.
  std::string light = "kick";
};

/// Seconds of one step: the time of a run of `energy_every` steps, or of an ion step if there is more in it, divided by
/// their number. Operations are those of the four (or more) applications of the stencil in a step, at the nominal 158
/// for each point and orbital, so the fraction of the peak is a lower bound. Bytes are the orbitals, read and written
/// once. `result` has the number of points, that of points times orbitals, the seconds for 4.19 million of these, and
/// the time step [a.u.].
/// @throws InvalidArgument  on every rank: an unknown name, a division that does not fit, or energies within an ion
/// step
///
/// Collective: yes.  Cost: at least four runs.
Result rt_step(const comm::Communicator& group, const RtStepCase& parameters, const Effort& effort);

}  // namespace halocline::bench
