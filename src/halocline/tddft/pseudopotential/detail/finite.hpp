// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The final check of a pseudopotential that was read from a file.
///
/// A table of finite numbers can still give infinite ones, if radii nearly coincide or squares overflow.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <string>

namespace halocline::tddft::detail {

/// Evaluates every function of the pseudopotential on a mesh of radii.
/// @param path  of the file, for the error message
/// @throws core::FileError  a value is not finite; names the function and the radius
/// Cost: a thousand evaluations of each function.
void require_finite(const Pseudopotential& pseudopotential, const std::string& path);

}  // namespace halocline::tddft::detail
