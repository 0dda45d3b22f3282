// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The trial of QuarkSolver's "auto": predicts the time of a whole solve by each method.
///
/// The methods work on the same right-hand sides until these have gained three digits. The solutions are thrown away.
/// Iterations and the time of an iteration are measured separately. In a batch of several columns, the first one that
/// is not zero tells the iterations, and a few iterations of the batch their time. Schwarz runs on the whole batch,
/// because its domains depend on the number of columns.
///
/// Iterations: the slowest of the columns counts. Its remaining digits are predicted from the iterations per digit in
/// the later half of the measured digits. The first digits are cheaper: for a point source each costs even-odd BiCGStab
/// a third of a later digit, and Schwarz almost nothing. An average from the start would be too low, by a different
/// factor for each method.
///
/// Time of an iteration: the lower quartile of all iterations but the first. The first iteration is slower, because
/// memory, threads and messages are not warm yet. A disturbance can only lengthen some of the others, so the quartile
/// ignores it.
///
/// The predicted iterations of a solve to 1e-10 were 10 to 40 per cent too low, by factors that agree between the two
/// methods to 15 per cent. This was on a quenched 16^4 configuration (beta 6, csw 1.769) at kappa 0.1335 and 0.1351,
/// with point and noise sources.

#include "halocline/qcd/quark/detail/quark_engine.hpp"

namespace halocline::qcd {

/// The predicted cost of a solve that lowers the residual of every column by a given number of digits.
struct Forecast {
  double iterations = 0;  ///< infinite if the method gains nothing
  double seconds = 0;     ///< of all iterations, on the slowest process
};

/// Predicts the cost of a solve from the beginning of one.
/// @param histories  [column][iteration]: relative residuals; [0] is the start
/// @param ends       seconds from the start to the end of each iteration
/// @param digits     that the solve is to gain
/// Collective: no.
Forecast forecast(std::span<const std::vector<double>> histories, std::span<const double> ends, double digits);

/// Tries even-odd BiCGStab, then deflated CG where there are low modes, then multigrid, then Schwarz where there is
/// one. The later ones get at most half the time that is predicted for the best whole solve so far, Schwarz a fifth,
/// and end sooner where the pace of their first digits cannot be enough.
///
/// Multigrid needs a set-up, so the number of right-hand sides counts. The set-up is begun if BiCGStab would take as
/// long for all of them as 800 of its iterations on one column. Its first pass over the test vectors foretells the time
/// of the whole set-up and of a cycle. It goes on as long as what remains of it, and 20 cycles for each right-hand
/// side, are less than BiCGStab would take. Once it is made, cycles on the first right-hand sides decide, and the time
/// of the set-up counts no more.
/// @param r                 right-hand sides; columns may be zero, but not all
/// @param given             number of right-hand sides, for Trial::columns
/// @param right_hand_sides  that are going to be solved in all, these included
/// @param progress          of the solver; false ends the trial
/// @returns  nothing if `progress` ended the trial
/// Collective: yes; the same result on every rank.  Cost: about a third of a solve by BiCGStab and by Schwarz; a set-up
/// and a third of a solve by multigrid if they pay.
std::optional<Trial> try_methods(QuarkEngine& engine, const SpinorField<double>& r, int given, int right_hand_sides,
                                 double tolerance, const QuarkSolver::Progress& progress);

}  // namespace halocline::qcd
