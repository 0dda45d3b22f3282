// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What one halo exchange sends: bytes a face of a process along each axis of the process grid, and whether both faces
/// of an axis travel at once.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

struct Messages {
  std::string name;             ///< for reports: "qcd-domain-solver"
  std::vector<Bytes> bytes;     ///< shape (process axes,): of one face of one process
  std::vector<int> directions;  ///< shape (process axes,): 2 when + and - travel in one exchange, 1 when one at a time

  /// @throws InvalidArgument  for other than so many axes, sizes not of 0 to 2^40, directions not of 1 or 2
  void validate(std::size_t process_axes) const;
};

/// The Schwarz solver of lattice QCD with two domains a process, the halves in x: half spinors (12 reals a site) of the
/// faces of one domain; along x one direction at a time (papers: arXiv 2109.10687; IPSJ 2020-HPC-177, table 2).
/// 3456, 9216, 13824, 18432 bytes for {32, 6, 4, 3} and 4 bytes a real.
/// @param local  sites of a process along x, y, z, t; the first even
/// @throws InvalidArgument  for another number of lengths, or one that cannot be
Messages qcd_domain_solver(std::span<const int> local, int bytes_per_real = 4);

/// The Wilson operator over the whole local lattice: half spinors of every face, both directions.
Messages wilson_operator(std::span<const int> local, int bytes_per_real = 4);

/// The 25-point stencil of real-time electron dynamics: `depth` layers of complex numbers of every face, both
/// directions, `orbitals` of them.
/// @param local  points of a process along x, y, z
Messages electron_halo(std::span<const int> local, int orbitals, int depth = 4, int bytes_per_real = 8);

}  // namespace halocline::mapping
