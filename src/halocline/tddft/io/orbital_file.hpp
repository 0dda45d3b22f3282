// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A file with the state of the electrons: a ground state to start from, or a propagation to continue.
///
/// Orbitals are in global order, [channel][state][z][y][x] complex128, for any division. Every process reads or writes
/// its own rows at their offsets, so any division can read the file of any other. The header holds the system (grid,
/// k-points, species, atoms) and the step. A file of another system is refused with the values of both. Every state has
/// a 64-bit checksum, a sum over its points, which is also independent of the division. docs/formats.md describes the
/// format.

#include "halocline/tddft/model/model.hpp"

#include <cstdint>
#include <string>

namespace halocline::tddft {

/// The point that a run has reached.
struct RunPoint {
  std::int64_t step = 0;  ///< of the propagation
  double time = 0;        ///< [a.u.]
  double time_step = 0;   ///< [a.u.]; 0 for a ground state
  bool kicked = false;    ///< the kick has been applied: continue with Propagator::resume. False for a ground state
  std::string note;       ///< free text for the caller, e.g. the input of the run; at most 16 MiB
};

/// The header information of a file.
struct OrbitalFileInfo {
  RunPoint point;
  Grid grid;
  int spins = 1;
  std::int64_t channels = 0, states = 0;
  double electrons = 0;
  std::string atoms;  ///< "Si8", "C2 H2", "jellium sphere of charge 10"
};

/// Writes orbitals, occupations, eigenvalues, density, earlier potentials and run point. PATH keeps its previous
/// content until the new file is complete.
/// @throws FileError  on every rank. Collective over the model's world.
/// Cost: 16 bytes for each point and state, each written once, by the process that holds it.
void write_orbitals(const std::string& path, const Model& model, const State& state, const RunPoint& point = {});

/// Fills `state` (Model::empty_state) from the file. The model may have fewer states than the file if the omitted
/// states hold no electrons. After an error the contents of the state are unusable.
/// @throws FileError  on every rank, with the record and both values: no such file, a foreign or truncated one, another
///                    version, another system, damaged orbitals
/// Collective over the model's world.
RunPoint read_orbitals(const std::string& path, const Model& model, State& state);

/// Reads the header of a file only. @throws FileError. Collective: no.
OrbitalFileInfo orbital_file_info(const std::string& path);

}  // namespace halocline::tddft
