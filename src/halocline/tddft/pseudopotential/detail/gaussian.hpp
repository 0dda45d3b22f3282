// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Dual-space Gaussian pseudopotentials of Goedecker, Teter and Hutter, in closed form.
///
/// With x = r/r_loc,
///   V_local(r) = -Z/r erf(x/sqrt 2) + exp(-x^2/2) (C1 + C2 x^2 + C3 x^4 + C4 x^6),
///   p_i^l(r) = sqrt 2 r^(l+2i) exp(-r^2/(2 r_l^2)) / (r_l^(l+2i+3/2) sqrt Gamma(l+2i+3/2)),   i = 0, 1, 2,
/// and all functions have closed forms in both spaces.

#include "halocline/tddft/pseudopotential/pseudopotential.hpp"

#include <array>
#include <memory>
#include <string>

namespace halocline::tddft::detail {

struct GaussianParameters {
  struct Channel {
    double radius = 0;                         ///< r_l [bohr]
    int count = 0;                             ///< of radial functions, 0 ... 3
    std::array<std::array<double, 3>, 3> h{};  ///< h_ij, symmetric [hartree]
  };
  std::string symbol, origin, functional;
  double valence = 0;
  double width = 0;                   ///< of the Gaussian start density: root mean square of one component [bohr]
  double local_radius = 0;            ///< r_loc [bohr]
  std::array<double, 4> c{};          ///< C1 ... C4 [hartree]
  std::array<Channel, 4> channels{};  ///< of l = 0 ... 3
};

/// h_ij over h_jj for i < j in the parameters of Hartwigsen, Goedecker and Hutter, which tabulate h_ii alone (Phys.
/// Rev. B 58, 3641, 1998). @param l  0 ... 2 @param i, j  0 <= i < j <= 2
double hgh_off_diagonal(int l, int i, int j);

/// What is wrong with the parameters, as a sentence, or an empty text.
std::string gaussian_fault(const GaussianParameters& parameters);

/// @param parameters  without a fault; a width of 0 stands for an average one
std::shared_ptr<const Pseudopotential> make_gaussian(GaussianParameters parameters);

}  // namespace halocline::tddft::detail
