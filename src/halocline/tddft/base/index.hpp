// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>

namespace halocline::tddft {

/// Counts and indices are signed in this room, those of the standard containers are not: a count as a container takes
/// it.
constexpr std::size_t size(std::integral auto n) noexcept { return static_cast<std::size_t>(n); }

/// An index, or an axis, as a container takes it.
constexpr std::size_t at(std::integral auto i) noexcept { return static_cast<std::size_t>(i); }

}  // namespace halocline::tddft
