// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Solves on a coarse level for a number of columns.
///
/// Above the coarsest level a solve is a cycle (solve/multigrid.hpp): alone in a V cycle, and as the preconditioner of
/// flexible GMRES in a K cycle. The smoother is a few steps of GCR on the system of the level (coarse_level.hpp), and
/// the cycle's own coarse solve is a solver of the next level. On the coarsest level a dense inverse gives the
/// solution, or GMRES from which the test vectors are deflated.
///
/// Where a level is gathered on fewer processes, all processes of the level above call its solver. The right-hand side
/// travels to the processes that hold the level, and the solution back, with the numbers of iterations, and with the
/// news if something went wrong.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "halocline/qcd/multigrid/detail/coarse_level.hpp"
#include "halocline/qcd/multigrid/parameters.hpp"

namespace halocline::qcd::multigrid {

class CoarseSolver {
public:
  virtual ~CoarseSolver() = default;
  /// Sets x to an approximate solution of D_c x = b, on the processes of the level above.
  /// @throws core::Error  on every rank, when it is thrown on the processes that hold the level. Collective: yes.
  virtual void operator()(CoarseField& x, const CoarseField& b) = 0;
};

/// @param levels      the level of the solver first, and those below it
/// @param tolerance   at which iterations end
/// @param iterations  one for each level: iterations of its solves, of their slowest columns, are added there; cycles
///                    on a level above the coarsest; the same numbers on every rank. Referred to.
/// Collective: yes.
template <class S>
std::unique_ptr<CoarseSolver> coarse_solver(std::span<const CoarseLevel<S>> levels, int columns,
                                            const std::string& transport, const Parameters& parameters,
                                            double tolerance, std::span<std::int64_t> iterations);

}  // namespace halocline::qcd::multigrid
