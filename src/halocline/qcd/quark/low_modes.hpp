// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Approximate low modes of a Dirac operator, which deflation takes out of the iteration (solve/deflation.hpp).
///
/// They are eigenvectors of gamma5 D near zero, rounded to fp16. An accuracy of a few digits is enough, because the
/// deflated system is exact for any vectors. With a twisted mass gamma5 D(mu) = gamma5 D + i mu has the same
/// eigenvectors, so the modes of D serve D(mu) as well.

#include <complex>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "halocline/core/half.hpp"
#include "halocline/qcd/field/action.hpp"
#include "halocline/qcd/multigrid/parameters.hpp"

namespace halocline::qcd {

class GaugeField;

struct DeflationParameters {
  int vectors = 16;
  double tolerance = 1e-4;           ///< on |gamma5 D v - lambda v| / |gamma5 D|; fp16 keeps about as much
  std::string method = "multigrid";  ///< of the eigenvalues (eigenvalues.hpp)

  /// @throws InvalidArgument  for an impossible number or an unknown method
  void validate() const;
};

/// Low modes as a file holds them: the part of this process, in canonical order.
struct LowModes {
  std::vector<double> values;       ///< eigenvalues of gamma5 D, by increasing modulus; one for each vector
  std::vector<core::Half> numbers;  ///< `[t][z][y][x][vector][colour][spin][re, im]`, of mean square one

  int vectors() const noexcept { return static_cast<int>(values.size()); }
  /// Writes one vector into a local box, shape [t][z][y][x][spin][colour]. Collective: no.
  void unpack(std::span<std::complex<double>> box, int vector) const;
};

/// Computes low modes.
/// @param multigrid  parameters of the set-up that the method "multigrid" makes
/// @throws InvalidArgument  for impossible parameters; core::Error  if the modes were not found; on every rank
/// Collective: yes.  Cost: that of low_eigenvalues, and 48 bytes a site for each vector.
LowModes low_modes(const GaugeField& gauge, const Action& action, const DeflationParameters& parameters,
                   const multigrid::Parameters& multigrid);

}  // namespace halocline::qcd
