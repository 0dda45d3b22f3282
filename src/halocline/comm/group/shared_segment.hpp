// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Memory that several processes of one node address together, from POSIX shared memory.
///
/// Not a window of MPI: freeing a window is a collective, so a rank that unwinds by an exception would wait for ranks
/// that never come. Here every process has a mapping of its own, and unmaps it when it likes; a neighbour that still
/// stores into the memory of one that has gone does no harm.
///
/// The lowest rank makes the segment under a name that the others are told, all map it, and the name is removed before
/// anything is done with it. From then on the memory lives as long as the last mapping, so that processes that are
/// killed leave nothing behind. Each rank reserves the pages of its own part, which puts them on its NUMA node and
/// finds out that there is no space as an error here, not as a signal at the first store.

#include "halocline/comm/group/backend.hpp"
#include "halocline/comm/group/communicator.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace halocline::comm::detail {

/// @param group  processes of one node
/// @param bytes  the part of this rank; may differ between ranks, and be 0
/// @throws core::Error  on every rank the same: names the rank, the bytes of all parts and the reason
/// Collective: yes.  Cost: two gathers of 8 bytes, two barriers' worth of checks, and clearing the pages.
std::unique_ptr<SharedSegment> map_shared_memory(const Communicator& group, std::size_t bytes);

}  // namespace halocline::comm::detail
