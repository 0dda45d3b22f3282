// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The messages of one halo exchange: the bytes of a process's face along each axis of the process grid, and whether
/// both faces of an axis travel at the same time.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "halocline/mapping/network.hpp"

namespace halocline::mapping {

struct Messages {
  std::string name;             ///< for reports: "qcd-domain-solver"
  std::vector<Bytes> bytes;     ///< shape (process axes,): size of one face of one process
  std::vector<int> directions;  ///< shape (process axes,): 2: + and - travel in one exchange; 1: they take turns

  /// @throws InvalidArgument  another number of axes, sizes outside 0 to 2^40, directions other than 1 or 2
  void validate(std::size_t process_axes) const;
};

/// The Schwarz solver of lattice QCD with two domains on each process, the halves in x. A message holds the half
/// spinors (12 reals a site) of a face of one domain; along x, one direction at a time (papers: arXiv 2109.10687; IPSJ
/// 2020-HPC-177, table 2). Gives 3456, 9216, 13824, 18432 bytes for {32, 6, 4, 3} and 4 bytes a real.
/// @param local  sites of a process along x, y, z, t; the first even
/// @throws InvalidArgument  another number of lengths, or an impossible length
Messages qcd_domain_solver(std::span<const int> local, int bytes_per_real = 4);

/// The Wilson operator on the whole local lattice: half spinors of every face, both directions.
Messages wilson_operator(std::span<const int> local, int bytes_per_real = 4);

/// The 25-point stencil of real-time electron dynamics: `depth` layers of every face, both directions, of `orbitals`
/// complex orbitals.
/// @param local  points of a process along x, y, z
Messages electron_halo(std::span<const int> local, int orbitals, int depth = 4, int bytes_per_real = 8);

}  // namespace halocline::mapping
