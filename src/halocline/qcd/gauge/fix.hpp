// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Landau and Coulomb gauge by over-relaxation, even sites and odd sites in turn.
///
/// The gauge is where F[g] = sum_x sum_mu Re tr g(x) U_mu(x) g(x+mu)^dagger is at a maximum over g, mu over x y z t
/// for Landau and x y z for Coulomb. With K(x) = sum_mu [U_mu(x) + U_mu(x-mu)^dagger], the best change of g at a single
/// site maximises Re tr g K. A pass through the three SU(2) subgroups climbs towards this maximum (the "Los Alamos"
/// method, de Forcrand, Nucl. Phys. B (Proc. Suppl.) 9 (1989) 520). The change is over-relaxed by a factor omega
/// (Mandula and Ogilvie, Phys. Lett. B 248 (1990) 156): 1 + omega (g - 1), made unitary again, takes the place of g
/// unless that would lower F. So F never falls.
///
/// At the maximum the divergence Delta(x) = sum_mu [A_mu(x) - A_mu(x-mu)] of A = [(U - U^dagger) / 2i] without trace is
/// zero. theta = mean over x of tr(Delta Delta^dagger) / 3 measures the distance from this condition.
///
/// The maximum reached is one of many (Gribov copies), the same one for any process grid.

#include "halocline/qcd/field/gauge_field.hpp"

#include <functional>
#include <string>
#include <vector>

namespace halocline::qcd::gauge {

/// State of a gauge fixing.
struct FixPoint {
  int iterations = 0;     ///< each updates both parities
  double theta = 0;       ///< mean of tr(Delta Delta^dagger) / 3
  double functional = 0;  ///< mean of Re tr U_mu / 3 over the links of the gauge condition
};

struct FixParameters {
  double tolerance = 1e-12;    ///< stop at theta <= tolerance; 1e-28 or so is what double can reach
  int max_iterations = 10000;  ///< stop here at the latest
  double omega = 1.7;          ///< over-relaxation, 1 (none) <= omega < 2
  int check_every = 10;        ///< iterations between measurements of theta; the links are reunitarised there
};

struct FixReport {
  std::string reason;  ///< "converged", "iteration limit", "cancelled" or "not finite" (NaN in the links)
  bool converged = false;
  int iterations = 0;
  double theta = 0;
  double functional = 0;
  std::vector<FixPoint> history;  ///< at the start and at every check
};

/// Called at every check, on every rank; false on any rank cancels on all.
using FixProgress = std::function<bool(const FixPoint&)>;

/// Transforms `u` in place to Landau gauge: d_mu A_mu = 0 over x y z t. Ghosts are valid before and after.
/// @throws InvalidArgument  for parameters out of range or an odd extent of the lattice, on every rank
/// Collective: yes.  Cost an iteration: 4 products of 3x3 matrices, five subgroup steps each with two half products,
/// about 2000 flops a site; two exchanges of 18 doubles a site.
FixReport fix_landau(GaugeField& u, const FixParameters& parameters = {}, const FixProgress& progress = {});

/// Transforms `u` in place to Coulomb gauge: d_i A_i = 0 over x y z on every time slice. The rest as fix_landau.
FixReport fix_coulomb(GaugeField& u, const FixParameters& parameters = {}, const FixProgress& progress = {});

/// theta of Landau gauge: below about 1e-8 the field has been fixed; a thermalised field has about 1.
/// Collective: yes.  Cost: one pass over the links.
double landau_theta(const GaugeField& u);

/// theta of Coulomb gauge, as landau_theta.
double coulomb_theta(const GaugeField& u);

}  // namespace halocline::qcd::gauge
