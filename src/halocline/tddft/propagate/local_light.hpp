// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Light whose vector potential A(r, t) depends on the place, on the electrons' own grid, in the Coulomb gauge:
///   A'' = c^2 laplacian A - 4 pi J_T,   div A = 0,
/// with the transverse part of the particle current density J of the charge -1. The longitudinal part of the electrons'
/// field is that of Hartree's potential. A has three parts.
///
/// - Light from outside, A_0(t - s/c), where s is the way from the face of the cell or box at which it enters. The
///   pulses of the field are those at this face.
///
/// - In a cell that repeats (a film, whose surfaces are at right angles to the way): the light of the mean current
///   density of each plane across the way. It travels away along the way in both directions and does not come back:
///     A(z, t) = -2 pi/c integral dz' P(z', t - |z - z'|/c),   P = integral J dt.
///   Its time of flight from one plane to the next is short against the step. So it goes from plane to plane through a
///   filter with this delay that lets all frequencies pass undamped (Thiran's of first order), and the delay errs by
///   the square of the step. P is extrapolated by the rule of Adams and Bashforth, as for a thin film.
///   In a box, which is small against the wavelength: the field by which an oscillating current is damped,
///     A(t) = 2/(3 c^3) d/dt integral J dr.
///
/// - The near field of the rest of J, which is instantaneous up to the square of (size of the cell times frequency over
///   c). In a cell, where J' is J without its means, J'_T = J' + grad V[div J'] / 4 pi, with Coulomb's potential V[n]:
///     A = -V[J'_T] / c^2.
///   In a box, where J has an end but J_T has none (Darwin, Phil. Mag. 39, 537, 1920):
///     A = -1/2c^2 integral dr' [J + R (R J)/R^2] / R = -1/c^2 { V[J + r div J / 2] - r V[div J] / 2 }.
///   It is solved for every fourth step, because it is some 1e-4 of A and changes as slowly as the light, and goes on
/// along the straight line through the last two solutions.
///
/// The mean of J along the way makes no field in a cell: that of a film, whose surfaces it charges, is in Hartree's
/// potential if the axis is open.

#include "halocline/tddft/model/model.hpp"
#include "halocline/tddft/propagate/field.hpp"

#include <array>
#include <span>
#include <vector>

namespace halocline::tddft {

/// Light at the faces of the cell or box.
struct LightRecord {
  Vec3 incident{};        ///< A_0 at the face where it enters [a.u.]
  Vec3 reflected{};       ///< A that leaves through this face; zero in a box
  Vec3 transmitted{};     ///< A behind the other face, with the light from outside; in a box that alone
  Vec3 mean{};            ///< of A(r) over the cell or box
  double near_field = 0;  ///< largest |A| of the near field
};

class LocalLight {
public:
  /// @param model, field  must outlive this object; field.way is present
  LocalLight(Model& model, const Field& field, double time_step);

  /// A between steps, and at the end of the next one; shape (3, points of the box) [a.u.].
  std::span<const double> now() const noexcept { return now_; }
  std::span<const double> next() const noexcept { return next_; }
  /// Takes J at the beginning of a step, t, and computes next().
  /// @param current  shape (3, points of the box): the particle current density at t [a.u.]
  /// Collective over the world.  Cost: at every fourth step four Hartree potentials.
  void begin_step(double t, std::span<const double> current);
  /// The step is done: next() becomes now().
  void end_step();
  /// Of now(). Collective over Decomposition::space().
  LightRecord record() const;

  /// What a continued run needs, after a step: shape (light_meshes, points). @param current  as begin_step()
  std::vector<double> saved(std::span<const double> current) const;
  /// Continues from saved(). @return the current
  /// Collective over Decomposition::space().
  std::vector<double> restore(double t, std::span<const double> saved);

  using Line = std::vector<Vec3>;  ///< a vector for each plane of the whole cell across the way
  /// Means of a vector field over these planes. @param field  shape (3, points of the box)
  /// Collective over Decomposition::space().
  Line plane_means(std::span<const double> field) const;

private:
  double delay(std::int64_t plane) const noexcept;
  Vec3 incident(double t, std::int64_t plane) const;
  void advance_planes(const Line& current);
  Vec3 of_planes(std::int64_t plane) const;
  std::vector<double> near_field(std::span<const double> current, const Line& means);
  std::vector<double> near_field_of_cell(std::vector<double> rest);
  std::vector<double> near_field_of_box(std::span<const double> current);
  std::vector<double> divergence(std::span<const double> vectors);
  std::size_t points() const noexcept { return now_.size() / 3; }

  Model* model_;
  const Field* field_;
  Way way_;
  double time_step_;
  bool box_;  ///< isolated
  bool at_start_ = true, near_known_ = false;
  std::int64_t planes_;
  double spacing_;
  std::vector<std::int32_t> plane_of_;  ///< the plane of the whole cell on which each point of the box lies
  std::vector<double> now_, next_;
  std::vector<double> near_, near_before_;  ///< the last two solutions
  /// Of the light of the planes: P, J of the step before, and what arrives from the planes before and behind.
  Line passed_, current_before_, up_, down_;
  Vec3 damping_{};       ///< A of the damping field, the same everywhere
  Vec3 total_before_{};  ///< integral of J of the step before
  double time_ = 0;
};

}  // namespace halocline::tddft
