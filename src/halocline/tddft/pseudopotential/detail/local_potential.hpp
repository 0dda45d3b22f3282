// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A vector potential that depends on the place, around an atom: the linear function that fits it best.
///
/// A(R + d) = value + sum_b d_b gradient_b minimises the sum over the points of the atom's sphere of w |A - fit|^2 with
/// the weight w = (1 - d^2/R^2)^2, which goes to zero smoothly where points come and go as an atom moves. With the
/// basis p = (1, d) the fit is (sum w p p^T)^-1 sum w p A. Its line integral from the atom to d is
///   value . d + d (gradient) d / 2,
/// in which only the symmetric part of the gradient counts. The fit is a linear function of A, and add_adjoint() is its
/// transpose: the current density is the exact derivative of the energy on the grid.

#include "halocline/comm/group/communicator.hpp"
#include "halocline/tddft/pseudopotential/detail/projector_spheres.hpp"

#include <array>
#include <span>
#include <vector>

namespace halocline::tddft::detail {

/// The inverse of the matrix of an atom's points, shape (4, 4), and the radius in the weight.
struct LinearFit {
  std::array<double, 16> inverse{};
  double radius = 0;
};

struct LinearPotential {
  Vec3 value{};
  std::array<double, 6> slope{};  ///< symmetric part of the gradient: xx yy zz xy xz yz
};

/// Of every atom of the system; without projectors, zero. A sphere whose points lie in a plane, a line or a point has
/// no gradient across. Collective over space.
std::vector<LinearFit> make_fits(const ProjectorSpheres& all, std::size_t atoms, const comm::Communicator& space);

/// @param a  shape (3, points of the box). Collective over space. Cost: one sum of 12 numbers an atom.
std::vector<LinearPotential> fitted(const ProjectorSpheres& all, std::span<const LinearFit> fits,
                                    std::span<const double> a, const comm::Communicator& space);

/// current[axis][point] += the derivative with respect to A_axis at this point, divided by the volume of a point.
/// @param moments  derivatives with respect to the phases: x y z and xx yy zz xy xz yz (nonlocal.hpp)
void add_adjoint(std::span<double> current, const Shape& shape, std::span<const std::int32_t> index,
                 const LinearFit& fit, const std::array<double, 9>& moments, double point_volume);

}  // namespace halocline::tddft::detail
