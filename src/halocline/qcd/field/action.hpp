// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Parameters of the fermion actions, in the conventions of docs/conventions.md.
///
/// Wilson-clover:
/// D = (m0 + 1 + 3 nu/xi0) - 1/2 sum_mu c_mu [(1 - gamma_mu) U_mu(x) delta_{x+mu} + (1 + gamma_mu) U_mu(x-mu)^dagger
/// delta_{x-mu}] + sum_{mu<nu} c_munu (i/2) sigma_munu F_munu, with c_mu = nu/xi0 in space and 1 in time, c_munu = csw
/// for planes of space and csw_t for planes with time. On an isotropic lattice (xi0 = nu = 1, csw_t = csw) this is the
/// usual operator with 4 + m0 on the diagonal and unit hopping.
///
/// Twisted clover: D(mu) = D + i mu gamma5, one flavour of the doublet of Frezzotti, Grassi, Sint and Weisz
/// (hep-lat/0101001) in the twisted basis; the other flavour has -mu. D(mu)^dagger = gamma5 D(-mu) gamma5, and
/// D(mu)^dagger D(mu) = (gamma5 D)^2 + mu^2.
///
/// Twisted doublet: two flavours of different masses, D = D_W + i mu gamma5 tau_1 + epsilon tau_3 on pairs (psi_0,
/// psi_1), where D_W is the Wilson-clover operator of both and tau acts on the pair (R. Frezzotti, G. C. Rossi,
/// hep-lat/0311008; T. Chiarappa et al., hep-lat/0606011). mu is their mu_sigma and epsilon their mu_delta. D^dagger =
/// gamma5 tau_3 D gamma5 tau_3.
///
/// Domain wall, in the form of Moebius (R. C. Brower, H. Neff, K. Orginos, hep-lat/0409118 and arXiv:1206.5214), on
/// fields psi(s), s = 0 ... Ls - 1:
/// D psi(s) = (b_s D_W + 1) psi(s) + (c_s D_W - 1) [P_- psi(s+1) + P_+ psi(s-1)], P_+- = (1 +- gamma5) / 2, where D_W
/// is the Wilson operator of mass -M5, and the neighbours across the ends, psi(Ls) and psi(-1), are -m psi(0) and -m
/// psi(Ls-1). b = 1 and c = 0 is the action of Shamir; b = c = 1 that of Borici. The quark is q = P_- psi(0) + P_+
/// psi(Ls-1).
///
/// Staggered, with one spin. D = m + 1/2 sum_mu eta_mu(x) [ F_mu(x) delta_{x+mu} - F_mu(x-mu)^dagger delta_{x-mu}
/// + N_mu(x) delta_{x+3mu} - N_mu(x-3mu)^dagger delta_{x-3mu} ] with the phases eta_t = 1, eta_x = (-1)^t,
/// eta_y = (-1)^(t+x), eta_z = (-1)^(t+x+y), as MILC has them. F are the fat links and N the long links
/// (gauge/staggered_links.hpp):
///   - one-link: F = U and no long links (Kogut and Susskind);
///   - asqtad: F from paths of up to seven links, N = -1/24 U U U (K. Orginos, D. Toussaint, R. L. Sugar,
///     hep-lat/9903032), with tadpole factors 1/u0 for each link beyond the first;
///   - HISQ: links smeared by paths of up to seven links, projected to U(3), and smeared again as for asqtad
///     (E. Follana et al., hep-lat/0610092). N = -(1 + epsilon)/24 W W W of the projected links W.
/// D - m is anti-hermitian, so D^dagger D = m^2 - (D - m)^2 connects sites of one parity alone.

#include <array>
#include <complex>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace halocline::qcd {

struct WilsonCloverAction {
  double mass = 0;                                                ///< m0, bare mass
  double csw = 0;                                                 ///< clover coefficient; 0 is plain Wilson
  std::array<std::complex<double>, 4> boundary{1., 1., 1., -1.};  ///< phase of psi across each edge; modulus one
  double xi0 = 1;                                                 ///< bare anisotropy a_s / a_t
  double nu = 1;                                                  ///< bare fermion anisotropy
  std::optional<double> csw_t{};                                  ///< clover coefficient of time planes; unset: csw

  double diagonal() const { return mass + 1 + 3 * nu / xi0; }
  double hopping(int axis) const { return axis == 3 ? 1.0 : nu / xi0; }
  double clover(int mu, int nu_axis) const { return mu == 3 || nu_axis == 3 ? csw_t.value_or(csw) : csw; }
  bool has_clover() const { return csw != 0 || csw_t.value_or(0) != 0; }
  bool operator==(const WilsonCloverAction&) const = default;

  /// @throws InvalidArgument  for a number that is not finite, a boundary phase whose modulus is not one, xi0 <= 0, or
  ///                          a diagonal m0 + 1 + 3 nu/xi0 that is not positive
  void validate() const;
};

struct TwistedCloverAction {
  WilsonCloverAction wilson{};
  double mu = 0;  ///< twisted mass; 0 is the Wilson-clover action

