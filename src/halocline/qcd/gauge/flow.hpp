// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The Wilson flow and the scales t0 and w0.
///
/// dV/dt = -g0^2 (d S_Wilson) V = TA(C V^dagger) V with C the sum of the six staples: the links follow the gradient of
/// the plaquette action (M. Luescher, arXiv:1006.4518, eq. 1.4). One step of size e from W0 is his third-order scheme
/// (eq. C.2), Z_i = e TA(C(W_i) W_i^dagger):
///   W1 = exp(Z0/4) W0,  W2 = exp(8/9 Z1 - 17/36 Z0) W1,  V(t+e) = exp(3/4 Z2 - 8/9 Z1 + 17/36 Z0) W2.
/// Its error a step is of order e^4. Adaptive steps compare the result with the embedded second-order one, exp(2 Z1 -
/// Z0) W0 (Fritzsch and Ramos, arXiv:1301.4388, appendix D).
///
/// At the flow time t0, t^2 E(t) = 0.3; at the flow time w0^2, t d/dt [t^2 E(t)] = 0.3 (arXiv:1203.4469). Both are in
/// a^2.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::gauge {

/// One step of the flow, in place; ghosts are valid before and after.
/// @param step  flow time [a^2], positive
/// @throws InvalidArgument  unless step is positive and finite
/// Collective: yes.  Cost: 168 products of 3x3 matrices and 12 exponentials a site; three exchanges of ghosts.
void flow_step(GaugeField& u, double step);

/// Observables at one flow time.
struct FlowPoint {
  double t = 0;                   ///< flow time [a^2]
  double plaquette = 1;           ///< mean Re tr / 3
  double energy_plaquette = 0;    ///< a^4 E from the plaquette
  double energy_clover = 0;       ///< a^4 E from the clover
  double topological_charge = 0;  ///< clover definition

  double t2_energy_plaquette() const { return t * t * energy_plaquette; }
  double t2_energy_clover() const { return t * t * energy_clover; }
};

struct FlowParameters {
  double t_max = 1;         ///< flow time at the end [a^2]
  double step = 0.02;       ///< step, or the first one where adaptive [a^2]
  bool adaptive = false;    ///< choose the step so that no link errs by more than `tolerance` a step
  double tolerance = 1e-6;  ///< largest distance of a link between the two orders, where adaptive
  int measure_every = 1;    ///< steps between points; t = 0 and the end are always measured
};

/// Result of wilson_flow.
struct FlowReport {
  std::string reason;  ///< "reached t_max" or "cancelled"
  std::vector<FlowPoint> points;
  int steps = 0;             ///< accepted
  int rejected = 0;          ///< repeated with a smaller step, where adaptive
  std::optional<double> t0;  ///< [a^2], clover energy; absent where t^2 E has not reached 0.3
  std::optional<double> w0;  ///< [a], clover energy; absent where t d/dt t^2 E has not reached 0.3
};

/// Called after each point, on every rank; false on any rank cancels on all.
using FlowProgress = std::function<bool(const FlowPoint&)>;

/// Flows `u` from t = 0 to t_max in place.
/// @throws InvalidArgument  for parameters that are not positive and finite, on every rank
/// Collective: yes.  Cost: flow_step for every step; a point costs about a third of a step. Adaptive steps keep one
/// more copy of the links.
FlowReport wilson_flow(GaugeField& u, const FlowParameters& parameters, const FlowProgress& progress = {});

/// Flow time at which t^2 E reaches `level` for the first time, by the cubic through the four nearest points.
/// @param points  in order of t; clover energies are used
/// Collective: no.
std::optional<double> flow_scale_t0(std::span<const FlowPoint> points, double level = 0.3);

/// w0 = sqrt(t) at which t d/dt (t^2 E) reaches `level` for the first time, by differences of neighbouring points:
/// the error is of second order in their distance.
std::optional<double> flow_scale_w0(std::span<const FlowPoint> points, double level = 0.3);

}  // namespace halocline::qcd::gauge
