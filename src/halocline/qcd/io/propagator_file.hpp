// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Quark propagators as SciDAC files: one LIME record of 4x4x3x3 complex numbers a site.
///
/// Chroma (QDP++) writes a LatticePropagator in this form. Sites run x fastest; at a site the numbers are
/// `[sink spin][source spin][sink colour][source colour][re, im]`, big-endian, 32 or 64 bits; a scidac-checksum
/// follows. The basis is the library's, DeGrand-Rossi, as in Chroma. Other codes use the same type name with the
/// colours outside (`[colour][spin][colour][spin]`, QDP/C); nothing in a file tells the two apart.

#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "halocline/lattice/geometry.hpp"

namespace halocline::qcd::io {

/// Twelve canonical local spinors `[t][z][y][x][sink spin][sink colour]`; column 3 s + c is of source spin s, colour c.
using PropagatorColumns = std::array<std::vector<std::complex<double>>, 12>;

struct PropagatorFileInfo {
  std::string path;
  lattice::Coordinates<4> extents{};    ///< x y z t [sites]
  int bits = 0;                         ///< 32 or 64
  std::string file_xml;                 ///< scidac-file-xml: the writer's description of the file
  std::string record_xml;               ///< scidac-record-xml: the writer's description of this propagator
  std::optional<std::string> checksum;  ///< "suma sumb"
  std::vector<std::string> warnings;
};

struct PropagatorWriteOptions {
  int bits = 64;                ///< 32 or 64
  std::string file_xml = {};    ///< empty: a title
  std::string record_xml = {};  ///< empty: a title
  std::string date = {};        ///< of the record; free text
};

/// The descriptions alone. @throws core::FileError  for any file that is not a valid SciDAC propagator
/// Collective: no.  Cost: a few small reads.
PropagatorFileInfo inspect_propagator(const std::string& path);

/// @param geometry  its global extents must be those of the file
/// @throws core::FileError  on every rank: as inspect_propagator, and for a checksum that the data contradict (both
///         named), and NaN or infinite numbers
/// @throws core::InvalidArgument  on every rank, when the extents differ
/// Collective: yes.  Cost: each rank reads its own part once.
std::pair<PropagatorColumns, PropagatorFileInfo> read_propagator(const std::string& path,
                                                                 const lattice::Geometry4& geometry);

/// Writes the file, whole or not at all, as write_gauge does; the bytes do not depend on the number of ranks.
/// @param columns  twelve canonical local spinors in the order of PropagatorColumns
/// @throws core::InvalidArgument  on every rank: bits, or the length of a column
/// @throws core::FileError  on every rank, when the file cannot be written
/// Collective: yes.
void write_propagator(const std::string& path, const lattice::Geometry4& geometry,
                      std::span<const std::span<const std::complex<double>>> columns,
                      const PropagatorWriteOptions& options = {});

}  // namespace halocline::qcd::io
