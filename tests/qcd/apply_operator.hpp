// SPDX-License-Identifier: Apache-2.0
#pragma once
// Dirac operators on spinors in canonical order, for tests.

#include <complex>
#include <span>
#include <vector>

#include "halocline/qcd/dirac/operator.hpp"

namespace halocline::test {

/// D psi, or D^dagger psi, of one column.
template <class T>
std::vector<std::complex<double>> apply(const qcd::DiracOperator<T>& d, std::span<const std::complex<double>> psi,
                                        bool dagger = false) {
  auto in = qcd::spinor_field<T>(d.layout(), lattice::Subset::full);
  auto out = qcd::spinor_field<T>(d.layout(), lattice::Subset::full);
  qcd::from_canonical<T>(in, psi);
  if (dagger)
    d.apply_dagger(out, in);
  else
    d.apply(out, in);
  std::vector<std::complex<double>> result(psi.size());
  qcd::to_canonical<T>(result, out);
  return result;
}

}  // namespace halocline::test
