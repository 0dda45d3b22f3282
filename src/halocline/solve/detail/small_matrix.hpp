// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Small dense matrices that need not be hermitian: the inverse.

#include <complex>
#include <cstddef>
#include <span>
#include <vector>

namespace halocline::solve::detail {

/// The inverse of an n * n matrix, entry (row, column) at [column * n + row]. Of a singular matrix (to rounding) it is
/// the pseudo-inverse.
/// @throws Error  the matrix is not finite
/// Cost: O(n^3).
std::vector<std::complex<double>> inverse(std::size_t n, std::span<const std::complex<double>> matrix);

}  // namespace halocline::solve::detail
