// SPDX-License-Identifier: Apache-2.0
#include "bench/device_result.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bench/fields.hpp"
#include "bench/json_number.hpp"
#include "halocline/core/error.hpp"

namespace halocline::bench {
namespace {

void add(Json& made, const Properties& properties) { made.update(Json::parse(to_json(properties))); }

}  // namespace

DeviceStorage device_storage(const std::string& precision) {
  if (precision == "double") return {8, 0};
  if (precision == "float") return {4, 0};
  if (precision == "fixed16") return {2, 4};
  if (precision == "fixed8") return {1, 4};
  throw core::InvalidArgument(
      fmt::format("the precision is \"{}\"; on a device give double, float, fixed16 or fixed8", precision));
}

DeviceCost device_cost(const std::string& form, const std::string& precision, int link_reals, int columns) {
  const DeviceStorage storage = device_storage(precision);
  const double spinor = spinor_reals * storage.number + storage.scale;
  const double links = 8.0 * link_reals * storage.number;
  const double block = clover_reals * storage.number + storage.scale;
  DeviceCost cost{.flops = 1320.0 * columns,
                  .bytes = links + columns * 9 * spinor,
                  .bytes_with_reuse = links + columns * 2 * spinor};
  if (form == "hopping") return cost;
  cost.flops += columns * clover_cost.flops;
  cost.bytes += block;
  cost.bytes_with_reuse += block;
  if (form == "hopping-clover") return cost;
  if (form != "fused")
    throw core::InvalidArgument(
        fmt::format("the form is \"{}\"; on a device give hopping, hopping-clover or fused", form));
  // a - B hop psi: 48; a complex dot product of 12 components, 96; a norm, 48. It reads one more spinor.
  cost.flops += columns * (48.0 + 96.0 + 48.0);
  cost.bytes += columns * spinor;
  cost.bytes_with_reuse += columns * spinor;
  return cost;
}

std::string to_json(const DeviceResult& result) {
  Json json;
  json["bench"] = result.bench;
  Json named = Json::object();
  add(named, result.parameters);
  named["measured"] = result.measured;
  json["case"] = named;
  if (!result.skipped.empty()) {
    json["skipped"] = result.skipped;
    return json.dump();
  }
  const Spread& s = result.seconds;
  // Without a count there are no rates.
  const double counted = result.flops > 0 ? 1.0 : std::numeric_limits<double>::quiet_NaN();
  const double gflops = counted * 1e-9 * result.flops / s.median;
  const double gbytes = counted * 1e-9 * result.bytes / s.median;
  const double gbytes_with_reuse = counted * 1e-9 * result.bytes_with_reuse / s.median;
  json["host_executor"] = result.host_executor;
  json["seconds"] = {
      {"median", number(s.median)}, {"min", number(s.minimum)}, {"max", number(s.maximum)}, {"runs", s.runs}};
  json["flops"] = number(result.flops);
  json["bytes"] = number(result.bytes);
  json["bytes_with_reuse"] = number(result.bytes_with_reuse);
  json["gflops"] = number(gflops);
  json["gbytes_per_s"] = number(gbytes);
  json["gbytes_per_s_with_reuse"] = number(gbytes_with_reuse);
  json["ceiling"] = {{"copy_gbytes_per_s", number(result.copy_gbytes_per_s)},
                     {"copy_bytes", number(result.copy_bytes)}};
  json["fraction_of_copy"] = number(gbytes / result.copy_gbytes_per_s);
  json["fraction_of_copy_with_reuse"] = number(gbytes_with_reuse / result.copy_gbytes_per_s);
  json["energy"] = energy_of(s, counted * result.flops);
  json["memory_bytes"] = number(result.memory_bytes);
  if (!result.outcome.empty()) {
    Json found = Json::object();
    add(found, result.outcome);
    json["result"] = found;
  }
  return json.dump();
}

}  // namespace halocline::bench
