// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Gauge configurations in files: NERSC, ILDG and SciDAC in LIME, openQCD, MILC version 5 and NPY.
///
/// The format of a file is found from its content, never from its name. Reading checks everything the format carries
/// (sizes, checksum, plaquette, link trace) against the data, and measures how far the links are from SU(3); writing
/// produces the whole file or none. docs/formats.md describes every byte.
///
/// Every rank reads and writes its own part at its own offsets. An error of one rank is thrown on all of them.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::io {

/// Names and texts of a header, in the order of the file.
using Metadata = std::vector<std::pair<std::string, std::string>>;

/// What the header of a gauge file claims, and what its links give.
struct GaugeFileInfo {
  std::string path;
  std::string format;                       ///< "nersc", "ildg", "scidac", "openqcd", "milc" or "npy"
  lattice::Coordinates<4> extents{};        ///< x y z t [sites]
  int bits = 0;                             ///< of each real number: 32 or 64
  int rows = 3;                             ///< of each link in the file: 2 or 3
  std::string endian;                       ///< "little" or "big"
  std::optional<double> header_plaquette;   ///< as the file claims, normalised to 1 for unit links
  std::optional<double> header_link_trace;  ///< as the file claims
  std::optional<std::string> checksum;      ///< as the file claims, hexadecimal; two words for SciDAC and MILC
  Metadata header;                          ///< NERSC keys, LIME text records by type, MILC time stamp
  std::vector<std::string> warnings;        ///< sentences about what could not be verified or is odd

  // Measured by read_gauge; NaN after inspect_gauge.
  double plaquette = std::numeric_limits<double>::quiet_NaN();            ///< mean Re tr / 3
  double link_trace = std::numeric_limits<double>::quiet_NaN();           ///< mean Re tr / 3 of the links
  double unitarity_violation = std::numeric_limits<double>::quiet_NaN();  ///< max of |U U^dagger - 1| and |det U - 1|
};

struct ReadOptions {
  bool strict = false;  ///< refuse links that are not unitary to the precision of the file, instead of warning
};

struct WriteOptions {
  std::string format = "ildg";  ///< "nersc", "ildg", "openqcd", "milc" or "npy"
  int bits = 0;                 ///< 32 or 64; 0 takes 64, or 32 for MILC. MILC has 32 only, openQCD 64 only
  int rows = 3;                 ///< 2 for NERSC only: the third row is then rebuilt by the reader
  std::string endian = {};      ///< "big" or "little"; empty takes big for NERSC and ILDG, little for the others
  /// Texts for the header. NERSC: any keys in capitals (ENSEMBLE_ID, SEQUENCE_NUMBER, ...) except those that describe
  /// the data. ILDG: "scidac-file-xml", "ildg-data-lfn", "date", "info". MILC: "time_stamp". Other keys are ignored, so
  /// the `header` of a file in another format may be passed.
  Metadata metadata = {};
};

/// The header alone: format, extents, precision, claims and warnings.
/// @throws core::FileError  for a missing, empty, foreign, truncated or wrongly sized file; the sentence says what was
///         found, what was expected and what to do
/// Collective: no; any number of ranks may call it, or one. Cost: a few small reads, whatever the size of the lattice.
GaugeFileInfo inspect_gauge(const std::string& path);

/// The links, verified, with ghost sites filled.
/// @param geometry  its global extents must be those of the file (see inspect_gauge)
/// @returns the field and the information of inspect_gauge, with the measured values filled in
/// @throws core::FileError  on every rank: as inspect_gauge, and for a checksum, plaquette or link trace that the data
///         contradict (both values named), for NaN or infinite links, for data in the wrong byte order, for two-row
///         links too far from unitary to rebuild the third row, and with options.strict for any non-unitary links
/// @throws core::InvalidArgument  on every rank, when the extents differ
/// Collective: yes.  Cost: each rank reads its own part once and computes its checksum (about one byte a clock).
std::pair<GaugeField, GaugeFileInfo> read_gauge(const std::string& path,
                                                std::shared_ptr<const lattice::Geometry4> geometry,
                                                const ReadOptions& options = {});

/// Writes the file, whole or not at all: into a new file in the same folder, which is synced and then
/// renamed.
/// Links and checksum do not depend on the number of ranks; the printed plaquette and link trace do, by the rounding of
/// their sums.
/// @throws core::InvalidArgument  on every rank: unknown format, a precision, order or number of rows that the format
///         does not have, NaN links, links not unitary enough to leave out the third row
/// @throws core::FileError  on every rank, when the file cannot be written; PATH is then unchanged
/// Collective: yes.  Cost: the links are encoded twice (once for the checksum), written once.
void write_gauge(const std::string& path, const GaugeField& u, const WriteOptions& options = {});

/// Violation of unitarity above which links from a file of this precision cause a warning: 1e-10 for 64 bits, 1e-5 for
/// 32 bits, some ten to a hundred roundings of 18 numbers.
double unitarity_tolerance(int bits);

}  // namespace halocline::qcd::io
