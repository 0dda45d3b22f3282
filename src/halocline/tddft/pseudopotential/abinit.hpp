// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Pseudopotentials in abinit's formats. Each file has a title, a line with atomic number, charge of the ion and date,
/// and a line with the number of the format (pspcod), the functional (pspxc), the largest l, the local l, and the
/// number of radii.
///
/// | pspcod | name | contents |
/// |---|---|---|
/// | 1 | pspnc, Troullier and Martins | V_l and u_l on the mesh 100 (x + 0.01)^5 - 1e-8, a core of closed form |
/// | 2 | GTH | dual-space Gaussians, diagonal h |
/// | 3 | HGH | dual-space Gaussians, h_ij from h_ii |
/// | 6 | FHI | the tables of a .cpi file, a core density |
/// | 8 | psp8, ONCVPSP | a local potential, several projectors an l, a core density |
/// | 10 | HGH-K | dual-space Gaussians, all h_ij |
///
/// Semi-local tables (1, 6) become separable by semilocal.hpp. Spin-orbit terms of Gaussians are left out. Formats 4
/// and 5 (Teter's and Hamann's older tables), 7 and 17 (PAW), 9 (PSML) and psp8 with spin-orbit projectors are refused
/// by name.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <memory>
#include <string>

namespace halocline::tddft {

/// @param local_l    of semi-local files: the l of the local potential instead of the file's; -1: the file's
/// @throws core::FileError  missing, damaged, truncated or foreign files, and formats that are not read
/// Collective: no; every process reads the file.
std::shared_ptr<const Pseudopotential> read_abinit(const std::string& path, int local_l = -1);

/// The bare table of an FHI file, as fhi98PP writes it (.cpi), which has neither the element nor the functional.
/// @param symbol   of the element
/// @param local_l  the l of the local potential; -1: the largest
std::shared_ptr<const Pseudopotential> read_cpi(const std::string& path, const std::string& symbol, int local_l = -1);

}  // namespace halocline::tddft
