// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Checks that /dev/shm has room before a library makes shared memory there.
///
/// Where there is no room, Open MPI ends the job, or leaves ranks waiting for each other for ever: its windows
/// (osc_sm) fail on one rank, which returns, while the other ranks wait for its broadcast. So all ranks together
/// first compare the memory that they need with the free space. Segments of our own (shared_segment.hpp) need no such
/// check: they reserve their pages, and a failure is an error on every rank.

#include "halocline/comm/group/communicator.hpp"

#include <cstdint>
#include <string>

namespace halocline::comm::detail {

/// The text of the lowest rank whose text is not empty; empty when there is none. The same on every rank. Collective.
std::string first_reason(const Communicator& group, const std::string& mine);

/// Why /dev/shm is too small on some node. Empty when it has room everywhere, when it cannot be asked, and on nodes
/// with one process of the group. Example: "needs 12 MiB of /dev/shm to start 2 processes on a node, and 1 MiB are
/// free; enlarge it (in a container: --shm-size), or choose another transport"
/// @param bytes    that this rank needs; may differ between ranks, and be 0
/// @param purpose  "start" or "open windows of": the verb of the sentence
/// Collective: yes, the same on every rank.
std::string shared_room_problem(const Communicator& group, std::uint64_t bytes, const std::string& purpose);

/// Why the processes of some node cannot share memory by segments of our own, not even one byte; empty when all can.
/// Collective: yes, the same on every rank.
std::string shared_segment_problem(const Communicator& group);

}  // namespace halocline::comm::detail
