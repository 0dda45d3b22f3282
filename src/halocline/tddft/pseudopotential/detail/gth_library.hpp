// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The built-in parameters of dual-space Gaussians, and the format in which libraries of them are written.

#include "halocline/tddft/pseudopotential/detail/gaussian.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::tddft::detail {

/// The built-in entries by atomic number, for each element the usual valence first.
/// @param functional  "pade" or "pbe" @throws core::InvalidArgument  another one
std::span<const GaussianParameters> gth_library(std::string_view functional);

/// An entry of a library file.
struct GthEntry {
  std::string symbol, name;
  int valence;
};
std::vector<GthEntry> gth_entries(std::string_view text);

/// Chooses an entry of a library file.
struct GthChoice {
  std::string_view symbol;
  int valence = 0;        ///< 0: any
  std::string_view name;  ///< as in the file, "GTH-PBE-q4"; empty: any
};

/// Reads an entry in the format of CP2K's GTH_POTENTIALS: a line with the symbol and names, a line with the electrons
/// of s, p, d, f, then r_loc, the number of C and each of them, the number of l, and for each l its radius, the number
/// of functions and the upper triangle of h_ij.
/// @throws core::FileError  no entry, or several, that fit, with the names to choose from; a damaged entry; entries
/// with
///         core corrections or spin-orbit terms
GaussianParameters read_gth(std::string_view text, const GthChoice& choice, const std::string& path);

}  // namespace halocline::tddft::detail
