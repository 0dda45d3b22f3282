// SPDX-License-Identifier: Apache-2.0
#include "halocline/core/machine.hpp"

#include <array>
#include <cinttypes>
#include <cstdio>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace halocline::core {
namespace {

constexpr std::int64_t kib = 1024, mib = 1024 * kib;

// Measured: zen4 alone, on the Schwarz iteration (docs/benchmarks/schwarz.md). The other
// rows follow from what their makers publish: lines and caches, and on A64FX the prefetches of the solver of Fugaku,
// which requests the next site's data into the first level. Kernels that can try do so from there. A64FX has 8 MiB for
// the twelve cores of a memory group.
constexpr std::array<Machine, 7> rows{{
    {"a64fx", 256, 8 * mib / 12, 1, 1, 64 * kib},
    {"neoverse-v1", 64, 0, 1, 2, 2 * mib},
    {"neoverse-v2", 64, 0, 1, 2, 4 * mib},
    {"zen4", 64, 0, 1, 2, 2 * mib},
    {"intel-icelake", 64, 0, 1, 2, 2 * mib},
    {"intel-sapphirerapids", 64, 0, 1, 2, 4 * mib},
    {"generic", 64, 0, 1, 2, 4 * mib},
}};

const Machine& row(std::string_view name) noexcept {
  for (const Machine& machine : rows)
    if (machine.name == name) return machine;
  return rows.back();
}

}  // namespace

std::span<const Machine> machines() noexcept { return rows; }

const Machine& machine_of(const CpuIdentity& cpu) noexcept {
  using Vendor = CpuIdentity::Vendor;
  switch (cpu.vendor) {
  case Vendor::fujitsu:
    return row(cpu.model == 0x001 ? "a64fx" : "generic");
  case Vendor::arm:
    return row(cpu.model == 0xd40 ? "neoverse-v1" : cpu.model == 0xd4f ? "neoverse-v2" : "generic");
  case Vendor::amd:
    return row(cpu.family == 0x19 && cpu.wide ? "zen4" : "generic");
  case Vendor::intel:
    if (cpu.family != 6) return row("generic");
    switch (cpu.model) {
    case 0x6a:
    case 0x6c:
      return row("intel-icelake");
    case 0x8f:  // and its successors with 2 MiB of second-level cache: Emerald Rapids, Granite Rapids
    case 0xcf:
    case 0xad:
    case 0xae:
      return row("intel-sapphirerapids");
    default:
      return row("generic");
    }
  case Vendor::other:
    break;
  }
  return row("generic");
}

CpuIdentity cpu_identity() noexcept {
  CpuIdentity cpu;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0, &a, &b, &c, &d) == 0) return cpu;
  if (b == signature_INTEL_ebx && c == signature_INTEL_ecx && d == signature_INTEL_edx)
    cpu.vendor = CpuIdentity::Vendor::intel;
  if (b == signature_AMD_ebx && c == signature_AMD_ecx && d == signature_AMD_edx) cpu.vendor = CpuIdentity::Vendor::amd;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0) return cpu;
  const unsigned family = (a >> 8) & 0xf, model = (a >> 4) & 0xf;
  cpu.family = static_cast<int>(family == 0xf ? family + ((a >> 20) & 0xff) : family);
  cpu.model = static_cast<int>(family == 0xf || family == 6 ? model + ((a >> 12) & 0xf0) : model);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) != 0) cpu.wide = ((b >> 16) & 1u) != 0;
#elif defined(__aarch64__)
  std::uint64_t midr = 0;
  if (std::FILE* file = std::fopen("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "r")) {
    if (std::fscanf(file, "%" SCNx64, &midr) != 1) midr = 0;
    std::fclose(file);
  }
  const auto implementer = (midr >> 24) & 0xff;
  cpu.vendor = implementer == 0x46   ? CpuIdentity::Vendor::fujitsu
               : implementer == 0x41 ? CpuIdentity::Vendor::arm
                                     : CpuIdentity::Vendor::other;
  cpu.model = static_cast<int>((midr >> 4) & 0xfff);
#endif
  return cpu;
}

const Machine& this_machine() noexcept { return machine_of(cpu_identity()); }

}  // namespace halocline::core
