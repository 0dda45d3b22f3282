// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Pseudopotentials in the unified format, UPF: tables in Rydberg units on a radial mesh, in version 2 as XML, in
/// version 1 as sections whose numbers stand in a fixed order.
///
/// The reader uses PP_HEADER (element, pseudo_type, functional, z_valence, number_of_proj, and the flags of unsupported
/// features), PP_MESH/PP_R, PP_LOCAL, PP_NONLOCAL (each PP_BETA, which tabulates r p(r), and PP_DIJ), PP_NLCC (the
/// partial core density n(r)) and PP_RHOATOM (4 pi r^2 n(r)). Only norm-conserving, scalar pseudopotentials have the
/// separable form used here; all others are refused by name. A projector ends with its table or at its
/// cutoff_radius_index, or earlier at the radius beyond which it stays below 1e-8 of its maximum. The lengths stated in
/// the file are not trusted: tables are counted.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string>

namespace halocline::tddft {

/// @throws core::FileError  missing, damaged, truncated or foreign files, ultrasoft and PAW data sets, spin-orbit
///         coupling, l > 3; names the record and the value found
/// Collective: no; every process reads the file.
std::shared_ptr<const Pseudopotential> read_upf(const std::string& path);

}  // namespace halocline::tddft