  /// @throws InvalidArgument  as WilsonCloverAction::validate(), and for a mu that is not finite
  void validate() const;
};

struct TwistedDoubletAction {
  WilsonCloverAction wilson{};
  double mu = 0;       ///< twisted mass, of tau_1
  double epsilon = 0;  ///< splitting of the masses, of tau_3

  /// @throws InvalidArgument  as WilsonCloverAction::validate(), and for a number that is not finite
  void validate() const;
};

struct DomainWallAction {
  double mass = 0;                          ///< m, the quark mass
  double m5 = 1.8;                          ///< M5, the height of the wall: positive, as Grid has it; Chroma's OverMass
  int ls = 8;                               ///< Ls, points of the fifth dimension
  std::vector<std::complex<double>> b{1.};  ///< b_s; one number for all s, or Ls of them
  std::vector<std::complex<double>> c{0.};  ///< c_s
  std::array<std::complex<double>, 4> boundary{1., 1., 1., -1.};  ///< phase of psi across each edge; modulus one

  /// D_W, the Wilson action of mass -M5.
  WilsonCloverAction wilson() const { return {.mass = -m5, .boundary = boundary}; }
  std::complex<double> b_at(int s) const { return b.size() == 1 ? b[0] : b[static_cast<std::size_t>(s)]; }
  std::complex<double> c_at(int s) const { return c.size() == 1 ? c[0] : c[static_cast<std::size_t>(s)]; }

  /// @throws InvalidArgument  for an Ls that is odd or not between 4 and 64, an M5 that is not between 0 and 2, lists
  ///                          of other lengths, b and c that are both zero, a number that is not finite, or a boundary
  ///                          phase whose modulus is not one
  void validate() const;
};

enum class StaggeredKind { one_link, asqtad, hisq };
/// "one-link", "asqtad" or "hisq"
const char* name(StaggeredKind kind) noexcept;
/// @throws InvalidArgument  another name
StaggeredKind staggered_kind(const std::string& name);

struct StaggeredAction {
  double mass = 0;  ///< m; MILC's mass. The code of MILC has 2 m on the diagonal of 2 D
  StaggeredKind kind = StaggeredKind::hisq;
  double epsilon = 0;                                             ///< of HISQ: correction for heavy quarks
  double u0 = 1;                                                  ///< of asqtad: the fourth root of the plaquette
  std::array<std::complex<double>, 4> boundary{1., 1., 1., -1.};  ///< phase of psi across each edge; modulus one

  bool has_long_links() const noexcept { return kind != StaggeredKind::one_link; }
  /// Length of the longest step.
  int reach() const noexcept { return has_long_links() ? 3 : 1; }

  /// @throws InvalidArgument  for a mass that is not positive, a u0 that is not between 0 and 1 or not for asqtad, an
  ///                          epsilon that is not for HISQ, a number that is not finite, or a boundary phase whose
  ///                          modulus is not one
  void validate() const;
};

/// The actions of quarks. To add one, add an alternative here and its DiracSetup in quark/dirac_setup.cpp.
using Action =
    std::variant<WilsonCloverAction, TwistedCloverAction, TwistedDoubletAction, DomainWallAction, StaggeredAction>;

/// Complex numbers of a quark at one site: 3 for staggered quarks, else 12.
int components(const Action& action) noexcept;
inline bool is_staggered(const Action& action) noexcept { return std::holds_alternative<StaggeredAction>(action); }

/// Flavours of a quark's array: 2 for a doublet, else 1.
int flavours(const Action& action) noexcept;

/// The Wilson-clover part of an action. @throws InvalidArgument  for domain walls and staggered quarks
const WilsonCloverAction& wilson_part(const Action& action);
/// The Wilson-clover action whose hop and clover term an action contains: for domain walls that of the mass -M5.
/// @throws InvalidArgument  for staggered quarks
WilsonCloverAction hopping_part(const Action& action);
/// Points of a fifth dimension, or flavours of a doublet: columns of one right-hand side. Else 1.
int points(const Action& action) noexcept;
/// @param what  "multigrid": a part of the library that knows the Wilson and twisted actions alone
/// @throws InvalidArgument  for domain walls and staggered quarks; names `what`
void require_wilson_quarks(const Action& action, const char* what);
/// @throws InvalidArgument  for domain walls and doublets; names `what`
void require_four_dimensions(const Action& action, const char* what);
/// The twisted mass mu of one flavour; 0 for other actions.
double twisted_mass(const Action& action) noexcept;
/// mu^2, or mu^2 - epsilon^2 of a doublet, beside A^2 in the inverse of the site term; nothing without a twisted mass.
std::optional<double> twisted_square(const Action& action) noexcept;
/// @throws InvalidArgument  as validate() of the action that it holds
void validate(const Action& action);

/// kappa = 1 / (8 + 2 m0)
/// @throws InvalidArgument  for m0 = -4, or a mass that is not finite
double kappa_from_mass(double mass);
/// m0 = 1 / (2 kappa) - 4
/// @throws InvalidArgument  unless kappa is positive and finite
double mass_from_kappa(double kappa);

}  // namespace halocline::qcd
