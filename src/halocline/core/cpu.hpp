// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The instruction set this library was compiled for, and whether this machine has it.
///
/// A build is for one instruction set (CMake option HALOCLINE_ISA). On a machine without it the program would die
/// by an illegal instruction, or, for a fixed SVE length on a CPU with another one, compute wrong numbers silently.
/// So every program calls check_cpu() first: it is compiled for the oldest machine of the architecture.

#include <cstdint>
#include <string_view>

namespace halocline::core {
/// "avx512", "avx2", "sse2", "sve512", "neon" or "scalar": what the packs of this build are made of.
std::string_view compiled_isa() noexcept;

/// First feature the build needs and this machine lacks ("avx512f", "512-bit SVE"); empty when it has them all.
std::string_view missing_cpu_feature() noexcept;

/// Refuses to go on where the machine lacks the compiled instruction set.
/// @throws InvalidArgument  naming the missing feature and the CMake option that would do
/// Collective: no.  Cost: a few instructions.
void check_cpu();

/// Bytes of the second-level cache of a core, as the system tells; 1 MiB where it does not.
std::int64_t second_level_cache_bytes() noexcept;

/// Short git revision of the sources, or "unknown" outside a checkout.
std::string_view git_revision() noexcept;
}  // namespace halocline::core
