// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The electrons in a file: a ground state to start from, a run in time to continue.
///
/// Orbitals stand in global order, [channel][state][z][y][x] complex128, whatever processes wrote them; every process
/// moves its own rows at their offsets, and any division reads what any other wrote. In front stand the system (grid,
/// k-points, species, atoms) and the step; a file of another system is refused with the values of both. Every state
/// carries a 64-bit checksum, a sum over its points, so that it too does not depend on the division. The format is
/// described in docs/formats.md.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <string>

namespace halocline::tddft {

/// Where a run stands.
struct RunPoint {
  std::int64_t step = 0;  ///< of the propagation
  double time = 0;        ///< [a.u.]
  double time_step = 0;   ///< [a.u.]; 0 for a ground state
  bool kicked = false;    ///< the kick has been given: go on with Propagator::resume. False for a ground state
  std::string note;       ///< anything the caller wants back, e.g. the input of the run; at most 16 MiB
};

/// What a file says of itself.
struct OrbitalFileInfo {
  RunPoint point;
  Grid grid;
  int spins = 1;
  std::int64_t channels = 0, states = 0;
  double electrons = 0;
  std::string atoms;  ///< "Si8", "C2 H2", "jellium sphere of charge 10"
};

/// Writes orbitals, occupations, eigenvalues, density, earlier potentials and run point. PATH keeps what it held until
/// the new file is whole.
/// @throws FileError  on every rank. Collective over the model's world.
/// Cost: 16 bytes a point and state, each written once, by the process that holds it.
void write_orbitals(const std::string& path, const Model& model, const State& state, const RunPoint& point = {});

/// Fills `state` (Model::empty_state) from the file. The model may have fewer states than the file where those left out
/// hold no electrons. After an error the state holds nothing of use.
/// @throws FileError  on every rank, with the record and both values: no such file, a foreign or truncated one, another
///                    version, another system, damaged orbitals
/// Collective over the model's world.
RunPoint read_orbitals(const std::string& path, const Model& model, State& state);

/// The head of a file alone. @throws FileError. Collective: no.
OrbitalFileInfo orbital_file_info(const std::string& path);

}  // namespace halocline::tddft
