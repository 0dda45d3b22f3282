// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What was printed about the domain solver of lattice QCD on Fugaku, as inputs of the model (model.hpp).
///
/// "Proceedings" is the paper on the benchmark of the whole machine (arXiv 2109.10687; tables 4 and 7 here, table 6 in
/// network.cpp), "report" is IPSJ 2020-HPC-177 on its communication (table 4, of 500 iterations and 10,000 exchanges on
/// 432 nodes). Nothing here is fitted: every number is read off, or a quotient of two that are.

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

/// Operations of an iteration on one process of 32x6x4x3 sites: proceedings, table 4. The report's 39406 a site and
/// operator, twice an iteration, would be 31 % more before the vector updates, which the tables contain.
inline constexpr double process_flops = 69254421000.0 / table_iterations;

/// Sites of a process and seconds of an iteration on two processes of one node: proceedings, table 4. Its exchanges are
/// in it, but nothing travels further than the node's own memory.
ComputationTable two_processes();

/// An iteration at 32x6x4x3 sites a process, with the hardware barrier's jitter.
Iteration domain_solver();

}  // namespace halocline::mapping::published
