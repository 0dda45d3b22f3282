// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Exchange and correlation at a point, by libxc: local functionals, those with gradient corrections, and meta-GGA,
/// which depend on the kinetic energy density of the orbitals too.
///
/// Local: "pz" (Perdew and Zunger 1981), "pz-mod" (the same with more digits in the constants, so that energy and
/// potential are continuous at r_s = 1, where "pz" jumps by 3e-5 hartree), "pw" (Perdew and Wang 1992, the modified
/// constants), "pade" (Goedecker, Teter and Hutter 1996), "x" (exchange only), "none".
/// With gradients: "pbe" (Perdew, Burke and Ernzerhof, Phys. Rev. Lett. 77, 3865, 1996), "pbesol" (Perdew et al., Phys.
/// Rev. Lett. 100, 136406, 2008), "revpbe" (Zhang and Yang, Phys. Rev. Lett. 80, 890, 1998), "blyp" (Becke 1988, Lee,
/// Yang and Parr 1988).
/// Meta-GGA: "r2scan" (Furness, Kaplan, Ning, Perdew and Sun, J. Phys. Chem. Lett. 11, 8208, 2020), "scan" (Sun,
/// Ruzsinszky and Perdew, Phys. Rev. Lett. 115, 036402, 2015), "tpss" (Tao, Perdew, Staroverov and Scuseria, Phys. Rev.
/// Lett. 91, 146401, 2003), and "tb-mbj" (Tran and Blaha, Phys. Rev. Lett. 102, 226401, 2009): a potential for band
/// gaps, with the correlation of "pw". No energy belongs to it; that of "pw" stands in its place. Its parameter c
/// follows from the density, or is given behind the name, as in "tb-mbj:1.12".
/// In empty cores, where pseudo-orbitals almost vanish, meta-GGAs are evaluated without gradients (xc.cpp). Any other
/// functional of these kinds by its names in libxc, as in "gga_x_pbe+gga_c_lyp".

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::tddft {

/// The fields that a functional depends on. Those that it does not need are empty.
struct XcFields {
  std::span<const double> n;          ///< shape (spins, points) [1/bohr^3]; negative values count as zero
  std::span<const double> gradient;   ///< of the densities, shape (spins, 3, points) [1/bohr^4]
  std::span<const double> laplacian;  ///< of the densities, shape (spins, points) [1/bohr^5]
  /// Kinetic energy density, sum f |grad psi|^2 / 2, shape (spins, points) [hartree/bohr^3].
  std::span<const double> kinetic;
};

/// What follows from them, with f(n, grad n, kinetic) the energy in a volume. All are overwritten.
struct XcResult {
  std::span<double> f;              ///< shape (points,) [hartree/bohr^3]; may be empty
  std::span<double> v;              ///< df/dn, shape (spins, points) [hartree]
  std::span<double> flux;           ///< df/d(grad n), shape (spins, 3, points) [hartree bohr]
  std::span<double> kinetic_slope;  ///< df/d(kinetic), shape (spins, points)
};

class ExchangeCorrelation {
public:
  /// @param spins  1 or 2
  /// @throws InvalidArgument  an unknown name; lists the known ones. A functional of libxc of another kind (hybrids,
  /// those of the Laplacian of the density), or without energy other than "tb-mbj"
  ExchangeCorrelation(std::string_view name, int spins);
  ExchangeCorrelation(ExchangeCorrelation&&) noexcept;
  ~ExchangeCorrelation();

  /// The short names.
  static std::vector<std::string> names();
  /// The short name if there is one, else the names of libxc.
  const std::string& name() const noexcept;
  /// Whether the functional depends on the gradient of the density.
  bool has_gradients() const noexcept;
  /// Whether it depends on the kinetic energy density.
  bool has_kinetic() const noexcept;
  /// Whether it is a potential that no energy belongs to: "tb-mbj". It needs the Laplacian too.
  bool is_potential() const noexcept;
  /// Whether it depends on the mean slope of the density over the cell: "tb-mbj" without c.
  bool has_mean_slope() const noexcept;
  /// Sets c of "tb-mbj" where it was not given, from the mean of |grad n| / n over the cell [1/bohr]: c = -0.012
  /// + 1.023 sqrt(mean) (Tran and Blaha, equation 3).
  void set_mean_slope(double mean);

  /// @param v  shape (spins, points) [hartree], overwritten
  /// @param n  shape (spins, points) [1/bohr^3]; negative values count as zero
  /// @return sum over the points of n eps_xc, not multiplied by the volume of a point
  /// @throws InvalidArgument  spans of other lengths; a functional with gradients
  /// Pointwise; collective: no.
  double evaluate(std::span<double> v, std::span<const double> n) const;

  /// The same for functionals of densities and gradients; see XcFields and XcResult.
  double evaluate(std::span<double> v, std::span<double> flux, std::span<const double> n,
                  std::span<const double> gradient) const;
  /// The same for any functional.
  /// @throws InvalidArgument  a field that the functional needs is missing, or spans of other lengths
  double evaluate(const XcResult& result, const XcFields& fields) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::tddft
