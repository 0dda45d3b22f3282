// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// How long a whole solve would take by either of two methods: the trial of QuarkSolver's "auto".
///
/// Each method works on the same right-hand sides, as many as will be solved together, until they have gained three
/// digits, and its solution is thrown away. Two things are measured apart. Iterations: those that the slowest column
/// took for its digits, and for the digits to come the pace of the later half of them. The first digits of a point
/// source cost an even-odd BiCGStab a third of what each later one does, and Schwarz next to nothing, so a pace from
/// the start would promise too much, and not to both alike. Seconds of an iteration: the lower quartile of those
/// after the first, which makes memory, threads and messages warm; so neither what is made once nor a disturbance,
/// which only ever lengthens some of them, counts.
///
/// On a quenched 16^4 configuration (beta 6, csw 1.769) at kappa 0.1335 and 0.1351, with point and noise sources, the
/// iterations of a solve to 1e-10 are predicted 10 to 40 percent too low, and for both methods alike to 15 percent.

#include "halocline/qcd/quark/detail/quark_engine.hpp"

namespace halocline::qcd {

/// What a method would take to gain `digits` of the residual in every column.
struct Forecast {
  double iterations = 0;  ///< infinite where the method gains nothing
  double seconds = 0;     ///< of all of them, on the slowest process
};

/// From the relative residuals of each column, beginning with that of the start, and the seconds since then at which
/// the iterations ended. Not collective.
Forecast forecast(std::span<const std::vector<double>> histories, std::span<const double> ends, double digits);

/// Tries even-odd BiCGStab, then Schwarz, which gets at most half the time that the whole solve by the other would
/// take.
/// @param r         right-hand sides, columns of zeros among them if need be; one is not zero
/// @param given     right-hand sides that count as such
/// @param progress  of the solver; false ends the trial
/// @returns  nothing where the trial was ended so
/// Collective: yes; the same result on every rank.  Cost: about a third of a solve by each.
std::optional<Trial> try_methods(QuarkEngine& engine, const SpinorField<double>& r, int given, double tolerance,
                                 const QuarkSolver::Progress& progress);

}  // namespace halocline::qcd
