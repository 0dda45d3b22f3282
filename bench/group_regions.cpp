// SPDX-License-Identifier: Apache-2.0
#include "bench/group_regions.hpp"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <vector>

#include "halocline/core/region.hpp"

namespace halocline::bench {
namespace {

/// The times of all threads that entered a region.
struct Gathered {
  std::string path;
  int threads = 0;
  double calls = 0, least = 0, sum = 0, most = 0, self = 0;

  void add(double thread_calls, double seconds, double self_seconds) {
    least = threads == 0 ? seconds : std::min(least, seconds);
    most = std::max(most, seconds);
    sum += seconds;
    self += self_seconds;
    calls += thread_calls;
    ++threads;
  }
};

/// One line for each thread and region: calls, seconds, own seconds, path.
std::string lines_of_this_process() {
  std::ostringstream text;
  text.precision(17);
  for (const core::RegionRow& row : core::region_report_by_thread().rows)
    text << row.calls << ' ' << row.seconds << ' ' << row.self_seconds << ' ' << row.path << '\n';
  return text.str();
}

}  // namespace

std::string group_regions(const comm::Communicator& group, const Work& work, double executions) {
  const bool before = core::regions_enabled();
  core::reset_regions();
  core::enable_regions(true);
  work();
  core::enable_regions(before);

  const std::string mine = lines_of_this_process();
  const std::vector<std::byte> all = group.allgather(std::as_bytes(std::span(mine)));
  std::string text(all.size(), '\0');
  if (!all.empty()) std::memcpy(text.data(), all.data(), all.size());
  std::istringstream lines(text);
  std::vector<Gathered> gathered;
  double calls = 0, seconds = 0, self_seconds = 0;
  std::string path;
  // The first thread of a process opens the outer regions; the others know only regions inside a parallel team.
  const auto is = [&](const Gathered& region) { return region.path == path || region.path.ends_with(" > " + path); };
  while (lines >> calls >> seconds >> self_seconds && std::getline(lines >> std::ws, path)) {
    auto found = std::ranges::find_if(gathered, is);
    if (found == gathered.end()) {
      gathered.emplace_back().path = path;
      found = gathered.end() - 1;
    }
    found->add(calls, seconds, self_seconds);
  }

  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const Gathered& region : gathered) {
    const double threads = region.threads;
    json[region.path] = {
        {"calls", region.calls / threads / executions}, {"threads", region.threads},
        {"seconds", region.most / executions},          {"mean_seconds", region.sum / threads / executions},
        {"min_seconds", region.least / executions},     {"self_seconds", region.self / threads / executions}};
  }
  return json.dump();
}

}  // namespace halocline::bench
