// SPDX-License-Identifier: Apache-2.0
//
// This file is compiled without the ISA flags of the other files (cmake/Rooms.cmake), so that it runs on machines that
// lack those instructions. The list of features comes from the build configuration, which asked the compiler which
// features the ISA flags switch on.

#include "halocline/core/cpu.hpp"
#include "halocline/core/config.hpp"
#include "halocline/core/error.hpp"
#include "halocline/core/machine.hpp"

#include <cinttypes>
#include <cstdio>
#include <initializer_list>
#include <string>

#include <unistd.h>

#if defined(__aarch64__)
#include <sys/auxv.h>
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

std::string missing_instructions() {
  __builtin_cpu_init();
  for (std::string_view feature : std::initializer_list<std::string_view> HALOCLINE_CPU_FEATURES)
    if (!has(feature)) return std::string(feature);
  return {};
}
}  // namespace

std::string missing_cpu_feature() { return missing_instructions(); }

int sve_register_bits() noexcept { return 0; }

std::string narrower_than_cpu() {
  __builtin_cpu_init();
  const bool all_of_avx512 = has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl");
  const bool all_of_avx2 = has("avx2") && has("fma");
  const int bits = compiled_isa() == "avx512" ? 512 : compiled_isa() == "avx2" ? 256 : 128;
  return narrower_sentence(compiled_isa(), bits, all_of_avx512 ? "avx512" : "avx2",
                           all_of_avx512 ? 512
                           : all_of_avx2 ? 256
                                         : 128);
}
#elif defined(__aarch64__)
namespace {
// Bits of AT_HWCAP and AT_HWCAP2, by the names of /proc/cpuinfo. Headers of old systems lack some of them.
bool has(std::string_view feature) noexcept {
  const unsigned long first = getauxval(AT_HWCAP), second = getauxval(AT_HWCAP2);
  const auto bit = [](unsigned long word, int at) { return ((word >> at) & 1ul) != 0; };
  if (feature == "atomics") return bit(first, 8);
  if (feature == "asimdhp") return bit(first, 10);
  if (feature == "asimddp") return bit(first, 20);
  if (feature == "sve") return bit(first, 22);
  if (feature == "sve2") return bit(second, 1);
  if (feature == "i8mm") return bit(second, 13);
  if (feature == "bf16") return bit(second, 14);
  return false;
}

std::string missing_instructions() {
  for (std::string_view feature : std::initializer_list<std::string_view> HALOCLINE_CPU_FEATURES)
    if (!has(feature)) return std::string(feature);
  return {};
}
}  // namespace

int sve_register_bits() noexcept {
  const int answer = prctl(PR_SVE_GET_VL);
  return answer >= 0 ? (answer & PR_SVE_VL_LEN_MASK) * 8 : 0;
}

std::string missing_cpu_feature() {
  if (std::string missing = missing_instructions(); !missing.empty()) return missing;
  const int bits = sve_register_bits();
  if (sve_bits == 0 || bits == sve_bits) return {};
  return "SVE registers of " + std::to_string(sve_bits) + " bits (it has " + std::to_string(bits) + ")";
}

std::string narrower_than_cpu() {
  const int bits = sve_register_bits();
  return narrower_sentence(compiled_isa(), sve_bits > 0 ? sve_bits : 128, "SVE", bits);
}
#else
namespace {
std::string missing_instructions() { return {}; }
}  // namespace
std::string missing_cpu_feature() { return {}; }
int sve_register_bits() noexcept { return 0; }
std::string narrower_than_cpu() { return {}; }
#endif

std::string narrower_sentence(std::string_view isa, int compiled_bits, std::string_view cpu_isa, int cpu_bits) {
  if (cpu_bits <= compiled_bits) return {};
  return "this Halocline is compiled for " + std::string(isa) + ", registers of " + std::to_string(compiled_bits) +
         " bits, and this CPU has " + std::to_string(cpu_bits) + " (" + std::string(cpu_isa) +
         "): it computes right, but slowly; build it again here with -DHALOCLINE_ISA=native";
}

std::int64_t second_level_cache_bytes() noexcept {
  if (const std::int64_t known = this_machine().second_level; known > 0) return known;
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

namespace {
void refuse(const std::string& missing) {
  if (missing.empty()) return;
  throw InvalidArgument("this Halocline is compiled for " + std::string(compiled_isa()) + ", but this machine lacks " +
                        missing + "; build it again here, or with -DHALOCLINE_ISA=portable");
}
}  // namespace

void check_cpu() { refuse(missing_cpu_feature()); }
void check_instructions() { refuse(missing_instructions()); }

}  // namespace halocline::core
