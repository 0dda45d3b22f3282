// SPDX-License-Identifier: Apache-2.0
//
// The instruction set: named as the compiler names it, and present where these tests run.

#include "halocline/core/config.hpp"
#include "halocline/core/cpu.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

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

TEST_CASE("cpu: the revision is twelve hexadecimal digits or unknown") {
  const std::string_view revision = git_revision();
  const bool hexadecimal = revision.size() == 12 && revision.find_first_not_of("0123456789abcdef") == revision.npos;
  CHECK((hexadecimal || revision == "unknown"));
}
