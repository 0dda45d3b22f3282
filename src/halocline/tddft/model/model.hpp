// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// A system on a set of processes with all its operators, and the state of its electrons.
///
/// Ground state and propagation both use these two. The Model turns a density into a potential and an energy; the State
/// is the part that changes.

#include "halocline/tddft/hartree/hartree.hpp"
#include "halocline/tddft/ions/ions.hpp"
#include "halocline/tddft/model/grid_xc.hpp"
#include "halocline/tddft/model/hamiltonian.hpp"
#include "halocline/tddft/model/kinetic_sum.hpp"

#include <array>
#include <string>
#include <vector>

namespace halocline::tddft {

/// Parts of the total energy [hartree]; the same on every rank.
struct Energies {
  double total = 0;  ///< sum of the parts; with smearing the free energy: minus temperature times entropy
  double kinetic = 0, hartree = 0, ion_local = 0, ion_nonlocal = 0, xc = 0, ion_ion = 0;
  double entropy = 0;  ///< temperature times entropy of the occupations
};

inline constexpr std::int64_t most_earlier_potentials = 2;
inline constexpr std::int64_t light_meshes = 24;  ///< of light that depends on the place: propagate/local_light.hpp

/// The electrons.
struct State {
  Orbitals orbitals;
  /// Electrons in each state, shape (all channels, states), the same on every rank, without the k-point's weight.
  std::vector<double> occupations;
  std::vector<double> eigenvalues;  ///< [hartree], shape as occupations
  std::vector<double> density;      ///< shape (spins, points of the box)
  KineticFields kinetic;            ///< for functionals that depend on them; else empty
  /// Of a propagation: potentials of earlier steps, the latest first, for the extrapolation (propagator.hpp); shape (up
  /// to most_earlier_potentials, Model::potential_numbers()) [hartree]. A checkpoint keeps them.
  std::vector<double> earlier_potentials;
  /// Of a propagation in light that depends on the place: what a continued run needs of it, shape (light_meshes,
  /// points); else empty. A checkpoint keeps it.
  std::vector<double> light;
};

/// The fields of the electrons from which a potential follows.
struct ElectronFields {
  std::span<const double> density;                        ///< shape (spins, points)
  std::span<const double> kinetic, gradient, velocity{};  ///< as KineticFields

  ElectronFields(const State& state)
      : density(state.density),
        kinetic(state.kinetic.density),
        gradient(state.kinetic.gradient),
        velocity(state.kinetic.velocity) {}
  /// For functionals of the density.
  ElectronFields(const std::vector<double>& n) : density(n) {}
  ElectronFields(std::span<const double> n, std::span<const double> tau = {}, std::span<const double> slopes = {})
      : density(n), kinetic(tau), gradient(slopes) {}
};

struct ModelOptions {
  std::string xc = "pz";
  HartreeShare hartree = HartreeShare::automatic;
  std::string transport = "auto";
  bool odd_allowed = false;  ///< allow an odd number of electrons without spin: for smearing
};

class Model {
public:
  /// Validates the system, divides it and constructs all operators.
  /// @throws InvalidArgument  on every rank
  /// Collective over `world`.
  Model(System system, const comm::Communicator& world, ProcessCounts counts, const ModelOptions& options = {});

  const System& system() const noexcept { return system_; }
  const Decomposition& decomposition() const noexcept { return decomposition_; }
  Hamiltonian& hamiltonian() noexcept { return hamiltonian_; }
  Hartree& hartree() noexcept { return hartree_; }
  const ExchangeCorrelation& xc() const noexcept { return xc_.functional(); }
  /// The ions' potential, shape (points,) [hartree]. Computed at the first use after move_atoms(), and then collective
  /// over the world.
  std::span<const double> ion_potential();
  const IonTables& ion_tables() const noexcept { return ion_tables_; }
  /// Energy of the ions among themselves [hartree]; as ion_potential().
  double ion_ion_energy();
  /// The partial core densities (ions.hpp); empty without core corrections.
  std::span<const double> core_density() const noexcept { return core_density_; }

  /// Moves the atoms: computes their core densities and projectors anew, and at their next use their potential and
  /// energy. The Hamiltonian's potential is unchanged; see potential_after_move().
  /// @param positions  shape (atoms,) [bohr]
  /// @throws InvalidArgument  on every rank: another number of positions, or those that validate() (system.hpp) and
  ///                          check_room() (ions.hpp) refuse; the atoms are then where they were
  /// Collective over the world.
  void move_atoms(std::span<const Vec3> positions);

  /// An empty state: zero orbitals, occupations, density.
  State empty_state() const;
  /// density[spin] = sum over channels and states of weight x occupation x |psi|^2, summed over box_mates().
  /// Collective over the world.
  void sum_density(State& state) const;
  /// Whether the functional needs State::kinetic, and whether an operator in H belongs to it.
  bool has_kinetic() const noexcept { return xc().has_kinetic(); }
  bool has_kinetic_operator() const noexcept { return xc().has_kinetic() && !xc().is_potential(); }
  /// The kinetic fields of the orbitals, for a functional that depends on them; without their flow.
  /// Collective over the world.  Cost: a sweep of the stencil over the occupied orbitals.
  void sum_kinetic(State& state);
  /// Fields to begin with, where there are no orbitals: the kinetic energy density of a uniform gas and that of one
  /// orbital together, 3/10 (6 pi^2)^(2/3) n^(5/3) + |grad n|^2 / 8 n for each spin.
  /// Collective over decomposition().space().
  KineticFields kinetic_of_gas(std::span<const double> density);
  /// Length of a potential: one for each spin and point; with a kinetic operator five, or eight where electrons flow
  /// (Hamiltonian::set_potential()).
  std::size_t potential_numbers(bool flowing) const noexcept;

