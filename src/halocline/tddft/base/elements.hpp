// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Symbols of the elements.

#include <string>

namespace halocline::tddft::detail {

/// @param number  atomic number @return  the symbol, or an empty text for another number than 1 ... 103
std::string symbol_of(int number);

}  // namespace halocline::tddft::detail
