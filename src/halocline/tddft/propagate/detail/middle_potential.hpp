// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The potential in the middle of a step, from those at the step's begin and at earlier ones.

#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// Extrapolates a potential by half a step: linearly from two of them, quadratically from three. Then puts the present
/// one in front of the earlier ones, of which it keeps most_earlier_potentials (model.hpp).
/// @param middle   overwritten, shape (numbers,)
/// @param earlier  shape (1 or 2, numbers), the latest first
/// @param now      shape (numbers,)
void extrapolate_to_middle(std::vector<double>& middle, std::vector<double>& earlier, std::span<const double> now);

/// Adds factor times a potential to that of each spin. @param potentials  shape (spins, points)
void add_to_spins(std::span<double> potentials, double factor, std::span<const double> potential);

}  // namespace halocline::tddft::detail
