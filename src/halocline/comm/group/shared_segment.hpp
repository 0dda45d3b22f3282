// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Memory that several processes of one node share, from POSIX shared memory.
///
/// It is not an MPI window. Freeing a window is collective, so a rank that unwinds by an exception would wait for
/// ranks that never come. Here every process has a mapping of its own and unmaps it alone. A neighbour may still
/// store into the memory of a process that has gone; this does no harm.
///
/// The lowest rank makes the segment under a name and tells the name to the others. All ranks map the segment, and
/// the name is removed before the memory is used. From then on the memory lives as long as the last mapping, so
/// processes that are killed leave nothing behind. Each rank reserves the pages of its own part, which puts them on
/// its NUMA node. A lack of space is then an error here, and not a signal at the first store.

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/communicator.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace halocline::comm::detail {

/// @param group  processes of one node
/// @param bytes  the part of this rank; may differ between ranks, and be 0
/// @throws core::Error  on every rank the same: names the rank, the bytes of all parts and the reason
/// Collective: yes.  Cost: three all-gathers of 8 bytes, a broadcast of the name (64 bytes), and clearing the pages.
std::unique_ptr<SharedSegment> map_shared_memory(const Communicator& group, std::size_t bytes);

}  // namespace halocline::comm::detail
