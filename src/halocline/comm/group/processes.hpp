// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Asks the operating system about the processes of one node: whether one has ended, and on which CPUs it may run.
///
/// A process is known by its number and by the namespace in which the number is valid. Ranks in different containers
/// cannot see each other's processes; such a process counts as alive.

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

/// True when the process has ended, even if its parent has not noticed (a zombie). @param number  0 gives false
bool has_ended(std::int64_t number) noexcept;

/// CPUs on which at least one of these processes may run.
int cpus_of(std::span<const ProcessRecord> processes) noexcept;

}  // namespace halocline::comm::detail
