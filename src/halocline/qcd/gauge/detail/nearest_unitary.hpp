// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "halocline/qcd/field/su3.hpp"

namespace halocline::qcd::gauge::detail {

/// Replaces v by the unitary matrix that is nearest to it, by a singular value decomposition: accurate for nearly
/// singular matrices too, and slow. Returns false, with v unchanged, if v is singular to rounding or not finite.
bool nearest_unitary(Su3<double>& v);

}  // namespace halocline::qcd::gauge::detail
