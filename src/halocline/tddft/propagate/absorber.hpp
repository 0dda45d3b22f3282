// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// An absorbing layer at the walls of an isolated box: electrons that have left the atoms do not come back.
///
/// H becomes H - i W, where W = strength sum over axes sin^2(pi s / 2), and s grows from 0 at the inner face of the
/// layer to 1 at the wall (De Giovannini, Larsen, Rubio, Eur. Phys. J. B 88, 56, 2015). W is split off: every step ends
/// with a factor exp(-W dt). The electrons that are missing from the norm have been ionised.

#include "halocline/tddft/base/decomposition.hpp"

#include <array>
#include <vector>

namespace halocline::tddft {

struct AbsorberOptions {
  double width = 0;     ///< of the layer inside of each wall [bohr]; 0: none
  double strength = 0;  ///< of W at the wall [hartree]
};

/// @throws InvalidArgument  a periodic cell, numbers that are not positive and finite, or layers that meet
void validate(const AbsorberOptions& options, const Grid& grid);

class Absorber {
public:
  /// @param options  valid, with a positive width
  Absorber(const AbsorberOptions& options, const Decomposition& decomposition, double time_step);

  /// Multiplies blocks of orbitals by exp(-W dt). @param psi  shape (blocks, points, lanes, 2), double or float.
  /// Collective: no.
  template <class T>
  void apply(T* psi, std::int64_t blocks) const;

private:
  Box box_;
  std::array<std::vector<double>, 3> factors_;  ///< along each axis, on the points of this process
};

}  // namespace halocline::tddft
