// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

namespace halocline::tddft {

/// Converts a count to the unsigned type of the standard containers; counts and indices are signed in tddft.
constexpr std::size_t size(std::integral auto n) noexcept { return static_cast<std::size_t>(n); }

/// Converts an index, or an axis, to the unsigned type of the standard containers.
constexpr std::size_t at(std::integral auto i) noexcept { return static_cast<std::size_t>(i); }

}  // namespace halocline::tddft
