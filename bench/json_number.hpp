// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/timing.hpp"

namespace halocline::bench {

using Json = nlohmann::ordered_json;

/// A JSON number, or null for NaN and infinity, which JSON does not have.
inline Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

/// The key "energy" of a result: of one execution, and its rate by energy. Nulls where nothing counts energy.
inline Json energy_of(const Spread& measured, double flops) {
  return {{"joules_a_run", number(measured.joules)},
          {"watts", number(measured.watts)},
          {"gflops_per_watt", number(flops > 0 ? 1e-9 * flops / measured.joules : std::nan(""))}};
}

}  // namespace halocline::bench
