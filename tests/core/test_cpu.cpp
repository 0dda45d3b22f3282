// SPDX-License-Identifier: Apache-2.0
//
// The instruction set: named as the compiler names it, and present where these tests run.

#include "halocline/core/config.hpp"
#include "halocline/core/cpu.hpp"
#include "halocline/core/pack.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace halocline::core;

TEST_CASE("cpu: the name is the instruction set this file was compiled for") {
#if defined(__AVX512F__)
  CHECK(compiled_isa() == "avx512");
#elif defined(__AVX2__)
  CHECK(compiled_isa() == "avx2");
#elif defined(__ARM_FEATURE_SVE_BITS) && __ARM_FEATURE_SVE_BITS > 0
  CHECK(compiled_isa() == "sve" + std::to_string(__ARM_FEATURE_SVE_BITS));
  CHECK(sve_bits == __ARM_FEATURE_SVE_BITS);
#elif defined(__ARM_NEON)
  CHECK(compiled_isa() == "neon");
#else
  CHECK(compiled_isa().size() > 0);
#endif
}

TEST_CASE("cpu: a machine that runs the tests lacks nothing") {
  CHECK(missing_cpu_feature() == "");
  CHECK_NOTHROW(check_cpu());
}

TEST_CASE("cpu: a machine that runs the tests has the registers of the build, and may have wider ones") {
  CHECK_NOTHROW(check_instructions());
  if (sve_bits > 0) CHECK(sve_register_bits() == sve_bits);
  const std::string said = narrower_than_cpu();
  if (compiled_isa() == "avx512" || sve_bits > 0) CHECK(said == "");
}

TEST_CASE("cpu: a build with narrower registers than the CPU says so, and no other does") {
  CHECK(narrower_sentence("sve512", 512, "SVE", 512) == "");
  CHECK(narrower_sentence("neon", 128, "SVE", 0) == "");
  CHECK(narrower_sentence("neon", 128, "SVE", 128) == "");
  CHECK(narrower_sentence("avx512", 512, "avx2", 256) == "");
  const std::string said = narrower_sentence("neon", 128, "SVE", 512);
  CHECK(said.find("compiled for neon") != said.npos);
  CHECK(said.find("this CPU has 512 (SVE)") != said.npos);
  CHECK(said.find("-DHALOCLINE_ISA=native") != said.npos);
  CHECK(narrower_sentence("avx2", 256, "avx512", 512) != "");
}

TEST_CASE("cpu: packs of whole registers keep their lanes, and so do all packs that compile to vectors") {
  CHECK(whole_pack_lanes<float>(native_lanes<float>) == native_lanes<float>);
  CHECK(whole_pack_lanes<double>(native_lanes<double>) == native_lanes<double>);
  CHECK(whole_pack_lanes<float>(4) == 4);
  CHECK(whole_pack_lanes<float>(1) == 1);
  CHECK(whole_pack_lanes<float>(8) == (sve_bits > 256 ? 4 : 8));
}

TEST_CASE("cpu: the revision is twelve hexadecimal digits or unknown") {
  const std::string_view revision = git_revision();
  const bool hexadecimal = revision.size() == 12 && revision.find_first_not_of("0123456789abcdef") == revision.npos;
  CHECK((hexadecimal || revision == "unknown"));
}

namespace {
[[gnu::noinline]] std::size_t sum_of_high_half(std::span<const std::size_t> v) { return v[2] + v[3]; }
}  // namespace

// g++ 12.2 made {64, 64, 64, 64} of this under AVX-512; cmake/Isa.cmake keeps it from it.
TEST_CASE("cpu: the compiler makes wide constants what the source says") {
  for (const std::size_t turn : {1u, 2u, 3u}) {
    CHECK(sum_of_high_half(std::vector<std::size_t>{64, 64, 0, 0}) == 0);
    CHECK(sum_of_high_half(std::vector<std::size_t>{64, 64, turn, 0}) == turn);
  }
}
