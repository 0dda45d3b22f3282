// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// The terms of the ions that do not involve the orbitals: their potential on the grid, their own energy, their forces.
///
/// In a periodic cell every local term is a sum over the N^3 reciprocal vectors of the grid, G_axis = 2 pi n / length.
/// For odd N, n = -(N-1)/2 ... (N-1)/2. For even N, n = -N/2 ... N/2; the two ends are one vector, whose wave is the
/// mean of both, the cosine. So the potential is real and has the symmetries of the ions. Forces use the potential
/// unchanged and take the derivative from the density, because the potential of an ion varies faster than a grid can
/// resolve, while the orbitals do not (ground_state/forces.cpp).

#include "halocline/tddft/base/decomposition.hpp"

#include <memory>
#include <span>
#include <vector>

namespace halocline::tddft {

namespace detail {
class LocalCoefficients;
class SkewCoefficients;
class GridPotential;
}  // namespace detail

/// The density of a pseudo-atom as a weight: by linear interpolation, and less by what it is where it ends, so that no
/// weight jumps there.
class DensityTable {
public:
  explicit DensityTable(const Pseudopotential& species);
  double radius() const noexcept { return radius_; }
  static constexpr std::int64_t together = 8;  ///< densities that are computed at once
  /// The density at some distances: out[i] where the square of the distance is c + t (2 b + t), t = first + i step.
  /// @param n    distances up to radius(); zeros follow
  /// @param out  shape (n rounded up to a multiple of `together`,)
  void fill(double* out, double first, double step, double b, double c, std::int64_t n) const noexcept;
  /// @param r  at most radius()
  double operator()(double r) const noexcept {
    std::array<double, together> values;
    fill(values.data(), r, 0, 0, 0, 1);
    return values[0];
  }

private:
  double radius_ = 0, per_bohr_ = 0;
  std::vector<double> values_;
};

/// Tables that do not depend on the positions of the atoms. For the local potential: periodic, the coefficients of each
/// species at every length of a reciprocal vector; isolated, radial tables of the potential without the waves that the
/// grid cannot carry (detail/grid_potential.hpp). The densities of the species. Jellium: nothing.
/// Cost: one transform of the potential of each species for each length; 8 bytes for each species and eighth of a
/// point.
class IonTables {
public:
  explicit IonTables(const System& system);
  const detail::LocalCoefficients& local() const noexcept { return *local_; }
  const detail::SkewCoefficients& skew() const noexcept { return *skew_; }
  const std::vector<detail::GridPotential>& radial() const noexcept { return *radial_; }
  const std::vector<DensityTable>& densities() const noexcept { return densities_; }

private:
  std::shared_ptr<const detail::LocalCoefficients> local_;  ///< orthogonal cells
  std::shared_ptr<const detail::SkewCoefficients> skew_;    ///< other cells
  std::shared_ptr<const std::vector<detail::GridPotential>> radial_;
  std::vector<DensityTable> densities_;
};

/// The local potential of all ions, or of the jellium background, on the box of this process [hartree].
/// Periodic: summed in reciprocal space over all vectors of the grid; at G = 0 the short-range part is kept and the
/// Coulomb part dropped. Isolated: the sum of V_local(|r - R|), without the waves that the grid cannot carry. The
/// jellium background is the uniform density at grid points within r_s charge^(1/3) of the centre, rescaled to its
/// charge; its potential is minus the Hartree potential of that density.
/// @param tables  of a system that differs in positions alone; made anew by default
/// Collective over the world. Results depend on the division only by rounding.
/// Cost: periodic, atoms x N^3/2 complex products that all processes share, and N^3 (b_x + b_y b_x/N + ...) products in
/// the one-dimensional sums for the box that the processes of the same box share; isolated, atoms x points evaluations,
/// shared by the processes of the same box.
std::vector<double> ion_potential(const System& system, const Decomposition& decomposition, const IonTables& tables);
std::vector<double> ion_potential(const System& system, const Decomposition& decomposition);

/// The positive background of jellium on the box of this process [1/bohr^3].
/// @throws core::InvalidArgument  on every rank: no jellium given, or no grid point inside it
/// Collective over decomposition.space().
std::vector<double> jellium_density(const System& system, const Decomposition& decomposition);

/// Checks that the ions of a slab or wire do not see their images.
/// @throws core::InvalidArgument  they reach over more than half of the cell across it. Collective: no.
void check_room(const System& system);

/// Energy of the ions among themselves [hartree]. Periodic cells: Ewald sum (exact to 1e-11 relative, neutralised by a
/// uniform background). Isolated boxes: Coulomb sum. Jellium: self energy of the background.
/// Collective: no for atoms; over the world for jellium.
/// @throws core::InvalidArgument  as check_room()
double ion_ion_energy(const System& system, const Decomposition& decomposition);

/// Forces of the ions on each other [hartree/bohr], shape (atoms,). Collective: no.
std::vector<Vec3> ion_ion_forces(const System& system);

/// Forces of the density on the ions through the local potential: - integral V_local(r - R) grad n.
/// @param gradient  of the density, or of the contribution of this process's orbitals; shape (3, points) [1/bohr^4]
/// @return shape (atoms,) [hartree/bohr]: the contribution of this process; the force is the sum over
///         decomposition.space()
/// @param tables  as for ion_potential()
/// Collective over decomposition.space().  Cost: that of three potentials.
std::vector<Vec3> local_forces(const System& system, const Decomposition& decomposition, const IonTables& tables,
                               std::span<const double> gradient);
std::vector<Vec3> local_forces(const System& system, const Decomposition& decomposition,
                               std::span<const double> gradient);

/// The partial core densities of all ions (nonlinear core correction) on the box of this process, including periodic
/// images [1/bohr^3]; empty if no ion has one. Collective: no.
std::vector<double> core_density(const System& system, const Decomposition& decomposition);

/// Forces of the potential of exchange and correlation on the core densities: + integral v grad n_core(r - R), the
/// exact derivative of the grid's energy.
/// @param v  mean over the spins, shape (points,) [hartree]
/// @return shape (atoms,) [hartree/bohr]: the contribution of the box of this process. Collective: no.
std::vector<Vec3> core_forces(const System& system, const Decomposition& decomposition, std::span<const double> v);

/// Gradient of the core densities, shape (3, points) [1/bohr^4]; empty if no ion has one. Collective: no.
std::vector<double> core_gradient(const System& system, const Decomposition& decomposition);

/// Shares a field of forces between the atoms: the integral of w_a f, with w_a the part of the pseudo-atom a in the
/// superposed densities of all (Hirshfeld, Theor. Chim. Acta 44, 129, 1977). All atoms have
/// equal parts of points beyond all pseudo-atoms.
/// @param field  shape (3, points) [hartree/bohr^4]
/// @return shape (atoms,) [hartree/bohr]: the contribution of the box of this process. Collective: no.
std::vector<Vec3> share_between_atoms(const System& system, const Decomposition& decomposition, const IonTables& tables,
                                      std::span<const double> field);

/// Superposed densities of the pseudo-atoms, scaled to the number of electrons: the start of the self-consistent cycle.
/// For jellium, the scaled background. @return shape (points,). Collective over decomposition.space().
std::vector<double> start_density(const System& system, const Decomposition& decomposition);

}  // namespace halocline::tddft
