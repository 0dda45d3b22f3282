// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The instruction set this library was compiled for, and whether this machine has it.
///
/// A build is for one instruction set (CMake option HALOCLINE_ISA). A machine without it would stop the program with an
/// illegal instruction. A CPU with another SVE length than the compiled one would silently compute wrong numbers. So
/// every program calls check_cpu() first; check_cpu() itself is compiled for the oldest machine of the architecture.

#include <cstdint>
#include <string_view>

namespace halocline::core {
/// The instruction set of this build's packs: "avx512", "avx2", "sse2", "sve512", "neon" or "scalar".
std::string_view compiled_isa() noexcept;

/// First feature that the build needs and this machine lacks ("avx512f", "512-bit SVE"); empty if the machine has all.
std::string_view missing_cpu_feature() noexcept;

/// Checks that this machine has the compiled instruction set.
/// @throws InvalidArgument  it does not; names the missing feature and the CMake option that builds for this machine
/// Collective: no.  Cost: a few instructions.
void check_cpu();

/// Bytes of a core's second-level cache as the operating system reports them; 1 MiB if it reports none.
std::int64_t second_level_cache_bytes() noexcept;

/// Bytes of the last-level cache that the first core shares, as the operating system reports them; 32 MiB if it reports
/// none.
std::int64_t last_level_cache_bytes() noexcept;

/// True if this CPU executes 512-bit instructions in two halves, as the fourth generation of AMD's Zen does.
bool halves_wide_registers() noexcept;

/// Short git revision of the sources, or "unknown" outside a checkout.
std::string_view git_revision() noexcept;
}  // namespace halocline::core