  /// The mean over the spins of the potential of exchange and correlation of a density and the core densities.
  /// @return shape (points,) [hartree]. Collective over the world.
  std::vector<double> mean_xc_potential(std::span<const double> density);

  /// Energy in a volume and derivatives of a functional of the kinetic energy density, for a state.
  /// Collective over the world.
  void xc_derivatives(const XcResult& result, const State& state);

  /// The field of what the grid adds to the force on the electrons through Hartree's potential and that of exchange and
  /// correlation, except of a meta-GGA (kinetic_defect.hpp); zero everywhere in the continuum, and its integral is the
  /// net force of the atoms (forces.cpp).
  /// @param slopes  gradients of the densities of the spins by the orbitals, or parts of them, shape (spins, 3, points)
  /// @param whole   add the terms that do not depend on `slopes`: on one of the processes with parts
  /// @return shape (3, points) [hartree/bohr^4]
  /// Collective over the world.  Cost: sweeps of the stencil over four to nine scalar fields; unless the last potential
  /// was that of this density, also a Hartree potential and an evaluation of exchange and correlation.
  std::vector<double> force_defect(std::span<const double> density, std::span<const double> slopes, bool whole);

  /// Replaces the density by the mean of its images under the symmetries by which the k-points are reduced, if any.
  /// sum_density() does so itself. Collective over decomposition().space().
  void symmetrise_density(State& state) const;

  /// The effective potential of a density: v = v_ion + v_Hartree + v_xc.
  /// @param v  shape (potential_numbers(fields.velocity is given),)
  /// @throws InvalidArgument  on every rank: the functional depends on a kinetic energy density that is not given
  /// Collective over the world.
  void effective_potential(std::span<double> v, const ElectronFields& fields);
  /// The electrons' part of it alone, which potential_after_move() takes. Collective as effective_potential().
  void solve_electrons_potential(const ElectronFields& fields);
  /// The effective potential of the density for which the last call solved it, after move_atoms(). Hartree's part has
  /// not changed, and is kept; so is that of exchange and correlation unless there are core densities. The result has
  /// the same bits as effective_potential().
  /// Collective over the world.
  void potential_after_move(std::span<double> v, const ElectronFields& fields);
  /// The same, and the energies that need no orbitals (hartree, ion_local, xc, ion_ion), for one more sum over
  /// processes.
  Energies potential_and_energies(std::span<double> v, const ElectronFields& fields);

  /// All components of the energy. Kinetic and nonlocal parts come from the orbitals with the Hamiltonian's present
  /// vector potential, the others from the state's density and kinetic energy density. Collective over the world.
  Energies energies(const State& state);

  /// For each orbital of a channel on this process, the sum over space of conj(a) b. @param out  shape (blocks, 4)
  /// complex as (re, im)
  /// Collective over decomposition().space().
  void inner_products(std::span<double> out, const double* a, const double* b, std::int64_t blocks) const;

  /// Memory for work between two calls; its contents are undefined, and the next call may move it.
  double* scratch(std::int64_t doubles);

  /// Number of a local orbital's state in [0, states), or -1 for a padding lane.
  int state_number(std::int64_t block, int lane) const noexcept;
  /// Occupation times weight of the local orbitals of a channel, shape (blocks, 4); 0 for padding lanes.
  std::vector<double> weights(const State& state, std::int64_t channel) const;

private:
  void check_meta() const;
  double fill_electrons_potential(const ElectronFields& fields);
  std::array<double, 3> fill_potential(std::span<double> v, const ElectronFields& fields);
  double fill_xc_potential(const ElectronFields& fields);
  void add_potentials(std::span<double> v, const ElectronFields& fields);

  System system_;
  Decomposition decomposition_;
  Hamiltonian hamiltonian_;
  Hartree hartree_;
  GridExchangeCorrelation xc_;
  bool odd_allowed_;
  IonTables ion_tables_;
  std::vector<double> core_density_;
  std::optional<std::vector<double>> ion_potential_;  ///< shape (points,); absent until it is needed, as ion_ion_
  std::optional<double> ion_ion_;
  std::vector<double> hartree_potential_, xc_potential_;
  std::vector<double> hartree_density_;  ///< for which hartree_potential_ was solved, shape (points,)
  /// Of the last potential of a meta-GGA: slopes of its energy with respect to kinetic energy density and gradient.
  std::vector<double> kinetic_slope_, flux_;
  core::AlignedArray<double> scratch_;
  std::vector<double> with_core_;  ///< densities of the spins and the core, shape (spins, points); empty without cores
};

}  // namespace halocline::tddft
