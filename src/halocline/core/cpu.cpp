// SPDX-License-Identifier: Apache-2.0
//
// This file is compiled without the ISA flags of the other files (cmake/Rooms.cmake), so that it runs on machines that
// lack those instructions. The list of features comes from the build configuration, which asked the compiler which
// features the ISA flags switch on.

#include "halocline/core/cpu.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"

#include <cinttypes>
#include <cstdio>
#include <initializer_list>
#include <string>

#include <unistd.h>

#if defined(__aarch64__)
#include <sys/prctl.h>
#elif defined(__x86_64__)
#include <cpuid.h>
#endif

namespace halocline::core {

std::string_view compiled_isa() noexcept { return isa_name; }

#if defined(__x86_64__)
namespace {
// Asks the CPU directly, because clang 14 does not know this name. The check of avx512f covers the registers.
bool has_avx512fp16() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & (1u << 23)) != 0;
}

// __builtin_cpu_supports takes literals only.
bool has(std::string_view feature) noexcept {
  if (feature == "avx") return __builtin_cpu_supports("avx");
  if (feature == "avx2") return __builtin_cpu_supports("avx2");
  if (feature == "fma") return __builtin_cpu_supports("fma");
  if (feature == "bmi2") return __builtin_cpu_supports("bmi2");
  if (feature == "avx512f") return __builtin_cpu_supports("avx512f");
  if (feature == "avx512bw") return __builtin_cpu_supports("avx512bw");
  if (feature == "avx512dq") return __builtin_cpu_supports("avx512dq");
  if (feature == "avx512vl") return __builtin_cpu_supports("avx512vl");
  if (feature == "avx512vnni") return __builtin_cpu_supports("avx512vnni");
  if (feature == "avx512bf16") return __builtin_cpu_supports("avx512bf16");
  if (feature == "avx512fp16") return has_avx512fp16();
  return false;
}
}  // namespace

std::string_view missing_cpu_feature() noexcept {
  __builtin_cpu_init();
  for (std::string_view feature : std::initializer_list<std::string_view> HALOCLINE_CPU_FEATURES)
    if (!has(feature)) return feature;
  return {};
}
#elif defined(__aarch64__)
std::string_view missing_cpu_feature() noexcept {
  if (sve_bits == 0) return {};
  const int answer = prctl(PR_SVE_GET_VL);
  const bool same = answer >= 0 && (answer & PR_SVE_VL_LEN_MASK) * 8 == sve_bits;
  return same ? std::string_view{} : std::string_view{"SVE at the compiled vector length"};
}
#else
std::string_view missing_cpu_feature() noexcept { return {}; }
#endif

std::int64_t second_level_cache_bytes() noexcept {
#ifdef _SC_LEVEL2_CACHE_SIZE
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) return bytes;
#endif
  return std::int64_t{1} << 20;
}

std::int64_t last_level_cache_bytes() noexcept {
  // sysconf() adds the caches of a whole socket.
  std::int64_t kib = 0;
  if (std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/cache/index3/size", "r")) {
    if (std::fscanf(file, "%" SCNd64 "K", &kib) != 1) kib = 0;
    std::fclose(file);
  }
  return kib > 0 ? kib << 10 : std::int64_t{32} << 20;
}

bool halves_wide_registers() noexcept {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0 || b != signature_AMD_ebx || c != signature_AMD_ecx || d != signature_AMD_edx)
    return false;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return false;
  const unsigned family = ((a >> 8) & 0xf) + ((a >> 20) & 0xff);
  __builtin_cpu_init();
  return family == 0x19 && __builtin_cpu_supports("avx512f");
#else
  return false;
#endif
}

void check_cpu() {
  const std::string_view missing = missing_cpu_feature();
  if (missing.empty()) return;
  throw InvalidArgument("this Halocline is compiled for " + std::string(compiled_isa()) + ", but this machine lacks " +
                        std::string(missing) + "; build it again here, or with -DHALOCLINE_ISA=portable");
}

}  // namespace halocline::core
