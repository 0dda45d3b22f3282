// SPDX-License-Identifier: Apache-2.0
#include "halocline/qcd/multigrid/multigrid_solver.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>

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

/// v = gamma5 v: the spins 2 and 3 change sign.
void multiply_gamma5(Multigrid::Field& v) {
  const int lanes = v.layout().lanes();
  const std::int64_t spinors = v.size() / v.column_stride();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < spinors; ++i)
    for (int colour = 0; colour < 3; ++colour) {
      float* lower = v.data() + i * v.column_stride() + (8 * colour + 4) * lanes;
      for (int n = 0; n < 4 * lanes; ++n) lower[n] = -lower[n];
    }
}

/// The inner system of schwarz/correction_problem.hpp: D' of the cycle, between two gamma5 for the adjoint system.
struct InnerSystem {
  Multigrid* multigrid;
  bool adjoint;
  void apply(Multigrid::Field& out, const Multigrid::Field& in) { multigrid->apply(out, in); }
  void prepare(Multigrid::Field& r) {
    multigrid->smoother().multiply_inverse_clover(r);
    if (adjoint) multiply_gamma5(r);
  }
  const Multigrid::Field& correction(Multigrid::Field& work, const Multigrid::Field& e) {
    if (!adjoint) return e;
    work = e;
    multiply_gamma5(work);
    return work;
  }
};

/// D^dagger as an operator.
class Adjoint final : public SpinorOperator<double> {
public:
  explicit Adjoint(const SpinorOperator<double>& d) : d_(&d) {}
  void apply(Field& out, const Field& in) const override { d_->apply_dagger(out, in); }
  void apply_dagger(Field& out, const Field& in) const override { d_->apply(out, in); }

private:
  const SpinorOperator<double>* d_;
};

}  // namespace

struct MultigridSolver::State {
  State(const DiracOperator<double>& d_given, const Setup& setup_given, int columns)
      : d(&d_given),
        setup(setup_given),
        multigrid(setup, columns),
        space(multigrid.smoother().layout(), columns),
        outer_space(d->layout(), lattice::Subset::full, columns),
        change(d->layout(), multigrid.smoother().layout()) {}

  void require(const SpinorField<double>& field) const {
    if (field.layout_ptr() != d->layout() || field.subset() != lattice::Subset::full ||
        field.columns() != space.columns())
      throw core::InvalidArgument(fmt::format(
          "the multigrid solver needs full fields of {} columns in the layout of its operator", space.columns()));
  }

  solve::SolveResult run(Multigrid& with, const SpinorOperator<double>& a, bool adjoint, SpinorField<double>& x,
                         const SpinorField<double>& b, solve::SolveOptions options) {
    require(x);
    require(b);
    options.replacement = replacement;
    schwarz::CorrectionProblem problem(space, InnerSystem{&with, adjoint}, change, outer_space, a, x, b, options);
    auto e = space.create();
    Cycle cycle{&with};
    auto result = solve::fgmres_on(problem, e, options, cycle);
    result.residual = problem.residuals();
    return result;
  }

  const DiracOperator<double>* d;
  Setup setup;
  Multigrid multigrid;
  std::optional<Multigrid> backwards;  ///< of D(-mu), where mu is not zero
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
                                          const solve::SolveOptions& options) {
  return state_->run(state_->multigrid, *state_->d, false, x, b, options);
}

solve::SolveResult MultigridSolver::solve_adjoint(SpinorField<double>& x, const SpinorField<double>& b,
                                                  const solve::SolveOptions& options) {
  auto& self = *state_;
  if (self.setup.mu() != 0 && !self.backwards) self.backwards.emplace(self.setup.adjoint(), columns());
  return self.run(self.backwards ? *self.backwards : self.multigrid, Adjoint(*self.d), true, x, b, options);
}

}  // namespace halocline::qcd::multigrid
