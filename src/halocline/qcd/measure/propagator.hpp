// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A quark propagator from one source: twelve columns, one for each spin and colour of the source.
///
/// S(x; sink spin, sink colour, source spin, source colour) is the solution of D S = source, column by column. Each
/// column is a canonical local spinor [t][z][y][x][spin][colour] of this process's box, so a solver writes into it
/// directly. The propagator keeps the position of its source: the source time is index 0 of every correlator, and the
/// place in space is the origin of momentum phases. For a wall or stochastic source only the time of the position has a
/// meaning.

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "halocline/core/aligned_array.hpp"
#include "halocline/core/error.hpp"
#include "halocline/lattice/geometry.hpp"
#include "halocline/qcd/field/components.hpp"

namespace halocline::qcd::measure {

/// A canonical local spinor, shape (t, z, y, x, 4, 3) of the process's box.
using Spinor = std::vector<std::complex<double>>;
using Coordinates4 = lattice::Coordinates<4>;
using GeometryPointer = std::shared_ptr<const lattice::Geometry4>;

/// @throws InvalidArgument  for a position outside the global lattice; names it and the extents. Collective: no.
void check_position(const lattice::Geometry4& geometry, const Coordinates4& position);

/// @throws InvalidArgument  for a time slice outside the global lattice. Collective: no.
void check_time(const lattice::Geometry4& geometry, std::int64_t time);

/// @throws InvalidArgument  unless the array holds 12 numbers for each local site. Collective: no.
void check_spinor(const lattice::Geometry4& geometry, std::span<const std::complex<double>> spinor, const char* what);

class Propagator {
public:
  /// Twelve columns of zeros.
  /// @param source  global coordinates x y z t of the source
  /// @throws InvalidArgument  for a source outside the lattice
  /// Collective: no.  Cost: 12 x 192 bytes a local site and 128 KiB.
  explicit Propagator(GeometryPointer geometry, const Coordinates4& source = {0, 0, 0, 0});

  const lattice::Geometry4& geometry() const noexcept { return *geometry_; }
  const GeometryPointer& geometry_ptr() const noexcept { return geometry_; }
  const Coordinates4& source() const noexcept { return source_; }

  /// The solution for the source of this spin (0..3) and colour (0..2).
  std::span<std::complex<double>> column(int spin, int colour) noexcept {
    return columns_.span().subspan(begin_of(spin, colour), size_);
  }
  std::span<const std::complex<double>> column(int spin, int colour) const noexcept {
    return columns_.span().subspan(begin_of(spin, colour), size_);
  }

  /// One element at a local site (canonical index, x fastest).
  std::complex<double> operator()(std::int64_t site, int sink_spin, int sink_colour, int source_spin,
                                  int source_colour) const noexcept {
    return columns_.data()[begin_of(source_spin, source_colour) +
                           static_cast<std::size_t>(12 * site + 3 * sink_spin + sink_colour)];
  }

private:
  /// Numbers between two columns. At distances of a power of two the columns of a site would share few places of a
  /// cache: 171 lines shift them apart in caches of 64 and of 2048 sets. Sites are reordered 5 to 10 % faster in float
  /// by it, and equally fast in double.
  static constexpr std::size_t gap = 171 * 64 / sizeof(std::complex<double>);

  std::size_t begin_of(int spin, int colour) const noexcept {
    return static_cast<std::size_t>(3 * spin + colour) * (size_ + gap);
  }

  GeometryPointer geometry_;
  Coordinates4 source_;
  std::size_t size_;  ///< of a column
  core::AlignedArray<std::complex<double>> columns_;
};

}  // namespace halocline::qcd::measure
