// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The quark actions of the benchmarks by name, and the cost of their operators.
///
/// Names: "wilson" (with csw not zero Wilson-clover), "twisted", "doublet" (of twisted quarks), "domain-wall" (the
/// action of Shamir), "mobius" (b = 1.5, c = 0.5), and of staggered quarks "one-link", "asqtad" and "hisq".

#include <complex>
#include <string>

#include "bench/fields.hpp"
#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/action.hpp"

namespace halocline::bench {

struct ActionWords {
  std::string name = "wilson";
  double mass = 0.1;
  double csw = 0;   ///< of wilson, twisted and doublet
  double mu = 0.1;  ///< of twisted, and of doublet, whose epsilon is half of it
  int ls = 8;       ///< points of the fifth dimension; ignored without one
  std::array<std::complex<double>, 4> boundary{1., 1., 1., -1.};
};

/// Whether an action has a fifth dimension, or belongs to staggered quarks.
bool has_walls(const std::string& name);
bool is_staggered(const std::string& name);
/// Columns of a field that one right-hand side has: points of a fifth dimension, or flavours.
int columns_of_one(const std::string& name, int ls);

/// @throws InvalidArgument  for an unknown name. M5 is 1.8.
qcd::Action action_of(const ActionWords& words);

/// The cost of a form of an operator for each site of its parity or of the lattice, and for each point of the fifth
/// dimension or flavour if there are several.
/// @param form  "hopping", "wilson" (D or, with walls, A - 1/2 hop), "clover", "clover-inverse", "schur",
///              "schur-asymmetric"
template <class T>
Cost action_cost(const qcd::DiracOperator<T>& d, const qcd::Action& action, const std::string& form,
                 int link_reals = 18);

}  // namespace halocline::bench
