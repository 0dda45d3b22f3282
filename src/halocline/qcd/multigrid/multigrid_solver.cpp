// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/multigrid_solver.hpp"

#include <fmt/format.h>

#include <array>

#include "halocline/core/error.hpp"
#include "halocline/qcd/schwarz/correction_problem.hpp"
#include "halocline/solve/fgmres.hpp"

namespace halocline::qcd::multigrid {
namespace {

/// A cycle of FGMRES ends when the residual fell by this factor: late enough to be rare, early enough for float.
constexpr double replacement = 1e-4;

/// The cycle as a preconditioner.
struct Cycle {
  Multigrid* multigrid;
  void apply(Multigrid::Field& out, const Multigrid::Field& in) { multigrid->precondition(out, in); }
};

}  // namespace

struct MultigridSolver::State {
  State(const DiracOperator<double>& d_given, const Setup& setup, int columns)
      : d(&d_given),
        multigrid(setup, columns),
        space(multigrid.smoother().layout(), columns),
        outer_space(d->layout(), lattice::Subset::full, columns),
        change(d->layout(), multigrid.smoother().layout()) {}

  const DiracOperator<double>* d;
  Multigrid multigrid;
  schwarz::DomainSpace space;
  SpinorSpace<double> outer_space;
  schwarz::LayoutChange change;
};

MultigridSolver::MultigridSolver(const DiracOperator<double>& d, const Setup& setup, int columns)
    : state_(std::make_unique<State>(d, setup, columns)) {}
MultigridSolver::~MultigridSolver() = default;
MultigridSolver::MultigridSolver(MultigridSolver&&) noexcept = default;

int MultigridSolver::columns() const noexcept { return state_->space.columns(); }
const Multigrid& MultigridSolver::cycle() const noexcept { return state_->multigrid; }

solve::SolveResult MultigridSolver::solve(SpinorField<double>& x, const SpinorField<double>& b,
                                          const solve::SolveOptions& given) {
  auto& self = *state_;
  for (const SpinorField<double>* field : {static_cast<const SpinorField<double>*>(&x), &b})
    if (field->layout_ptr() != self.d->layout() || field->subset() != lattice::Subset::full ||
        field->columns() != self.space.columns())
      throw core::InvalidArgument(fmt::format(
          "the multigrid solver needs full fields of {} columns in the layout of its operator", self.space.columns()));
  solve::SolveOptions options = given;
  options.replacement = replacement;
  schwarz::CorrectionProblem problem(self.space, self.multigrid.smoother(), self.change, self.outer_space, *self.d, x,
                                     b, options, false);
  auto e = self.space.create();
  Cycle cycle{&self.multigrid};
  auto result = solve::fgmres_on(problem, e, options, cycle);
  result.residual = problem.residuals();
  return result;
}

}  // namespace halocline::qcd::multigrid
