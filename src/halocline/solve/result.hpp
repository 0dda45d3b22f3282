// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The options and the result of a solver.
///
/// Every linear solver takes a `SolveOptions` and returns a `SolveResult`. Its residual is |b - A x| / |b|, recomputed
/// from the solution and not taken from the recursion. So a result never claims more than was reached.

#include <functional>
#include <string>
#include <vector>

namespace halocline::solve {

/// The reason why a solver ended.
enum class Reason {
  converged,        ///< the true residual is within the tolerance
  iteration_limit,  ///< max_iterations were reached
  stagnation,       ///< restarting from the true residual no longer lowers it
  breakdown,        ///< a denominator of the recursion vanished, or its residual exploded, and a restart did not help
  not_finite,       ///< NaN or infinity in the right-hand side, in its square (too large or too small for double), in
                    ///< the initial guess, or in the operator's result
  cancelled,        ///< the progress callback returned false
};

/// The name of the reason, spelled as above.
const char* name(Reason reason) noexcept;

struct SolveOptions {
  double tolerance = 1e-10;                ///< on |b - A x| / |b|, in each column
  std::vector<double> column_tolerance{};  ///< shape (columns,): tolerance of each column; empty: `tolerance`
  int max_iterations = 10000;              ///< for each column; one iteration is one pass of the method's recursion
  int restart_length = 20;                 ///< k of GCR(k) and FGMRES(k)
  bool use_initial_guess = false;          ///< start from the x given; otherwise x is overwritten by zero
  int stagnation_window = 1000;  ///< iterations without a new lowest residual before the recursion is restarted
  double replacement = 0.0;      ///< CG, BiCGStab, FGMRES: recompute the residual when it fell by this factor; 0: never
  /// CG, BiCGStab: decide about replacements at every so many iterations of a cycle, so that columns that are solved
  /// together share them. A column that has fallen by the cube of `replacement` does not wait.
  int replacement_interval = 1;
  double inner_tolerance = 1e-4;  ///< tolerance of defect correction's inner solver; the caller must apply it
  /// Called after every iteration with the number of iterations so far and the worst relative residual among the active
  /// columns. Returning false ends the solve with `cancelled`. All processes must return the same value. On a device x
  /// may then be the solution after one more iteration.
  std::function<bool(int iteration, double residual)> progress;
};

/// Wall-clock time [s], from a steady clock.
struct Timings {
  double total = 0.0;
  double apply = 0.0;  ///< inside the operator; on a device, while the host enqueues it, without iterations in graphs
  double precondition = 0.0;  ///< inside the preconditioner; in defect correction, inside the inner solver
};

struct SolveResult {
  Reason reason = Reason::converged;         ///< the reason of the first column that did not converge
  int iterations = 0;                        ///< of the slowest column
  std::vector<double> residual;              ///< shape (columns,): true relative residual; 0 for a zero right-hand side
  std::vector<Reason> reasons;               ///< shape (columns,)
  std::vector<int> column_iterations;        ///< shape (columns,)
  int replacements = 0;                      ///< within cycles; one serves all columns that want it at an iteration
  std::vector<std::vector<double>> history;  ///< [column][iteration]: relative residual of the recursion; [0]: start
  Timings timings;

  bool converged() const noexcept { return reason == Reason::converged; }
  double worst_residual() const noexcept;
  /// One sentence: reason, iterations, residual and, of several columns, how many failed and the first of them.
  std::string describe() const;
};

}  // namespace halocline::solve
