// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Twelve columns that depend on the global site alone.

#include <array>
#include <complex>
#include <span>

#include "halocline/qcd/io/propagator_file.hpp"
#include "qcd/io/io_helpers.hpp"

namespace halocline::test {

inline qcd::io::PropagatorColumns scrambled_columns(const lattice::Geometry4& geometry) {
  qcd::io::PropagatorColumns columns;
  for (std::size_t column = 0; column < 12; ++column) {
    columns[column].resize(static_cast<std::size_t>(geometry.local_volume()) * 12);
    for (std::int64_t site = 0; site < geometry.local_volume(); ++site) {
      const auto global = geometry.global_index(lattice::coordinates_of<4>(site, geometry.local()));
      for (std::size_t k = 0; k < 12; ++k) {
        const std::uint64_t key = (static_cast<std::uint64_t>(global) * 144 + column * 12 + k) * 2;
        columns[column][static_cast<std::size_t>(site) * 12 + k] = {scrambled(key), scrambled(key + 1)};
      }
    }
  }
  return columns;
}

inline std::array<std::span<const std::complex<double>>, 12> spans_of(const qcd::io::PropagatorColumns& columns) {
  std::array<std::span<const std::complex<double>>, 12> spans;
  for (std::size_t i = 0; i < 12; ++i) spans[i] = columns[i];
  return spans;
}

}  // namespace halocline::test
