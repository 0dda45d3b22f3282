// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Exchange and correlation in the local density approximation, by libxc.
///
/// Names: "pz" (Perdew and Zunger 1981), "pz-mod" (the same with more digits in the constants, so that energy and
/// potential are continuous at r_s = 1, where "pz" jumps by 3e-5 hartree), "pw" (Perdew and Wang 1992, the modified
/// constants), "pade" (Goedecker, Teter and Hutter 1996), "x" (exchange only), "none".

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace halocline::tddft {

class ExchangeCorrelation {
public:
  /// @param spins  1 or 2
  /// @throws InvalidArgument  an unknown name; lists the known ones
  ExchangeCorrelation(std::string_view name, int spins);
  ExchangeCorrelation(ExchangeCorrelation&&) noexcept;
  ~ExchangeCorrelation();

  static std::vector<std::string> names();
  const std::string& name() const noexcept;

  /// @param v  shape (spins, points) [hartree], overwritten
  /// @param n  shape (spins, points) [1/bohr^3]; negative values count as zero
  /// @return sum over the points of n eps_xc, not multiplied by the volume of a point
  /// Pointwise; collective: no.
  double evaluate(std::span<double> v, std::span<const double> n) const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace halocline::tddft
