// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How many numbers a spinor has at one site: four spins of three colours. This header needs no back end.

namespace halocline::qcd {

inline constexpr int spinor_components = 12;  ///< complex
inline constexpr int spinor_reals = 2 * spinor_components;

}  // namespace halocline::qcd
