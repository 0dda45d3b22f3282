// SPDX-License-Identifier: Apache-2.0
#include "bench/result.hpp"

#include <cmath>
#include <cstdlib>

#include "bench/json_number.hpp"
#include "halocline/core/region.hpp"

namespace halocline::bench {
namespace {

Json object(const Properties& properties) {
  Json made = Json::object();
  for (const auto& [name, value] : properties)
    made[name] = std::visit(
        [](const auto& v) {
          if constexpr (std::is_same_v<std::decay_t<decltype(v)>, double>)
            return number(v);
          else
            return Json(v);
        },
        value);
  return made;
}

}  // namespace

std::string to_json(const Properties& properties) { return object(properties).dump(); }

std::string to_json(const Result& result) {
  if (!result.skipped.empty()) {
    Json skipped{{"bench", result.bench}, {"case", object(result.parameters)}, {"skipped", result.skipped}};
    return skipped.dump();
  }
  const Spread& s = result.seconds;
  const Ceilings& c = result.ceilings;
  const double gflops = 1e-9 * result.flops / s.median;
  const double gbytes = 1e-9 * result.bytes / s.median;
  const double cpu_gflops = 1e-9 * result.flops / s.cpu;
  Json json;
  json["bench"] = result.bench;
  json["case"] = object(result.parameters);
  json["seconds"] = {
      {"median", number(s.median)}, {"min", number(s.minimum)}, {"max", number(s.maximum)}, {"runs", s.runs}};
  json["flops"] = number(result.flops);
  json["bytes"] = number(result.bytes);
  json["gflops"] = number(gflops);
  json["gbytes_per_s"] = number(gbytes);
  json["ceiling"] = {{"fma_gflops", number(c.fma_gflops)},
                     {"stream_gbytes_per_s", number(c.stream_gbytes_per_s)},
                     {"read_gbytes_per_s", number(c.read_gbytes_per_s)},
                     {"cache_line_ns", number(1e9 * c.cache_line_seconds)},
                     {"working_set",
                      {{"bytes", c.working_set_bytes},
                       {"stream_gbytes_per_s", number(c.working_set_stream_gbytes_per_s)},
                       {"read_gbytes_per_s", number(c.working_set_read_gbytes_per_s)}}}};
  json["fraction_of_fma_peak"] = number(gflops / c.fma_gflops);
  json["fraction_of_stream"] = number(gbytes / c.stream_gbytes_per_s);
  json["fraction_of_read"] = number(gbytes / c.working_set_read_gbytes_per_s);
  json["cpu"] = {{"seconds", number(s.cpu)},
                 {"gflops", number(cpu_gflops)},
                 {"fma_gflops", number(result.fma_gflops_of_cpu_time)},
                 {"fraction_of_fma_peak", number(cpu_gflops / result.fma_gflops_of_cpu_time)}};
  json["energy"] = energy_of(s, result.flops);
  json["regions"] = Json::parse(result.regions);
  if (!result.outcome.empty()) json["result"] = object(result.outcome);
  std::array<double, 1> load{};
  if (getloadavg(load.data(), 1) == 1) json["load_average"] = number(load[0]);
  return json.dump();
}

std::string regions_of(const Work& work) {
  const bool before = core::regions_enabled();
  core::reset_regions();
  core::enable_regions(true);
  work();
  core::enable_regions(before);
  return core::region_report().json();
}

}  // namespace halocline::bench
