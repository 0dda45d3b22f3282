// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Whether /dev/shm has room, asked before a library makes shared memory there.
///
/// Open MPI ends the job, or leaves ranks waiting for each other for ever, where there is none: its windows (osc_sm)
/// find out on one rank, which returns, while the others wait for its broadcast. So what would be made there is
/// compared with the free space first, by all ranks together. Segments of our own (shared_segment.hpp) need no such
/// question: they reserve their pages, and where that fails every rank has an error.

#include "halocline/comm/group/communicator.hpp"

#include <cstdint>
#include <string>

namespace halocline::comm::detail {

/// What the lowest rank says that says anything; empty where none does. The same on every rank. Collective.
std::string first_reason(const Communicator& group, const std::string& mine);

/// Why /dev/shm is too small on some node; empty where it has room everywhere, where it is not there to be asked, and
/// on nodes with one process of the group. "needs 12 MiB of /dev/shm to start 2 processes on a node, and 1 MiB are
/// free; enlarge it (in a container: --shm-size), or choose another transport"
/// @param bytes    of this rank; may differ between ranks, and be 0
/// @param purpose  "start", "open windows of": what the processes do with it
/// Collective: yes, the same on every rank.
std::string shared_room_problem(const Communicator& group, std::uint64_t bytes, const std::string& purpose);

/// Why the processes of some node cannot share even a byte by segments of our own; empty where all can.
/// Collective: yes, the same on every rank.
std::string shared_segment_problem(const Communicator& group);

}  // namespace halocline::comm::detail
