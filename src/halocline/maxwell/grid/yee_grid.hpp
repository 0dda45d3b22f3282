// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Yee's grid: where the six components of the field live, how the grid ends, and the part of it that a process owns.
///
/// The speed of light, the permittivity and the permeability of empty space are 1 in this room. A length is counted in
/// any unit, and a time in the time that light takes for it: halving the unit changes nothing but the numbers of steps,
/// frequencies and times.
///
/// Component E_a lies half a step along axis a behind the points of the grid, and on the points along the two other
/// axes. H_a lies on the points along a and half a step behind them along the others. So along an axis a component is
/// either at "nodes" (i h) or "between" them ((i + 1/2) h). E is known at times n dt, H at (n + 1/2) dt (Yee, IEEE
/// Trans. Antennas Propag. 14, 302 (1966)).
///
/// N cells along an axis that is not periodic have the nodes 0 ... N. An electric wall (a perfect conductor) keeps the
/// tangential E of its node zero. A magnetic wall is a mirror on which the tangential H vanishes: H on the other side
/// is the negative of H on this one. Absorbing layers are cells of the grid, in front of an electric wall.
///
/// A periodic axis of one cell is flat: nothing changes along it. Grids in one and two dimensions are grids with flat
/// axes.
///
/// A cylindrical grid has the distance r from an axis for x, the angle for y, which is flat, and the height for z.
/// Fields vary with the angle as cos(m y) (E_r, E_z, H_y) and sin(m y) (the others), m being `azimuthal`. With r E_y
/// and r H_y in the places of E_y and H_y the equations are those of a plane with permittivity and permeability times
/// r, 1/r and r, so that the scheme is the same but for factors that depend on x. The fields of this room are these
/// scaled ones.

#include "halocline/comm/group/process_grid.hpp"
#include "halocline/maxwell/grid/box.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace halocline::maxwell {

enum class Boundary { periodic, electric, magnetic, absorbing };

/// A perfectly matched layer (Roden and Gedney, Microwave Opt. Technol. Lett. 27, 334 (2000)). The numbers at first
/// reflect less than -95 dB at normal incidence for 10 to 160 cells a wavelength.
struct AbsorbingLayer {
  int cells = 12;             ///< at each absorbing end
  double order = 4;           ///< conductivity grows with this power of the depth
  double conductivity = 0.8;  ///< at the wall, in units of 0.8 (order + 1) / step
  double stretch = 1;         ///< factor of lengths at the wall (kappa), at least 1
  double shift = 0.002;       ///< of the pole off zero frequency, at the inner end, in units of 1 / step
};

/// The whole grid.
struct YeeGrid {
  Index3 cells{1, 1, 1};
  Vector3 step{1, 1, 1};                          ///< along each axis
  std::array<std::array<Boundary, 2>, 3> ends{};  ///< lower and upper end of each axis
  Vector3 bloch{};  ///< phase that the field gains from one end of a periodic axis to the other [rad]
  AbsorbingLayer layer;
  double time_step = 0;
  bool cylindrical = false;  ///< x is the distance from an axis, at node 0, whose lower end is "magnetic"
  int azimuthal = 0;         ///< m, at least 0

  bool periodic(int axis) const noexcept { return ends[at(axis)][0] == Boundary::periodic; }
  bool flat(int axis) const noexcept { return periodic(axis) && cells[at(axis)] == 1 && bloch[at(axis)] == 0; }
  bool complex_fields() const noexcept { return bloch[0] != 0 || bloch[1] != 0 || bloch[2] != 0; }
  double length(int axis) const noexcept { return static_cast<double>(cells[at(axis)]) * step[at(axis)]; }

  /// The factor 1/r or r of what a component of a cylindrical grid gains, at a point of x; 0 where it stays zero on the
  /// axis. On the axis E_z (m = 0) has r = step / 4, the volume of its cell being half of a ring's. 1 in other grids.
  double metric(int component, std::int64_t x) const noexcept;
  /// The longest stable time step in empty space: 1 / sqrt(sum over the axes that are not flat of 1 / step^2), where
  /// the angle counts m^2 / step^2 of x.
  double courant_limit() const noexcept;

  /// @throws InvalidArgument  sizes or steps that are not positive, one end periodic and the other not, a layer that
  ///                          does not fit, a phase along an axis that is not periodic, a time step that is not
  ///                          positive or not below the limit
  void check() const;
};

/// E_x E_y E_z H_x H_y H_z
inline constexpr int components = 6;
constexpr bool electric(int component) noexcept { return component < 3; }
constexpr int axis_of(int component) noexcept { return component % 3; }
/// Whether a component lies between the nodes of an axis.
constexpr bool between(int component, int axis) noexcept { return (axis_of(component) == axis) == electric(component); }
/// The component of the other field with this axis.
constexpr int partner(int component, int axis) noexcept { return (electric(component) ? 3 : 0) + axis; }

/// Place of a point of a component, in units of length from the first node of the grid.
inline Vector3 place_of(const YeeGrid& grid, int component, const Index3& point) noexcept {
  Vector3 place;
  for (int a = 0; a < 3; ++a)
    place[at(a)] = (static_cast<double>(point[at(a)]) + (between(component, a) ? 0.5 : 0.0)) * grid.step[at(a)];
  return place;
}

/// The part of the grid that one process owns, with its ghosts.
///
/// Axes that several processes share, and periodic ones that are not flat, are exchanged: their ghosts are `depth`
/// points deep on both sides, and hold the neighbour's points. Then `depth` steps can be done from one exchange to the
/// next, each on a smaller box than the one before. The other axes have one ghost on either side, for the upper node
/// and for mirrors; flat axes have none.
class Part {
public:
  /// @param processes  three axes, periodic where the grid is; null: the grid is whole
  /// @param depth      steps from one exchange to the next
  /// @throws InvalidArgument  on every rank: a part that is thinner than `depth`, or that has no cells
  Part(const YeeGrid& grid, const comm::ProcessGrid& processes, int depth);

  const YeeGrid& grid() const noexcept { return grid_; }
  const Index3& first() const noexcept { return first_; }  ///< of the owned points, in the grid
  const Index3& cells() const noexcept { return cells_; }  ///< owned
  int depth() const noexcept { return depth_; }
  bool exchanged(int axis) const noexcept { return exchanged_[at(axis)]; }
  bool any_exchanged() const noexcept { return exchanged_[0] || exchanged_[1] || exchanged_[2]; }
  int ghosts(int axis) const noexcept { return grid_.flat(axis) ? 0 : exchanged(axis) ? depth_ : 1; }

  /// All points with memory.
  Box memory() const noexcept;
  /// The points of a component that change, of those owned and of so many ghosts beyond them below and above.
  /// Tangential E of electric walls does not change; the upper node of a magnetic wall belongs to the last process.
  Box changing(int component, std::int64_t below, std::int64_t above) const noexcept;
  /// The owned points of a component, those on walls too.
  Box owned(int component) const noexcept;

  Index3 global(const Index3& point) const noexcept {
    return {point[0] + first_[0], point[1] + first_[1], point[2] + first_[2]};
  }
  /// The coordinates in this process of a box of the whole grid, and of its images across periodic ends, cut to
  /// `within`; empty ones are left out. `image` is what was added to the coordinates of the grid.
  struct Image {
    Box box;
    Index3 image;
  };
  std::vector<Image> images(const Box& global, const Box& within) const;

private:
  YeeGrid grid_;
  Index3 first_{}, cells_{};
  int depth_ = 1;
  std::array<bool, 3> exchanged_{};
};

}  // namespace halocline::maxwell
