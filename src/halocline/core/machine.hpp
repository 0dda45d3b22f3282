// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What kernels should know of the CPU that they run on: one table, a row for each kind.
///
/// The row is chosen when the program runs, by what the CPU says of itself (CPUID, or MIDR_EL1 on Arm), not by the
/// build. Prefetches change no result; `second_level` decides how many domains `blocks = "auto"` cuts. Where a kernel
/// can try out a number of the table on the spot, it does, and the row is where it begins
/// (qcd/schwarz/detail/walk_trial.cpp).

#include <cstdint>
#include <span>
#include <string_view>

namespace halocline::core {

/// How a CPU names itself. x86: vendor of CPUID, family and model with their extensions. Arm: implementer and part.
struct CpuIdentity {
  enum class Vendor { other, intel, amd, arm, fujitsu } vendor = Vendor::other;
  int family = 0;     ///< of x86
  int model = 0;      ///< of x86: model; of Arm: part
  bool wide = false;  ///< of x86: has AVX-512
};

struct Machine {
  std::string_view name;
  int line_bytes;                ///< of a cache line
  std::int64_t second_level;     ///< a core's share of the second-level cache [bytes]; 0: as the system reports it
  int prefetch_tiles;            ///< how many tiles ahead a kernel requests what it reads once; 0: not at all
  int prefetch_level;            ///< cache into which it does: 1 or 2
  std::int64_t prefetch_beyond;  ///< only where such data take more than so many bytes
};

/// All rows; the last one, "generic", fits any CPU.
std::span<const Machine> machines() noexcept;

/// The row for a CPU of this name.
const Machine& machine_of(const CpuIdentity& cpu) noexcept;

/// This CPU, and its row. A few instructions, or a read of a file of the system on Arm.
CpuIdentity cpu_identity() noexcept;
const Machine& this_machine() noexcept;

}  // namespace halocline::core
