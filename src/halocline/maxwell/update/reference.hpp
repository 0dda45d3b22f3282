// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One step of Yee's scheme, point by point as the equations say: the oracle of Update.

#include "halocline/maxwell/update/state.hpp"

namespace halocline::maxwell {

/// Does one step without sources on all owned points. Ghosts of exchanged axes hold the neighbours' points at the
/// start, and are one step behind afterwards; so a part with exchanged axes needs a depth of 1. Collective: no.
template <class T>
void reference_step(State<T>& state);

}  // namespace halocline::maxwell
