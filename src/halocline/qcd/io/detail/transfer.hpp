// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The data part of a file, cut into the parts of the ranks.
///
/// In lexicographic files a rank's box is a set of runs, stretches of sites that are consecutive both in the file and
/// in the box: one row along x, or more where x (and y, and z) is not split. A run is read or written by one call, in
/// pieces of a few megabytes, so the buffer stays small whatever the lattice.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/io/detail/header.hpp"

namespace halocline::qcd::io::detail {

/// Calls action(first local site, first global site, count) for every run, in the order of the box.
/// @param most  longest piece [sites]
template <class Action>
void for_each_run(const lattice::Geometry4& geometry, std::int64_t most, Action&& action) {
  std::int64_t run = 1;
  for (int axis = 0; axis < 4; ++axis) {
    run *= geometry.local()[static_cast<std::size_t>(axis)];
    if (geometry.is_split(axis)) break;
  }
  for (std::int64_t first = 0; first < geometry.local_volume(); first += run) {
    const std::int64_t global = geometry.global_index(lattice::coordinates_of<4>(first, geometry.local()));
    for (std::int64_t done = 0; done < run; done += most)
      action(first + done, global + done, std::min(most, run - done));
  }
}

/// Sites a piece may have so that it fills about 4 MiB.
inline std::int64_t sites_of_a_piece(std::int64_t site_bytes) {
  return std::max<std::int64_t>(1, (std::int64_t{1} << 22) / site_bytes);
}

/// Links of the local box, canonical [t][z][y][x][mu][3][3]; two-row files leave the third row zero.
/// Adds the checksum of this rank's part to `sums`. @throws FileError  here only.  Collective: no.
void load_links(const InputFile& file, const Header& header, const lattice::Geometry4& geometry,
                std::span<std::complex<double>> links, Sums& sums);

/// conj(row0 x row1) into the third rows.
void rebuild_third_rows(std::span<std::complex<double>> links);

/// Encodes this rank's part piece by piece, adds each piece to `sums` and writes it to `file`.
/// @param links   local canonical links (lexicographic formats)
/// @param sums    filled where not null  @param file  written where not null, data beginning at `data_offset`
/// @throws FileError  here only.  Collective: no.
void store_links(const Request& request, ChecksumKind kind, const lattice::Geometry4& geometry,
                 std::span<const std::complex<double>> links, Sums* sums, PartialFile* file, std::int64_t data_offset);

/// The same for openQCD, whose odd sites need their lower neighbours' links: ghost sites must be filled.
void store_odd_sites(const GaugeField& u, PartialFile& file, std::int64_t data_offset);

}  // namespace halocline::qcd::io::detail
