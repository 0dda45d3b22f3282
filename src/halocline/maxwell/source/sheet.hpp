// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Light that enters through a plane: total field on one side of it, scattered field on the other.
///
/// The plane is that of the nodes `node` along an axis. E of the incident light lies on it, H half a step behind it as
/// the light comes. Both are profiles over the plane times a waveform; light whose phase changes from place to place is
/// the sum of two sheets, one with the real parts and a cosine, the other with the imaginary parts and a sine (Taflove
/// and Hagness, Computational Electrodynamics, 3rd edition, section 5.6).

#include "halocline/maxwell/source/waveform.hpp"
#include "halocline/maxwell/update/update.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace halocline::maxwell {

struct SheetSpec {
  int axis = 0;
  int direction = 1;      ///< +1 or -1: on which side of the plane the total field is
  std::int64_t node = 0;  ///< of the plane
  Box points;             ///< of the plane; its extent along the axis is one
  /// At the places of the components on the grid, x fastest: E along the next axis and the one after it, then H.
  std::array<std::vector<double>, 4> profiles;
  Waveform waveform;  ///< at the time of E and of H
};

/// @throws InvalidArgument  a plane outside of the grid or inside an absorbing layer, profiles of another size, complex
///                          fields
void check_sheet(const YeeGrid& grid, const SheetSpec& spec);

/// The drives of a sheet; the tables with these two numbers have one entry, the waveform at the times of E and of H.
template <class T>
std::vector<Drive<T>> drives_of(const SheetSpec& spec, const Part& part, int table_of_e, int table_of_h);

}  // namespace halocline::maxwell
