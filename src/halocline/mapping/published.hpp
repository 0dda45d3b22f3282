// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Published measurements of the domain solver of lattice QCD on Fugaku, as inputs of the model (model.hpp).
///
/// "Proceedings" is the paper on the benchmark of the whole machine (arXiv 2109.10687; tables 4 and 7 here, table 6 in
/// network.cpp). "Report" is IPSJ 2020-HPC-177 on its communication (table 4, of 500 iterations and 10,000 exchanges on
/// 432 nodes). Nothing here is fitted: every number is read from a table, or is a quotient of two such numbers.

#include "halocline/mapping/model.hpp"

namespace halocline::mapping::published {

inline constexpr int table_iterations = 500;     ///< of the report's table 4
inline constexpr int exchanges = 20;             ///< in an iteration: two operators of ten each; report, section 3.1
inline constexpr double computation = 0.400e-3;  ///< [s] of an iteration, all_calc; proceedings, table 7

/// [s] of an exchange: row "full" of the report's table 4, send and send post.
inline constexpr double posting = (0.0182 + 0.0331) / (table_iterations * exchanges);

/// [s] of waiting for other processes in one sum, at 1728 processes: row "full" of the report's table 4. There the sums
/// of 500 iterations take 0.0167 s after a barrier, and 0.0339 s without one.
inline constexpr double waiting = (0.0339 - 0.0167) / (table_iterations * 4);
inline constexpr std::int64_t waiting_processes = 1728;

/// Flops of an iteration on one process of 32x6x4x3 sites: proceedings, table 4. The report's 39406 for each site and
/// operator, counted twice an iteration, would be 31 % more even without the vector updates, which the tables include.
inline constexpr double process_flops = 69254421000.0 / table_iterations;

/// Sites of a process and seconds of an iteration on two processes of one node: proceedings, table 4. The times include
/// the exchanges, which stay within the node's memory.
ComputationTable two_processes();

/// An iteration at 32x6x4x3 sites on each process, with the jitter of the hardware barrier.
Iteration domain_solver();

}  // namespace halocline::mapping::published
