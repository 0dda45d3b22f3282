// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Integer momenta, and correlators projected to them.
///
/// p_i = 2 pi n_i / L_i. The sink is projected with exp(-i p (x - x0)), with x0 the position of the source, which
/// selects a hadron of momentum p. C(p, t) therefore has no phase that depends on where on the lattice the source was
/// put.

#include <array>
#include <complex>
#include <string>
#include <vector>

namespace halocline::qcd::measure {

/// n_x, n_y, n_z: any integers. Momenta that are equal modulo the extents are the same.
using Momentum = std::array<int, 3>;

/// One correlator: values[k] belongs to the time k after the source.
struct Correlator {
  std::string name;
  Momentum momentum{0, 0, 0};
  std::vector<std::complex<double>> values;  ///< shape (T,)

  /// The real parts, as the reference data and run files list them.
  std::vector<double> real() const {
    std::vector<double> r;
    r.reserve(values.size());
    for (const auto& v : values) r.push_back(v.real());
    return r;
  }
};

}  // namespace halocline::qcd::measure
