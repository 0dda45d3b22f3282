// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The kernel: the factors between the Fourier coefficients of a density and those of its potential.
///
/// Periodic: 4 pi / G^2, zero at G = 0 (a uniform background makes the cell neutral); slabs and wires: coulomb_cut.hpp.
///
/// Free space. The potential is needed only inside the box, whose points are at most the diagonal R apart. So 1/r may
/// be cut to zero beyond R without changing the potential. The cut kernel has a smooth transform,
///     g(K) = 4 pi (1 - cos(K R)) / K^2,   2 pi R^2 at K = 0.
/// A periodic grid whose axes are longer than the box by R carries the convolution without images. Its error is that of
/// the density's own Fourier interpolation, smaller than any power of the spacing (Vico, Greengard and Ferrando, J.
/// Comput. Phys. 323, 191, 2016).
///
/// That grid is two to three times the box along each axis. But the kernel's values T(d) matter only at the differences
/// d of points of the box. So these values are computed once, and transformed again on the smallest grid without
/// images, twice the box. Both steps are separate for each axis and even in it:
///     table(k) = sum_K D_x(k_x, K_x) D_y(k_y, K_y) D_z(k_z, K_z) g(K),
///     D(k, K)  = sum_d cos(2 pi k d / M) cos(2 pi K d / L) / (M L),   d = -(N - 1) ... N - 1,
/// for N points, transforms of length M >= 2 N - 1 and L points on the long axis. These are products of small dense
/// matrices, of which a process computes only its own wavenumbers.

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/grid.hpp"

#include <array>
#include <cstdint>
#include <vector>

namespace halocline::tddft {

/// The wavenumbers that a process keeps. On orthogonal axes the kernel is even in each, so k also represents M - k.
struct KeptWavenumbers {
  Range x;                      ///< in [0, M_x / 2]
  std::vector<std::int64_t> y;  ///< each in [0, M_y / 2]; on axes that are not orthogonal in [0, M_y)
};

/// Whether the kernel is even in each wavenumber.
bool even_kernel(const Grid& grid) noexcept;

/// Lengths of the transforms for a grid: its extents; for an isolated box fast lengths of about twice the extents.
std::array<std::int64_t, 3> transform_lengths(const Grid& grid);

/// The kernel [bohr^2] divided by the number of points of the transform, which normalises the unscaled transforms.
/// @return shape (planes, y.size(), x.size()), for wavenumbers k_z = 0 ... M_z / 2, or 0 ... M_z - 1 if not even
/// Cost: periodic, a division for each number. Isolated, about 6 N^3 kernel values, and 2 x 6 N^3 multiplications for
/// each of the wavenumbers kept along x; memory 6 N^2 numbers for each of these wavenumbers.
core::AlignedArray<double> coulomb_kernel(const Grid& grid, const std::array<std::int64_t, 3>& lengths,
                                          const KeptWavenumbers& kept);

}  // namespace halocline::tddft
