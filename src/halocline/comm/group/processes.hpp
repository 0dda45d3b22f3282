// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What the operating system tells of the processes of one node: whether one has ended, and on which CPUs it may run.
///
/// A process is known by its number and by the namespace that the number is valid in. Ranks in containers of their own
/// cannot ask for one another; then nothing is known, which counts as alive.

#include <array>
#include <cstdint>
#include <span>

namespace halocline::comm::detail {

/// Plain data, to be gathered from all ranks of a node.
struct ProcessRecord {
  std::int64_t number = 0;               ///< the process id
  std::uint64_t space = 0;               ///< the namespace of process ids; 0 when it is not known
  std::array<std::uint64_t, 16> cpus{};  ///< a bit for each of the first 1024 CPUs that it may run on
};

ProcessRecord this_process() noexcept;

/// The number by which this process can ask for the other; 0 when it cannot.
std::int64_t number_of(const ProcessRecord& other, const ProcessRecord& mine) noexcept;

/// The process has ended; whether its parent has noticed (a zombie) does not matter. @param number  0 is never ended
bool has_ended(std::int64_t number) noexcept;

/// CPUs on which at least one of these processes may run.
int cpus_of(std::span<const ProcessRecord> processes) noexcept;

}  // namespace halocline::comm::detail
