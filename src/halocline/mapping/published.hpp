// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What was printed about the domain solver of lattice QCD on Fugaku, as inputs of the model (model.hpp).
///
/// "Proceedings" is arXiv 2109.10687's companion on the benchmark of the whole machine (tables 4, 6, 7), "report" is
/// IPSJ 2020-HPC-177 on its communication (tables 4 and 5, both at 500 iterations, 10,000 exchanges). Nothing here is
/// fitted: every number is read off, or a quotient of two that are.

#include "halocline/mapping/model.hpp"

namespace halocline::mapping::published {

inline constexpr int table_iterations = 500;     ///< of the report's table 4
inline constexpr int exchanges = 20;             ///< an iteration: two operators of ten each; report, section 3.1
inline constexpr double computation = 0.400e-3;  ///< [s] an iteration, all_calc; proceedings, table 7

/// [s] an exchange: row "full" of the report's table 4, send and send post.
inline constexpr double posting = (0.0182 + 0.0331) / (table_iterations * exchanges);

/// [s] a sum, waiting for others at 1728 processes: row "full" of the report's table 4, where the sums of 500
/// iterations take 0.0167 s after a barrier, and 0.0339 s without one.
inline constexpr double waiting = (0.0339 - 0.0167) / (table_iterations * 4);
inline constexpr std::int64_t waiting_processes = 1728;

/// [s] sums of one to three numbers over 27648 nodes, with the hardware barrier and without; means of the averages of
/// the proceedings' table 6.
inline constexpr std::int64_t reduction_nodes = 27648;
inline constexpr double hardware_reduction = (9.46e-6 + 9.50e-6 + 9.57e-6) / 3;
inline constexpr double software_reduction = (62.83e-6 + 62.91e-6 + 62.94e-6) / 3;

/// Sites of a process and seconds of an iteration on two processes of one node: proceedings, table 4. Its exchanges are
/// in it, but nothing travels further than the node's own memory.
ComputationTable two_processes();

/// An iteration at 32x6x4x3 sites a process, with the hardware barrier's jitter.
Iteration domain_solver();

}  // namespace halocline::mapping::published
