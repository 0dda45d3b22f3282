// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Whether the SVE registers of all processes have one length.
///
/// A build for SVE has registers of one length in its instructions and in the tiles of its fields. A process whose
/// registers are shorter or longer would compute wrong numbers without a word. core::check_cpu() tells of it, but only
/// on this process, and the others would wait for it. The functions that make groups therefore compare the lengths of
/// all processes, in builds for SVE.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/core/cpu.hpp"

namespace halocline::comm {

/// Compares the lengths of all processes with each other and with that of the build.
/// @param bits      length of this process's registers [bits]
/// @param compiled  length of the build's [bits]
/// @throws InvalidArgument  on every rank, the same sentence, with the ranks of each length
/// Collective: yes.  Cost: one all-gather of 8 bytes.
void check_vector_lengths(const Communicator& group, int bits, int compiled);

/// As above for this machine and this build; nothing in a build without SVE.
void check_vector_lengths(const Communicator& group);

}  // namespace halocline::comm
