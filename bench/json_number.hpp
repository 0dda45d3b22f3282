// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace halocline::bench {

using Json = nlohmann::ordered_json;

/// A JSON number, or null for NaN and infinity, which JSON does not have.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace halocline::bench
