// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Symbols of the elements.

#include <string>
#include <string_view>

namespace halocline::tddft {

/// @param number  atomic number @return  the symbol, or an empty text for another number than 1 ... 103
std::string symbol_of(int number);

/// @param symbol  as "Si" @return  its atomic number; 0 if it is none of 1 ... 103
int atomic_number_of(std::string_view symbol);

}  // namespace halocline::tddft
