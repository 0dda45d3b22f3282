// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/machine.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string_view>

using namespace halocline::core;
using Vendor = CpuIdentity::Vendor;

TEST_CASE("machine: CPUs find their rows by the names that they give themselves") {
  const auto name = [](Vendor vendor, int family, int model, bool wide = true) {
    return machine_of({vendor, family, model, wide}).name;
  };
  CHECK(name(Vendor::fujitsu, 0, 0x001) == "a64fx");
  CHECK(name(Vendor::arm, 0, 0xd40) == "neoverse-v1");
  CHECK(name(Vendor::arm, 0, 0xd4f) == "neoverse-v2");
  CHECK(name(Vendor::amd, 0x19, 0x11) == "zen4");
  CHECK(name(Vendor::amd, 0x19, 0x01, false) == "generic");  // Zen 3
  CHECK(name(Vendor::intel, 6, 0x6a) == "intel-icelake");
  CHECK(name(Vendor::intel, 6, 0x8f) == "intel-sapphirerapids");
  CHECK(name(Vendor::intel, 6, 0x97) == "generic");
  CHECK(name(Vendor::other, 0, 0) == "generic");
}

TEST_CASE("machine: the rows have names of their own and numbers that kernels can use") {
  std::set<std::string_view> names;
  for (const Machine& machine : machines()) {
    CHECK(names.insert(machine.name).second);
    CHECK((machine.line_bytes == 64 || machine.line_bytes == 256));
    CHECK(machine.second_level >= 0);
    CHECK(machine.prefetch_tiles >= 0);
    CHECK((machine.prefetch_level == 1 || machine.prefetch_level == 2));
    CHECK(machine.prefetch_beyond >= 0);
    // What builds for these CPUs assume (qcd/schwarz/detail/requests.hpp).
    const bool a64fx = machine.name == "a64fx";
    CHECK(machine.line_bytes == (a64fx ? 256 : 64));
    CHECK(machine.prefetch_level == (a64fx ? 1 : 2));
  }
  CHECK(machines().back().name == "generic");
  CHECK(names.contains(this_machine().name));
}
