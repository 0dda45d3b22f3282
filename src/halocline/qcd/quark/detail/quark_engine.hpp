// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One correction D e = r by any method of QuarkSolver, for a fixed number of columns.
///
/// The operators of a method are made when the method is first used. They share links and clover blocks with the
/// engines for other numbers of columns where that is possible (QuarkOperators).

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/gauge_field.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
#include "halocline/qcd/multigrid/multigrid_solver.hpp"
#include "halocline/qcd/quark/detail/batch_engine.hpp"
#include "halocline/qcd/quark/detail/deflated_solves.hpp"
#include "halocline/qcd/quark/detail/host_krylov.hpp"
#include "halocline/qcd/quark/detail/level.hpp"
#include "halocline/qcd/quark/quark_solver.hpp"
#include "halocline/qcd/schur/schur.hpp"
#include "halocline/qcd/schwarz/matrix.hpp"
#include "halocline/qcd/schwarz/schwarz_solver.hpp"

namespace halocline::qcd {

template <class T>
struct SolverTypes<DiracOperator<T>> {
  using Operator = const SpinorOperator<T>;
  using Schur = qcd::Schur<T>;
  using Space = SpinorSpace<T>;
  static Space space(const DiracOperator<T>& d, lattice::Subset subset) {
    return {d.layout(), subset, d.columns(), d.points(), d.components()};
  }
};

/// The data that the engines for all numbers of columns share: the operator for one column in double, the operator in
/// float if a method other than Schwarz may iterate in it, the matrix of the Schwarz preconditioner, and the set-up of
/// multigrid, and the low modes for deflation. If "auto" may choose multigrid, a copy of the links is kept until the
/// set-up is made. "auto" has Schwarz on several processes only: it trades messages for work inside a process, and on
/// one core of a 16^4 lattice its solves took 2.4 times as long as those of BiCGStab.
struct QuarkOperators {
  /// @param columns  number of columns for which the automatic domains of Schwarz are chosen; engines for other numbers
  ///                 may use other domains
  /// @throws InvalidArgument  as dirac_setup() does; as Schwarz does, if the parameters name it. Collective: yes.
  /// @param made  a set-up of multigrid that serves; it is used in the place of a new one
  QuarkOperators(const GaugeField& gauge, const Action& action, const SolverParameters& parameters, int columns,
                 std::optional<multigrid::StoredVectors> vectors = {}, std::shared_ptr<const LowModes> modes = {},
                 std::optional<multigrid::Setup> made = {});

  /// Whether "auto" may make the set-up of multigrid, or has made it.
  bool may_use_multigrid() const noexcept { return multigrid || links; }
  /// Makes the set-up of multigrid unless there is one. Returns false if `progress` ended it.
  /// @throws core::Error  as multigrid::Setup does, on every rank
  /// Collective: yes.
  bool make_multigrid(const multigrid::Setup::Progress& progress);
  /// Never makes the set-up from now on. Collective: no.
  void forgo_multigrid() { links.reset(); }
  /// Takes a set-up that was made elsewhere for these links. Collective: no.
  void take_multigrid(multigrid::Setup made, const GaugeField& gauge) {
    multigrid = std::move(made);
    links_of_setup = gauge;
    links.reset();
    ++setup_version;
  }
  /// Makes one more round of inverse iteration, the first time for a set-up. Returns false if there was one already.
  /// @throws core::Error  as multigrid::Setup does, on every rank; the set-up is as before
  /// Collective: yes.
  bool renew_multigrid();

  Action action;
  SolverParameters parameters;
  std::unique_ptr<DiracOperator<double>> precise;
  std::unique_ptr<DiracOperator<float>> coarse;
  std::shared_ptr<const LowModes> low_modes;          ///< null without
  std::shared_ptr<const LowModeDeflation> deflation;  ///< by the low modes; null without
  std::optional<schwarz::Matrix> schwarz;
  std::optional<multigrid::Setup> multigrid;
  std::optional<GaugeField> links;                         ///< for the set-up, until it is made
  std::optional<GaugeField> links_of_setup;                ///< for one more round of it, until that is made
  int setup_version = 0;                                   ///< of the set-up; another one has another number
  std::optional<multigrid::StoredVectors> stored_vectors;  ///< that the set-up is made of
  std::string refusal;            ///< why Schwarz cannot be used, if it is only a candidate of "auto"; else empty
  std::string multigrid_refusal;  ///< the same of multigrid
};

class QuarkEngine {
public:
  /// The methods are "schwarz", "multigrid", and those of krylov.hpp and deflated_solves.hpp on the even-odd Schur
  /// complement or on D, as the parameters say.
  /// @param operators  referred to; must outlive the engine
  /// Collective: yes.
  QuarkEngine(QuarkOperators& operators, int columns);
  ~QuarkEngine();

  /// Right-hand sides.
  int columns() const noexcept { return space_.columns(); }
  const SpinorSpace<double>& space() const noexcept { return space_; }
  const DiracOperator<double>& d() const noexcept { return *d_; }
  QuarkOperators& operators() const noexcept { return *operators_; }
  int restart_length() const noexcept { return operators_->parameters.restart_length; }

  /// e = D^-1 r, from e = 0.
  /// @param tolerance  of each column, on |r - D e| / |r|; above 0
  /// @param caution    at most 1; multiplies the tolerances of the inner system, whose residual only estimates that of
  ///                   D. The caller lowers it after a correction that missed its tolerance.
  /// @param limits     iteration limits, and progress, which is called with the residual relative to |r|
  /// The result describes the solve of the inner system; if the method failed, it gives the reason. Collective: yes.
  solve::SolveResult correct(const std::string& method, SpinorField<double>& e, const SpinorField<double>& r,
                             std::span<const double> tolerance, double caution, const solve::SolveOptions& limits);

  /// The method in the words of a report: "even-odd bicgstab, mixed precision".
  std::string describe(const std::string& method) const;

  /// Makes the operators of a method, unless they exist. Collective: yes.
  void prepare(const std::string& method);
  /// BatchEngine::renew. Collective: yes.
  BatchEngine::Renewal renew(const std::string& method);
  /// Frees the solvers of methods that were tried and not chosen. prepare() makes them again. Collective: yes.
  void keep_only(const std::string& method);

private:
  QuarkOperators* operators_;
  std::unique_ptr<DiracOperator<double>> d_;
  SpinorSpace<double> space_;
  std::optional<Level<DiracOperator<double>>> precise_;
  std::optional<Level<DiracOperator<float>>> coarse_;
  std::unique_ptr<schwarz::SchwarzSolver> schwarz_;
  std::unique_ptr<multigrid::MultigridSolver> multigrid_;
  int setup_version_ = 0;  ///< of the set-up that multigrid_ was made with
};

}  // namespace halocline::qcd
