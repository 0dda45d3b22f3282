// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The functionals that pseudopotential files name.

#include <string>
#include <string_view>

namespace halocline::tddft::detail {

/// Our name of a functional as a UPF file or a GTH library writes it; for others the file's name in lower case.
std::string functional_of_words(std::string_view text);

/// Our name of a functional by abinit's number (ixc); "abinit's ixc 3" for a functional without one, and empty for 0.
/// Negative numbers are those of libxc, three digits for each of two functionals.
std::string functional_of_abinit(int ixc);

}  // namespace halocline::tddft::detail
