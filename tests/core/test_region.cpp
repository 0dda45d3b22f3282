// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/region.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

using namespace halocline::core;

namespace {

void work(double seconds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (std::chrono::steady_clock::now() < end) {
  }
}

const RegionRow* row(const RegionReport& report, const std::string& path) {
  for (const RegionRow& r : report.rows) {
    if (r.path == path) return &r;
  }
  return nullptr;
}

/// Leaves the registry as it found it.
struct Timing {
  Timing() {
    reset_regions();
    enable_regions(true);
  }
  ~Timing() {
    enable_regions(false);
    reset_regions();
  }
};

}  // namespace

TEST_CASE("region: nothing is recorded unless timing is on") {
  reset_regions();
  CHECK_FALSE(regions_enabled());
  {
    const Region region("silent");
  }
  CHECK(region_report().rows.empty());
  CHECK(region_report().json() == "{}");
}

TEST_CASE("region: a region holds those inside it, and self is what is left") {
  const Timing timing;
  for (int k = 0; k < 3; ++k) {
    const Region outer("outer");
    work(1e-3);
    for (int i = 0; i < 2; ++i) {
      const Region inner("inner");
      work(1e-3);
    }
  }
  {
    const Region inner("inner");
  }  // the same name elsewhere is another region
  const RegionReport report = region_report();
  REQUIRE(report.rows.size() == 3);
  CHECK(report.rows[0].path == "outer");
  CHECK(report.rows[1].path == "outer > inner");
  CHECK(report.rows[1].depth == 1);
  CHECK(report.rows[0].calls == 3);
  CHECK(report.rows[1].calls == 6);
  CHECK(report.rows[2].calls == 1);
  CHECK(report.rows[0].seconds >= 9e-3);
  CHECK(report.rows[1].seconds >= 6e-3);
  CHECK(report.rows[0].self_seconds >= 3e-3);
  CHECK(report.rows[0].self_seconds == doctest::Approx(report.rows[0].seconds - report.rows[1].seconds));
}

TEST_CASE("region: threads have their own times, and a merged report adds the calls") {
  const Timing timing;
  std::thread threads[3];
  for (auto& thread : threads) {
    thread = std::thread([] {
      const Region region("parallel");
      const Region inside("part");
      work(2e-3);
    });
  }
  for (auto& thread : threads) thread.join();
  {
    const Region region("parallel");
  }
  const RegionReport merged = region_report();
  const RegionRow* all = row(merged, "parallel");
  REQUIRE(all != nullptr);
  CHECK(all->threads == 4);
  CHECK(all->calls == 4);
  CHECK(all->total_seconds >= 6e-3);
  CHECK(all->seconds < all->total_seconds);
  REQUIRE(row(merged, "parallel > part") != nullptr);
  CHECK(row(merged, "parallel > part")->threads == 3);
  CHECK(region_report_by_thread().rows.size() == 7);
}

TEST_CASE("region: a switch while a region is open does not unbalance the tree") {
  const Timing timing;
  {
    const Region before("before");
    enable_regions(false);
    const Region unseen("unseen");
    enable_regions(true);
    const Region inside("inside");
  }
  const RegionReport report = region_report();
  REQUIRE(report.rows.size() == 2);
  CHECK(report.rows[1].path == "before > inside");
}

TEST_CASE("region: table and JSON hold every row") {
  const Timing timing;
  {
    const Region region("say \"hello\"");
    const Region inner("inner");
  }
  const RegionReport report = region_report();
  CHECK(report.table().find("  inner") != std::string::npos);
  CHECK(report.table().starts_with("region"));
  CHECK(report.json().starts_with("{\"say \\\"hello\\\"\": {\"calls\": 1, \"threads\": 1, \"seconds\": "));
  CHECK(report.json().find("\"say \\\"hello\\\" > inner\"") != std::string::npos);
}
