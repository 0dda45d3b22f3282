// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// What a propagator holds, and the parts of its step (propagator_step.cpp).

#include "halocline/comm/sums/field_sum.hpp"
#include "halocline/comm/sums/reduction.hpp"
#include "halocline/tddft/propagate/detail/exponential.hpp"
#include "halocline/tddft/propagate/local_light.hpp"
#include "halocline/tddft/propagate/observables.hpp"
#include "halocline/tddft/propagate/propagator.hpp"

#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

namespace halocline::tddft {

struct Propagator::Work {
  Work(Model& given_model, State& given_state, Field given_field, const PropagateOptions& given_options,
       std::optional<IonOptions> given_ions);

  /// Leaves the Hamiltonian without the spin potential of this run, and without a vector potential of the place.
  ~Work() {
    if (spin_potential() != Vec3{})
      h().set_spin_potential({});
    else if (h().local())
      h().set_vector_potential({});
  }
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  Hamiltonian& h() { return model.hamiltonian(); }
  double time() const { return static_cast<double>(steps) * dt; }
  bool length_gauge() const { return field.gauge == Gauge::length; }

  Vec3 vector_potential(double t) const;
  Vec3 electric_field() const;
  Vec3 driving_current() const;
  void set_vector_potential(const Vec3& a);
  /// Of a step; with light that depends on the place.
  enum class Moment { beginning, middle, end };
  void set_light(Moment moment);
  void sum_local_current();
  void finish_local_current();
  void end_light();
  void check_local_light() const;
  Vec3 spin_potential() const;
  void set_potential(std::span<const double> potential, const Vec3& e);
  void sum_channel(std::int64_t channel);
  void begin_density();
  std::function<void()> while_waiting();
  template <class Action>
  void with_exponential(Action&& action);
  void exponentiate(double step, int terms, bool with_current);
  template <class T>
  void exponentiate(detail::Exponential<T>& series, double step, int terms, bool with_current);
  void finish_density();
  bool ions_arrive() const { return ions && (steps + 1) % ions->every() == 0; }
  void finish_current(const Vec3& a);
  void put_current();
  void sum_up();
  void whole_step(std::span<const double> potential, bool trial = false);
  void add_ions(std::vector<double>& potential, double factor) const;
  void midpoint_step();
  void first_midpoint_step();
  void etrs_step();
  void move_ions_before();
  void move_ions_after();
  void measure();
  Record record(bool with_energy);

  /// Holds the orbitals in the precision of the run as long as it exists, also if the run is refused.
  class Held {
  public:
    Held(Orbitals& orbitals, Precision precision) : orbitals_(orbitals) { orbitals_.convert(precision); }
    ~Held() { orbitals_.convert(Precision::float64); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

  private:
    Orbitals& orbitals_;
  };

  Model& model;
  State& state;
  std::optional<Held> held;
  Field field;
  PropagateOptions options;
  std::variant<std::monostate, detail::Exponential<double>, detail::Exponential<float>> exponential;
  CurrentSum current;
  std::optional<comm::FieldSum> density_sum;  ///< where several processes have this box
  comm::Reduction sums_of_a_step;
  std::optional<KineticSum> kinetic;  ///< for functionals that depend on it
  std::optional<MovingIons> ions;
  OrbitalForces orbital_forces;  ///< at the end of an ion step
  /// At the end of an ion step, until the next one begins: their potential there is needed for energies alone, and is
  /// not part of `v` and H.
  bool ions_arrived = false;
  std::optional<Absorber> absorber;
  CellCurrents* cell_currents = nullptr;           ///< the sum over many propagations, if this is one of them
  std::int64_t cell = 0;                           ///< its number there
  std::optional<InducedField> induced;             ///< if the light answers the current
  std::optional<LocalLight> light;                 ///< if it depends on the place
  std::optional<Moment> light_set;                 ///< whose vector potential is in H
  Vec3 mean_potential{}, mean_potential_before{};  ///< means of A over the cell, after this step and the one before
  /// With light that depends on the place: the current density without A n and projectors, shape (spins, 3, points);
  /// the derivatives of the projectors' energy, shape (spins, atoms); and the whole current density, shape (3, points).
  std::vector<double> orbital_current, current_density;
  std::vector<PhaseMoments> phase_moments;
  Vec3 spin_current_sum{};                    ///< of the whole, on this process
  std::optional<Vec3> current_of_checkpoint;  ///< that drives the induced field in the first step of a continued run

  double limit = 0, dt = 0;
  int order = 4;
  std::int64_t steps = 0;
  bool kicked = false;
  double norm = 0, first_norm = 0, prediction_error = 0;
  Vec3 mean_current{}, spin_current{}, dipole{}, spin_dipole{}, angular_momentum{};
  double moment = 0;
  double density_change = 0;  ///< etrs: integral of |n - predicted n| on this box; sum_up() sums it
  bool current_summed = false;
  bool density_begun = false;             ///< the sum of the density over processes
  std::vector<double> v;                  ///< potential of the present density, without the field
  std::vector<double> driven;             ///< potential of a step with E . r
  std::vector<double> middle;             ///< midpoint: potential in the middle of the step
  std::vector<double> channel_density;    ///< density of the channel in work
  std::vector<double> channel_electrons;  ///< weighted electrons of each channel on the points of this process
  Orbitals half;                          ///< etrs: orbitals in the middle of the step
};

}  // namespace halocline::tddft
