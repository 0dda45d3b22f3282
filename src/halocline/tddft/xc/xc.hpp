// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Exchange and correlation at a point, by libxc: local functionals and those with gradient corrections.
///
/// Local: "pz" (Perdew and Zunger 1981), "pz-mod" (the same with more digits in the constants, so that energy and
/// potential are continuous at r_s = 1, where "pz" jumps by 3e-5 hartree), "pw" (Perdew and Wang 1992, the modified
/// constants), "pade" (Goedecker, Teter and Hutter 1996), "x" (exchange only), "none".
/// With gradients: "pbe" (Perdew, Burke and Ernzerhof, Phys. Rev. Lett. 77, 3865, 1996), "pbesol" (Perdew et al., Phys.
/// Rev. Lett. 100, 136406, 2008), "revpbe" (Zhang and Yang, Phys. Rev. Lett. 80, 890, 1998), "blyp" (Becke 1988, Lee,
/// Yang and Parr 1988).
/// Any other local or gradient-corrected functional of libxc by its names there, as in "gga_x_pbe+gga_c_lyp".

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::tddft {

class ExchangeCorrelation {
public:
  /// @param spins  1 or 2
  /// @throws InvalidArgument  an unknown name; lists the known ones. A functional of libxc that needs more than
  /// densities and their gradients (hybrids, meta-GGA), or has no energy
  ExchangeCorrelation(std::string_view name, int spins);
  ExchangeCorrelation(ExchangeCorrelation&&) noexcept;
  ~ExchangeCorrelation();

  /// The short names.
  static std::vector<std::string> names();
  /// The short name if there is one, else the names of libxc.
  const std::string& name() const noexcept;
  /// Whether the functional depends on the gradient of the density.
  bool has_gradients() const noexcept;

  /// @param v  shape (spins, points) [hartree], overwritten
  /// @param n  shape (spins, points) [1/bohr^3]; negative values count as zero
  /// @return sum over the points of n eps_xc, not multiplied by the volume of a point
  /// @throws InvalidArgument  spans of other lengths; a functional with gradients
  /// Pointwise; collective: no.
  double evaluate(std::span<double> v, std::span<const double> n) const;

  /// The same for any functional, with f(n, grad n) the energy in a volume.
  /// @param v         df/dn at constant gradient
  /// @param flux      df/d(grad n_spin), shape (spins, 3, points) [hartree bohr]; the potential is v - div flux
  /// @param gradient  of the densities, shape of flux [1/bohr^4]
  double evaluate(std::span<double> v, std::span<double> flux, std::span<const double> n,
                  std::span<const double> gradient) const;

  /// As both above, and the energy in a volume at each point.
  /// @param f         shape (points,), overwritten [hartree/bohr^3]
  /// @param flux, gradient  empty for a local functional
  double evaluate(std::span<double> f, std::span<double> v, std::span<double> flux, std::span<const double> n,
                  std::span<const double> gradient) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::tddft
