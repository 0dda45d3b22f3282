// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Kerker's damping of long wavelengths (Phys. Rev. B 23, 3082, 1981) without a Fourier transform.

#include "halocline/tddft/model/model.hpp"

#include <span>

namespace halocline::tddft {

/// Multiplies the plane waves of a change of the density by G^2 / (G^2 + q^2), separately for each spin: r <- r - q^2
/// (q^2 - laplacian)^-1 r. Conjugate gradients with the Hamiltonian's own stencil compute the inverse to 1e-6.
/// @param residual     shape (spins, points of the box)
/// @param wave_number  q [1/bohr], positive
/// Collective over the world. Cost: some 5 sqrt(T_max) / q applications of the stencil to one block.
void damp_long_waves(Model& model, std::span<double> residual, double wave_number);

}  // namespace halocline::tddft
