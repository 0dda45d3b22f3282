// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Fat and long links of staggered quarks, made in double.
///
/// The fat link of a direction mu is a sum of paths from x to x + mu, without the phases eta:
///   F = c_1 U + c_3 sum_s S_s(U) + c_5 sum_{s,r} S_s(S_r(U)) + c_7 sum_{s,r,n} S_s(S_r(S_n(U))) + c_L sum_s L_s(U),
/// where S_s(M) is the sum of the two staples along s around the matrices M of direction mu,
///   S_s(M)(x) = U_s(x) M(x+s) U_s(x+mu)^dagger + U_s(x-s)^dagger M(x-s) U_s(x-s+mu),
/// the directions in a sum differ from each other and from mu, and L_s goes two steps along s and back. S_s(S_s(M)) has
/// the paths of L_s and twice M itself, which c_1 makes up for.
///
/// S is linear. Therefore F = (c_1 - 6 c_L) U + sum_s S_s(A_s) with A_s = c_3 U + c_L S_s(U) + sum_r S_r(c_5 U + c_7
/// S_n(U)), n being the direction that is left. That are 12 staples for each link, where one path after another takes
/// 18 or more.
///
/// With c_1 = 1/8, c_3 = 1/16, c_5 = 1/64, c_7 = 1/384 and c_L = 0 this is the smearing called fat7, which removes the
/// couplings of gluons of momentum pi (J. F. Lagae and D. K. Sinclair, hep-lat/9806014; hep-lat/9903032). The term c_L
/// was added by G. P. Lepage, hep-lat/9809157.

#include <optional>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/field/gauge_field.hpp"

namespace halocline::qcd::gauge {

/// Coefficients of the paths of a fat link.
struct PathCoefficients {
  double one_link = 1, three_links = 0, five_links = 0, seven_links = 0, lepage = 0;
};

PathCoefficients fat7_coefficients() noexcept;
/// @param u0  tadpole factor: each path has 1/u0 for each link beyond the first
PathCoefficients asqtad_coefficients(double u0 = 1) noexcept;
/// The second smearing of HISQ.
PathCoefficients hisq_coefficients(double epsilon = 0) noexcept;

/// The fat links of u; ghosts of both are valid.
/// Collective: yes.  Cost: 48 staples of 810 flops a site; work memory of 108 numbers a site with ghosts, of four time
/// slices if one process holds the lattice.
GaugeField fat_links(const GaugeField& u, const PathCoefficients& coefficients);

/// N_mu(x) = coefficient U_mu(x) U_mu(x+mu) U_mu(x+2mu); its ghosts are valid.
/// @param depth  ghost layers of the result. @throws InvalidArgument  as GaugeField. Collective: yes.
GaugeField long_links(const GaugeField& u, double coefficient, int depth);

/// Replaces every matrix V by the unitary matrix V (V^dagger V)^(-1/2) that is nearest to it; its determinant is a
/// phase. The inverse square root is a polynomial of second degree in V^dagger V, by the theorem of Cayley and Hamilton
/// (A. Hasenfratz, R. Hoffmann, S. Schaefer, hep-lat/0702028). A matrix whose eigenvalues of V^dagger V have a quotient
/// below 1e-5 takes a singular value decomposition instead.
/// @throws Error  if a matrix is singular to rounding or not finite; names a site and its direction; on every rank
/// Ghosts are valid afterwards. Collective: yes.  Cost: about 1800 flops a link.
void unitarise(GaugeField& v);

struct StaggeredLinks {
  GaugeField fat;
  std::optional<GaugeField> naik;  ///< the long links; absent for the one-link action
};

/// The links of a staggered action, without phases.
/// @param u  links with valid ghosts
/// @throws InvalidArgument  for impossible parameters, or extents below 3 with long links;  @throws Error  as
/// unitarise() Collective: yes.
StaggeredLinks staggered_links(const GaugeField& u, const StaggeredAction& action);

}  // namespace halocline::qcd::gauge
