// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The instruction set this library was compiled for, and whether this machine has it.
///
/// A build is for one instruction set (CMake option HALOCLINE_ISA). A machine without it would stop the program with an
/// illegal instruction. A CPU with another SVE length than the compiled one would silently compute wrong numbers. So
/// every program calls check_cpu() first; check_cpu() itself is compiled for the oldest machine of the architecture.

#include <cstdint>
#include <string>
#include <string_view>

namespace halocline::core {
/// The instruction set of this build's packs: "avx512", "avx2", "sse2", "sve512", "neon" or "scalar".
std::string_view compiled_isa() noexcept;

/// First feature that the build needs and this machine lacks, such as "avx512f" or "SVE registers of 512 bits (it has
/// 256)"; empty if the machine has all.
std::string missing_cpu_feature();

/// Length of this process's SVE registers [bits]; 0 on a CPU without SVE. A system may give a process less than the CPU
/// has.
int sve_register_bits() noexcept;

/// A sentence if this machine has wider registers than those of the build, such as 512-bit SVE for a build with Neon;
/// empty otherwise. Such a build gives right results, at a fraction of the speed.
std::string narrower_than_cpu();

/// The same for a build with registers of `compiled_bits` (its instruction set is `isa`) on a CPU with `cpu_bits`
/// (`cpu_isa`).
std::string narrower_sentence(std::string_view isa, int compiled_bits, std::string_view cpu_isa, int cpu_bits);

/// Checks that this machine has the compiled instruction set.
/// @throws InvalidArgument  it does not; names the missing feature and the CMake option that builds for this machine
/// Collective: no.  Cost: a few instructions.
void check_cpu();

/// As check_cpu(), without the length of SVE registers: for calls that compare it on all processes together
/// (comm::check_vector_lengths), so that no process waits for one that has thrown alone.
void check_instructions();

/// Bytes of a core's share of the second-level cache: of the table of machines (machine.hpp) where several cores share
/// one, else as the operating system reports them; 1 MiB if it reports none.
std::int64_t second_level_cache_bytes() noexcept;

/// Bytes of the last-level cache that the first core shares, as the operating system reports them; 32 MiB if it reports
/// none.
std::int64_t last_level_cache_bytes() noexcept;

/// True if this CPU executes 512-bit instructions in two halves, as the fourth generation of AMD's Zen does.
bool halves_wide_registers() noexcept;

/// Short git revision of the sources, or "unknown" outside a checkout.
std::string_view git_revision() noexcept;
}  // namespace halocline::core
