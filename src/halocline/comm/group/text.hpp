// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Lists of numbers, and names of faces, for error messages.

#include "halocline/comm/group/process_grid.hpp"

#include <span>
#include <string>

namespace halocline::comm::detail {

/// "4 x 2 x 1" for {4, 2, 1} and " x ".
template <class T>
std::string joined(std::span<const T> values, const char* between) {
  std::string text;
  for (const T& value : values) {
    if (!text.empty()) text += between;
    text += std::to_string(value);
  }
  return text;
}

/// "+x", "-t"; beyond four axes "+axis 4".
inline std::string name(Face face) {
  const std::string sign = face.direction > 0 ? "+" : "-";
  return sign + (face.axis < 4 ? std::string(1, "xyzt"[face.axis]) : "axis " + std::to_string(face.axis));
}

}  // namespace halocline::comm::detail
