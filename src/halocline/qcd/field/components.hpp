// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The numbers that a spinor has at one site: four spins of three colours. No header of a back end.

namespace halocline::qcd {

inline constexpr int spinor_components = 12;  ///< complex
inline constexpr int spinor_reals = 2 * spinor_components;

}  // namespace halocline::qcd
