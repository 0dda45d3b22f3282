// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The trial of QuarkSolver's "auto": predicts the time of a whole solve by each method, and loses little time with it.
///
/// A method that runs on the whole batch begins the solve itself (ColumnSolves::begin). It is ended only if another one
/// is predicted to be faster, and begins anew if it is chosen after all. The solution has the bits of the method given
/// by name.
///
/// - Even-odd BiCGStab begins. With several columns, the first one that is not zero is solved alone instead, until
///   it can be judged, and a few iterations of the batch tell their time.
/// - Multigrid is set up as soon as BiCGStab is predicted to take longer (below).
/// - One iteration of Schwarz, on one column, tells whether its time rules it out: it is worth a limited number of
///   BiCGStab's. Where it does not, the methods are compared after three digits of BiCGStab.
///
/// Iterations: the slowest of the columns counts. Its remaining digits are predicted from the later half of the
/// iterations. The first two digits come easily. An average from the start would be too low, by a different factor for
/// each method. A pause of the residual is not its end, so a digit is never predicted to take more than eight times the
/// average.
///
/// Time of an iteration: the lower quartile of all iterations but the first. The first iteration is slower, because
/// memory, threads and messages are not warm yet. A disturbance can only lengthen some of the others, so the quartile
/// ignores it.
///
/// Predicted and real iterations of BiCGStab to 1e-10 (quenched 16^4, beta 6, three stout steps of 0.1, csw 1; noise,
/// point source):
///
///   | mass   | after 80 iterations | real       |
///   |--------|---------------------|------------|
///   | -0.05  | 197, 203            | 202, 204   |
///   | -0.08  | 495, 446            | 436, 453   |
///   | -0.09  | 1166, 798           | 768, 731   |
///   | -0.095 | 2524, 2014          | 1036, 1061 |
///   | -0.10  | 2908, 2648          | 2932, 2524 |

#include "halocline/qcd/quark/detail/column_solves.hpp"
#include "halocline/qcd/quark/detail/quark_engine.hpp"

namespace halocline::qcd {

/// The predicted cost of a solve that lowers the residual of every column by a given number of digits.
struct Forecast {
  double iterations = 0;         ///< infinite if the method gains nothing
  double iteration_seconds = 0;  ///< of one of them, on the slowest process; 0 if none was timed
  double seconds = 0;            ///< of all iterations
};

/// Predicts the cost of a solve from the beginning of one.
/// @param histories  [column][iteration]: relative residuals; [0] is the start
/// @param ends       seconds from the start to the end of each iteration
/// @param digits     that the solve is to gain
/// Collective: no.
Forecast forecast(std::span<const std::vector<double>> histories, std::span<const double> ends, double digits);

/// Tries even-odd BiCGStab, then deflated CG where there are low modes, then multigrid, then Schwarz where there is one
/// and its time does not rule it out. A method ends when what remains of its solve would take longer than the best
/// whole solve so far.
///
/// Multigrid needs a set-up, so the number of right-hand sides counts. The set-up is begun if BiCGStab is predicted to
/// take longer for all of them, by what both take in iterations of BiCGStab elsewhere. Its first pass over the test
/// vectors foretells the time of the whole set-up and of a cycle. It goes on as long as what remains of it, and 16
/// cycles for each right-hand side, are less than BiCGStab would take. Once it is made, the cycles on the first
/// right-hand sides decide, and the time of the set-up counts no more.
/// @param r                 right-hand sides; columns may be zero, but not all
/// @param given             number of right-hand sides, for Trial::columns
/// @param right_hand_sides  that are going to be solved in all, these included
/// @param progress          of the solver; false ends the trial
/// @param solves            whose first correction by the chosen method may be made here, from the same `r`; without
///                          one, methods are tried to three digits and their solutions thrown away
/// @returns  nothing if `progress` ended the trial
/// Collective: yes; the same result on every rank.  Cost: with `solves`, of what is not part of the solve by the chosen
/// method: 80 iterations of BiCGStab on one column, and one of Schwarz, or where Schwarz may win a third of a solve by
/// BiCGStab. Without, a third of a solve by each method.
std::optional<Trial> try_methods(QuarkEngine& engine, const SpinorField<double>& r, int given, int right_hand_sides,
                                 double tolerance, const QuarkSolver::Progress& progress,
                                 ColumnSolves* solves = nullptr);

}  // namespace halocline::qcd
