// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor arrays of the host as canonical arrays, and back.
///
/// An array in Halocline's own order is used where it is. Others are converted in one sweep each way.

#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/bindings/parameters.hpp"

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace halocline::qcd::bindings {

/// What an array of spinors holds.
struct SpinorShape {
  int spins = 4;     ///< 1 for staggered quarks
  int flavours = 1;  ///< 2 for doublets, whose arrays are canonical
  int fifth = 1;     ///< points of a fifth dimension, slowest

  std::size_t count(const lattice::Geometry4& geometry) const {  ///< real numbers
    return static_cast<std::size_t>(geometry.local_volume() * 6 * spins * flavours * fifth);
  }
};

/// The shape of sources and solutions; with `whole` that of arrays on which D acts.
SpinorShape shape_of(const Action& action, bool whole);

/// Whether two arrays of so many bytes overlap.
bool share_memory(const void* one, const void* other, std::size_t bytes) noexcept;

/// @throws InvalidArgument  for a wrong count, or a format that the lattice or these quarks cannot have
void check_spinor(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry,
                  std::size_t count, const char* call, const char* of);

/// A source: canonical numbers, in memory of the host or in a copy.
class SpinorIn {
public:
  SpinorIn(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry,
           const void* values);
  std::span<const std::complex<double>> values() const noexcept { return values_; }

private:
  std::vector<std::complex<double>> copy_;
  std::span<const std::complex<double>> values_;
};

/// A result: canonical room, and the way back to the host.
class SpinorOut {
public:
  /// @param room  memory for the copy, of count / 2 numbers, if there is some already
  SpinorOut(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry, void* values,
            std::vector<std::complex<double>> room = {});
  std::span<std::complex<double>> values() noexcept { return values_; }
  /// Writes the result where the host wants it. Nothing to do for canonical arrays.
  void finish() const;
  std::vector<std::complex<double>> room() && noexcept { return std::move(copy_); }

private:
  SpinorFormat format_;
  SpinorShape shape_;
  const lattice::Geometry4* geometry_;
  void* host_;
  std::vector<std::complex<double>> copy_;
  std::span<std::complex<double>> values_;
};

/// The sources and the results of one call, with all memory that they need: made while the call is checked.
class SpinorTransfer {
public:
  SpinorTransfer(const lattice::Geometry4& geometry, const SpinorFormat& format, const SpinorShape& shape,
                 std::span<void* const> to, std::span<const void* const> from);
  std::span<const std::span<const std::complex<double>>> from() const noexcept { return sources_; }
  std::span<const std::span<std::complex<double>>> to() const noexcept { return results_; }
  /// Writes the results where the host wants them.
  void finish();

private:
  std::vector<SpinorIn> in_;
  std::vector<SpinorOut> out_;
  std::vector<std::span<const std::complex<double>>> sources_;
  std::vector<std::span<std::complex<double>>> results_;
};

}  // namespace halocline::qcd::bindings
