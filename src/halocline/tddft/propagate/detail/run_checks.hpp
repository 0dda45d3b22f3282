// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Refuses propagations that cannot be, before work starts.

#include "halocline/tddft/propagate/propagator.hpp"

namespace halocline::tddft::detail {

/// @throws InvalidArgument  an unknown scheme, options outside their ranges, an invalid field, a kick that the grid
/// cannot carry, symmetries that field or ions break, atoms that move without forces, an angular momentum in a crystal,
/// a spin kick without spin. Collective: no.
void check_run(const Model& model, const Field& field, const PropagateOptions& options, bool ions_move);

}  // namespace halocline::tddft::detail
