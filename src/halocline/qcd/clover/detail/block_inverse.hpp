// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Inverses of the hermitian 6x6 blocks of many sites, eight sites at a time.
///
/// The sweep operator (Beaton 1964; Goodnight, The American Statistician 33 (1979) 149) turns A into -A^-1 in place,
/// one pivot after the other, and keeps the matrix hermitian, so only its lower triangle is touched. It does not choose
/// pivots. A block with a pivot below 1e-4 of its 1-norm goes to LU decomposition with pivots instead. For others
/// rounding errors grow by less than four digits.

#include <cstddef>
#include <optional>

namespace halocline::qcd::clover {

/// Where the 72 reals of a site (site/clover_block.hpp) are: number n of site i at first + i * site + n * number.
struct BlockPlaces {
  double* first;
  std::ptrdiff_t site, number;
};

/// Replaces both blocks A of each site by A^-1 or, given `square`, by (A^2 + square)^-1. Returns the smallest
/// reciprocal condition number in the 1-norm, 0 for a NaN. Collective: no.  Cost: about 1500 flops a site.
double invert_blocks(const BlockPlaces& places, int sites, std::optional<double> square = {});

}  // namespace halocline::qcd::clover
