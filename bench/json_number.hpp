// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

namespace halocline::bench {

using Json = nlohmann::ordered_json;

/// Not-a-number and infinity do not exist in JSON.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace halocline::bench
