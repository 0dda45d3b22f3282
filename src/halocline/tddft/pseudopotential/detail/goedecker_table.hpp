// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Parameters of the built-in pseudopotentials.

#include <array>
#include <span>
#include <string_view>

namespace halocline::tddft::detail {

/// One line of table I, padded with zeros.
struct GoedeckerEntry {
  struct Channel {
    double radius = 0;          ///< r_l [bohr]
    std::array<double, 3> h{};  ///< h_11, h_22, h_33 [hartree]
  };
  std::string_view symbol;
  int valence;
  double width;                       ///< of the Gaussian start density: root mean square of one component [bohr]
  double local_radius;                ///< r_loc [bohr]
  std::array<double, 4> c{};          ///< C1 ... C4 [hartree]
  std::array<Channel, 3> channels{};  ///< of l = 0, 1, 2
};

/// All entries by atomic number; for each element the usual valence first.
std::span<const GoedeckerEntry> goedecker_table() noexcept;

}  // namespace halocline::tddft::detail
