// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The low spectrum of the hermitian operator gamma5 D.
///
/// Its eigenvalues of smallest modulus say how close the operator is to a zero mode, and so how hard its solves are.
/// They are computed by thick-restart Lanczos (solve/lanczos.hpp) in double on full fields.

#include <complex>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "halocline/qcd/field/action.hpp"

namespace halocline::qcd {

class GaugeField;

struct EigenvalueParameters {
  int count = 8;                   ///< how many, by increasing modulus
  double tolerance = 1e-10;        ///< on |gamma5 D v - lambda v| / |gamma5 D|
  int max_applications = 1000000;  ///< most applications of D
  std::uint64_t seed = 1;          ///< of the random start vectors, which are keyed by global site
  bool vectors = false;            ///< return the eigenvectors too

  /// @throws InvalidArgument  for an impossible number
  void validate() const;
};

struct EigenvalueReport {
  bool converged = false;
  std::string reason;                                      ///< solve::name(...)
  std::vector<double> values;                              ///< signed, by increasing modulus
  std::vector<double> residuals;                           ///< |gamma5 D v - lambda v| for |v| = 1, recomputed
  std::vector<std::vector<std::complex<double>>> vectors;  ///< canonical local arrays, if asked for
  int applications = 0;                                    ///< number of applications of D
  double seconds = 0;
};

/// The eigenvalues of gamma5 D nearest to zero, of both signs, with every multiplicity.
/// @param progress  called with applications so far and eigenvalues found; false cancels
/// @throws InvalidArgument  for impossible parameters, and for an operator that is not gamma5-hermitian; on every rank
/// Collective: yes.  Cost: thousands of applications of D; about 3 count + 34 full fields in double.
EigenvalueReport low_eigenvalues(const GaugeField& gauge, const Action& action,
                                 const EigenvalueParameters& parameters = {},
                                 const std::function<bool(int applications, int found)>& progress = {});

}  // namespace halocline::qcd
