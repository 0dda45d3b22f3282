// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How many numbers a quark has at one site: four spins of three colours, or one spin of a staggered quark. This header
/// needs no back end.

namespace halocline::qcd {

inline constexpr int colours = 3;
inline constexpr int spinor_components = 12;  ///< complex
inline constexpr int spinor_reals = 2 * spinor_components;
inline constexpr int staggered_reals = 2 * colours;

}  // namespace halocline::qcd
