// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file
/// One correction D e = r by any method of QuarkSolver, for a fixed number of columns.
///
/// The operators of the methods are made when they are first asked for, and share links and clover blocks with those of
/// other numbers of columns where they can (QuarkOperators).

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "halocline/qcd/dirac/operator.hpp"
#include "halocline/qcd/field/spinor_space.hpp"
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
  static const auto& place(const DiracOperator<T>& d) { return d.layout(); }
};

/// What engines of all numbers of columns share: the operator for one column in double and, where a method with its
/// iteration in float on the even-odd tiles may be asked for, in float; and the matrix of the Schwarz preconditioner.
/// The links that they are made from are not kept.
struct QuarkOperators {
  /// @param columns  number that the automatic domains of Schwarz are chosen for; others may have others
  /// @throws InvalidArgument  as dirac_setup() and, where it must be used, Schwarz do. Collective: yes.
  QuarkOperators(const GaugeField& gauge, const Action& action, const SolverParameters& parameters, int columns);

  Action action;
  SolverParameters parameters;
  std::unique_ptr<DiracOperator<double>> precise;
  std::unique_ptr<DiracOperator<float>> coarse;
  std::optional<schwarz::Matrix> schwarz;
  std::string refusal;  ///< why Schwarz does not fit, where it is only one of the candidates
};

class QuarkEngine {
public:
  /// The methods: "schwarz", and those of krylov.hpp on the even-odd Schur complement or on D, as the parameters say.
  /// @param operators  referred to
  /// Collective: yes.
  QuarkEngine(const QuarkOperators& operators, int columns);
  ~QuarkEngine();

  int columns() const noexcept { return space_.columns(); }
  const SpinorSpace<double>& space() const noexcept { return space_; }
  const DiracOperator<double>& d() const noexcept { return *d_; }
  int restart_length() const noexcept { return operators_->parameters.restart_length; }

  /// e = D^-1 r, from e = 0.
  /// @param tolerance  of each column, on |r - D e| / |r|; above 0
  /// @param caution    at most 1, smaller where a correction before missed what it promised: asks the inner system,
  ///                   whose residual only estimates that of D, for that much more
  /// @param limits     of iterations, and progress, which hears a residual relative to |r|
  /// The result is about the inner system; a method that fails says why. Collective: yes.
  solve::SolveResult correct(const std::string& method, SpinorField<double>& e, const SpinorField<double>& r,
                             std::span<const double> tolerance, double caution, const solve::SolveOptions& limits);

  /// The words of a report: "even-odd bicgstab, mixed precision".
  std::string describe(const std::string& method) const;

  /// Makes what a method needs. Collective: yes.
  void prepare(const std::string& method);
  /// Gives the memory back that Schwarz alone needs, until it is prepared again. Collective: yes.
  void forget_schwarz() { schwarz_.reset(); }

private:
  const QuarkOperators* operators_;
  std::unique_ptr<DiracOperator<double>> d_;
  SpinorSpace<double> space_;
  std::optional<Level<DiracOperator<double>>> precise_;
  std::optional<Level<DiracOperator<float>>> coarse_;
  std::unique_ptr<schwarz::SchwarzSolver> schwarz_;
};

}  // namespace halocline::qcd
