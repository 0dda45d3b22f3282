// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Spinor arrays of the host as canonical arrays, and back.
///
/// An array in Halocline's own order is used where it is. Others go through a field in the order of the kernels: the
/// conversions between other orders and such fields, and between these and canonical arrays, are fast.

#include "halocline/qcd/bindings/handles.hpp"
#include "halocline/qcd/bindings/parameters.hpp"
#include "halocline/qcd/field/spinor_field.hpp"

#include <complex>
#include <cstddef>
#include <optional>
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

/// @throws InvalidArgument  for a wrong count, or a format that the lattice or these quarks cannot have
void check_spinor(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry,
                  std::size_t count, const char* call, const char* of);

/// The field that arrays of one call go through, made when the first one does.
class Passage {
public:
  /// @param context  keeps the layout for the next call
  Passage(Context& context, const SpinorShape& shape) : context_(context), spins_(shape.spins) {}
  SpinorField<double>& field();

private:
  Context& context_;
  int spins_;
  std::optional<SpinorField<double>> field_;
};

/// A source: canonical numbers, in memory of the host or in a copy.
class SpinorIn {
public:
  SpinorIn(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry, Passage& passage,
           const void* values);
  std::span<const std::complex<double>> values() const noexcept { return values_; }

private:
  std::vector<std::complex<double>> copy_;
  std::span<const std::complex<double>> values_;
};

/// A result: canonical room, and the way back to the host.
class SpinorOut {
public:
  SpinorOut(const SpinorFormat& format, const SpinorShape& shape, const lattice::Geometry4& geometry, void* values);
  std::span<std::complex<double>> values() noexcept { return values_; }
  /// Writes the result where the host wants it. Nothing to do for canonical arrays.
  void finish(Passage& passage) const;

private:
  SpinorFormat format_;
  SpinorShape shape_;
  void* host_;
  std::vector<std::complex<double>> copy_;
  std::span<std::complex<double>> values_;
};

}  // namespace halocline::qcd::bindings
