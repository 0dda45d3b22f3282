// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// Exchange and correlation of a density on the grid.
///
/// With gradients the potential has divergence form,
///   v = df/dn - div w,  w = df/d(grad n),
/// with gradient and divergence by the first derivative of the stencil. This is an antisymmetric matrix D. Therefore v
/// is exactly the derivative of the grid's energy sum f(n, D n), on any grid, and the energy of a propagation is
/// conserved as with a local functional (J. A. White and D. M. Bird, Phys. Rev. B 50, 4954, 1994).
///
/// Of a meta-GGA, w and the derivative with respect to the kinetic energy density become an operator on the orbitals
/// (hamiltonian.hpp), whose own gradient takes the place of D n (kinetic_sum.hpp).

#include "halocline/core/aligned_array.hpp"
#include "halocline/tddft/base/decomposition.hpp"
#include "halocline/tddft/stencil/stencil.hpp"
#include "halocline/tddft/xc/xc.hpp"

namespace halocline::tddft {

class GridExchangeCorrelation {
public:
  /// @throws InvalidArgument  as ExchangeCorrelation
  GridExchangeCorrelation(std::string_view name, int spins) : xc_(name, spins), spins_(spins) {}

  const ExchangeCorrelation& functional() const noexcept { return xc_; }

  /// @param v  shape (spins, points of the box) [hartree], overwritten
  /// @param n  shape (spins, points of the box) [1/bohr^3]
  /// @param mates  processes with the same box and density, which share the points if there are many
  /// @return sum over the points of this process of f, not multiplied by the volume of a point; on all mates the same
  ///         bits
  /// Collective over mates, and over the stencil's processes for a functional with gradients.
  /// Cost: libxc on the points of a share; an all-gather of 8 bytes a point and spin, 32 with gradients. With gradients
  /// two sweeps of the stencil over scalar fields, and 64 + 56 spins bytes a point that are kept.
  double evaluate(std::span<double> v, std::span<const double> n, Stencil& stencil, const comm::Communicator& mates);

  /// The same for a functional of the kinetic energy density. The Hamiltonian takes the place of the divergence: the
  /// potential is df/dn alone, and the flux is given. (Of "tb-mbj", which has no energy, the flux is zero.)
  /// @param fields  the Laplacian is found here
  /// Collective over decomposition.space() and decomposition.box_mates().
  double evaluate(const XcResult& result, const XcFields& fields, Stencil& stencil, const Decomposition& decomposition);

  /// Whether the last evaluate() was for these densities and kept the energy at each point. Collective: no.
  bool remembers(std::span<const double> n) const;
  /// The same potential, evaluated by each process for itself, so that the energy at each point is kept.
  /// Collective over the stencil's processes.
  void evaluate_alone(std::span<double> v, std::span<const double> n, Stencil& stencil);
  /// The energy at each point of the densities of remembers() or evaluate_alone(), shape (points,) [hartree/bohr^3].
  std::span<const double> energies() const noexcept { return last_f_; }
  /// For the same densities, field_a += factor sum_bs D_b (w_sb D_a n_s). @param field  shape (3, points)
  /// Collective over the stencil's processes.
  void add_flux_of_slopes(std::span<double> field, double factor, Stencil& stencil);

private:
  double evaluate(std::span<double> f, std::span<double> v, std::span<const double> n, Stencil& stencil,
                  const comm::Communicator& mates);
  double at_points(const XcResult& result, const XcFields& fields, const comm::Communicator& mates);
  void find_mean_slope(const XcFields& fields, const Decomposition& decomposition);
  void fill(int fields, const double* field, std::int64_t points);

  ExchangeCorrelation xc_;
  int spins_;
  core::AlignedArray<double> block_;     ///< scalar fields in the place of a block's numbers
  std::vector<double> gradient_, flux_;  ///< shape (spins, 3, points)
  std::vector<double> divergence_;       ///< shape (spins, points)
  std::vector<double> last_n_, last_f_;  ///< of the last evaluate(); empty where the energies are not kept
  std::vector<double> laplacian_;        ///< of the densities, for a functional that needs it, shape (spins, points)
  std::vector<double> share_in_, share_out_;  ///< the fields on this process's share of the points
};

}  // namespace halocline::tddft
