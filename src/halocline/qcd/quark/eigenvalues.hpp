// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The low spectrum of the hermitian operator gamma5 D.
///
/// Its eigenvalues of smallest modulus say how close the operator is to a zero mode, and so how hard its solves are.
/// They are computed in double on full fields, by one of two methods:
/// - "lanczos": thick-restart Lanczos (solve/lanczos.hpp), which proves at its end that no eigenvalue was missed
/// - "multigrid": Davidson's method with multigrid cycles (detail/cycle_eigenvalues.hpp), faster at light quark masses.
///   It finds what its test vectors and cycles see. Its eigenvectors may also be approximate, for deflation.

#include <complex>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/multigrid/setup.hpp"

namespace halocline::qcd {

class GaugeField;

/// Names of the methods, the default first.
std::span<const char* const> eigenvalue_methods() noexcept;

struct EigenvalueParameters {
  int count = 8;                   ///< how many, by increasing modulus
  double tolerance = 1e-10;        ///< on |gamma5 D v - lambda v| / |gamma5 D|
  int max_applications = 1000000;  ///< most applications of D
  std::uint64_t seed = 1;          ///< of the random start vectors of Lanczos, which are keyed by global site
  bool vectors = false;            ///< return the eigenvectors too
  std::string method = "lanczos";
  multigrid::Parameters multigrid{};  ///< of the set-up that "multigrid" makes, if it is given none

  /// @throws InvalidArgument  for an impossible number or an unknown method
  void validate() const;
};

struct EigenvalueReport {
  bool converged = false;
  std::string reason;                                      ///< solve::name(...)
  std::vector<double> values;                              ///< signed, by increasing modulus
  std::vector<double> residuals;                           ///< |gamma5 D v - lambda v| for |v| = 1, recomputed
  std::vector<std::vector<std::complex<double>>> vectors;  ///< canonical local arrays, if asked for
  int applications = 0;                                    ///< of D, to one field
  int cycles = 0;                                          ///< of multigrid, on one field
  double seconds = 0;                                      ///< the set-up not included
  double setup_seconds = 0;                                ///< of a set-up of multigrid that was made for the search
};

/// The eigenvalues of gamma5 D nearest to zero, of both signs, with every multiplicity.
/// @param progress  called with applications so far and eigenvalues found; false cancels
/// @param setup     of multigrid, for the same links and action; null: "multigrid" makes one
/// @throws InvalidArgument  for impossible parameters, and for an operator that is not gamma5-hermitian; on every rank
/// Collective: yes.  Cost of "lanczos": thousands of applications of D; about 3 count + 34 full fields in double. Of
/// "multigrid": a set-up; some 20 cycles and 35 applications for each pair; 2 count + 88 fields.
EigenvalueReport low_eigenvalues(const GaugeField& gauge, const Action& action,
                                 const EigenvalueParameters& parameters = {},
                                 const std::function<bool(int applications, int found)>& progress = {},
                                 const multigrid::Setup* setup = nullptr);

}  // namespace halocline::qcd
