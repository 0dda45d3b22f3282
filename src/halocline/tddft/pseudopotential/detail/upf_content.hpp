// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a UPF file of either version holds, in its own units, and the checks that both versions share.

#include "halocline/tddft/pseudopotential/detail/tabulated.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace halocline::tddft::detail {

inline constexpr int most_upf_projectors = 32;
inline constexpr double largest_upf_entry = 1e12;  ///< of any table: larger means damage; squares stay finite

/// Lengths in bohr, energies in rydberg.
struct UpfContent {
  struct Projector {
    int l;
    std::vector<double> values;  ///< r p at the first nodes
  };
  bool ultrasoft = false, paw = false, coulomb = false, spin_orbit = false, core_correction = false;
  std::string type;              ///< as in the file: "NC"
  std::string element;           ///< symbol, may be in blanks
  std::string functional;        ///< as in the file
  double valence = 0;            ///< charge of the ion
  std::vector<double> r, local;  ///< nodes, and the local potential there
  std::vector<Projector> projectors;
  std::vector<double> coupling;  ///< shape (projectors, projectors); empty without projectors
  std::vector<double> density;   ///< 4 pi r^2 n of the pseudo-atom, shape of r, or empty
  std::vector<double> core;      ///< partial core density [1/bohr^3], shape of r, or empty
};

/// Refuses other kinds than a scalar norm-conserving pseudopotential by their names.
/// @throws core::FileError
void require_norm_conserving(const UpfContent& content, const std::string& path);

/// @throws core::FileError  tables of other shapes, a mesh that does not increase, a damaged tail or matrix
Tabulated tabulated_of_upf(UpfContent content, const std::string& path);

/// Numbers of a table; stops at the first word that is none.
/// @throws core::FileError  a word that is no number, or one that is too large
std::vector<double> upf_numbers(std::string_view text, const std::string& record, const std::string& path);

}  // namespace halocline::tddft::detail
